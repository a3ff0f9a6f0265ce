// Shows an answer while it is written. Without this script the form is answered by the server.
"use strict";

const form = document.getElementById("ask");
const status = document.getElementById("status");
const answer = document.getElementById("answer");

const SVG = new Set(["svg", "rect", "line"]);
const TAGS = new Set(
  "section h2 div p ol ul li span a strong em code pre details summary blockquote br hr table thead tbody tr th td"
    .split(" "),
);
const ATTRIBUTES = new Set(
  "class id role tabindex start aria-label aria-labelledby aria-hidden viewBox width height rx x1 x2 y1 y2"
    .split(" "),
);

let asking = null;

/** The DOM of a node that the server describes; a text is only ever a text. */
function build(node) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, attributes, children] = node;
  if (!TAGS.has(tag) && !SVG.has(tag)) return document.createTextNode("");
  const made = SVG.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (ATTRIBUTES.has(name) || (name === "href" && /^https?:\/\//i.test(value))) {
      made.setAttribute(name, value);
    }
  }
  made.append(...children.map(build));
  return made;
}

function show(nodes) {
  answer.replaceChildren(...nodes.map(build));
}

function fail(error) {
  status.textContent = "";
  const heading = ["h2", {}, ["The question could not be answered"]];
  show([["section", { class: "notice failure", role: "alert" }, [heading, ["p", {}, [`Why: ${error}`]]]]]);
}

/** The events of a reply, each with its name and its data. */
async function* events(reply) {
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const found = /^event: (\w+)\ndata: (.*)$/.exec(block);
      if (found) yield [found[1], JSON.parse(found[2])];
    }
  }
}

/** Why a reply with an error status came. */
async function reason(reply) {
  try {
    return (await reply.json()).error;
  } catch {
    return `The server answered with status ${reply.status}.`;
  }
}

/** Where the text grows while it is written. */
function writing() {
  show([["section", { class: "answer" }, [["h2", {}, ["Answer"]], ["div", { class: "text writing" }, []]]]]);
  return answer.querySelector(".writing");
}

async function follow(reply) {
  let text = null;
  for await (const [name, data] of events(reply)) {
    if (name === "text") {
      if (text === null) {
        text = writing();
        status.textContent = "Writing the answer…";
      }
      text.append(data);
    } else if (name === "view") {
      show(data.nodes);
      status.textContent = data.status;
      return;
    } else if (name === "error") {
      fail(data.error);
      return;
    }
  }
  fail("The connection broke off before the answer was complete: ask again.");
}

async function ask(question, site) {
  if (asking) asking.abort();
  const mine = (asking = new AbortController());
  document.body.classList.add("busy");
  answer.setAttribute("aria-busy", "true");
  answer.replaceChildren();
  status.textContent = "Searching…";
  try {
    const query = new URLSearchParams({ question, site });
    const reply = await fetch(`stream?${query}`, { signal: mine.signal });
    if (reply.ok) await follow(reply);
    else fail(await reason(reply));
  } catch (error) {
    if (mine.signal.aborted) return; // a later question took its place
    fail("The server does not answer: is it still running?");
  } finally {
    if (asking === mine) {
      asking = null;
      document.body.classList.remove("busy");
      answer.removeAttribute("aria-busy");
    }
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const fields = new FormData(form);
  const question = fields.get("q").trim();
  const site = fields.get("site") ?? "";
  if (!question) return;
  const query = new URLSearchParams(site ? { q: question, site } : { q: question });
  history.pushState(null, "", `?${query}`);
  document.title = `${question} · ${document.querySelector("h1").textContent}`;
  ask(question, site);
});

// Each address is a page of its own, which the server writes.
window.addEventListener("popstate", () => location.reload());

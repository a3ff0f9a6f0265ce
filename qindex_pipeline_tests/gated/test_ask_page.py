"""The page of `qindex serve`, driven in headless Chromium: asked, read, and looked at.

The screenshots go to the folder that QINDEX_SCREENSHOTS names, else to the test's own.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from qindex_pipeline_tests.gated.chromium import CHROMIUM, NEEDS_CHROMIUM
from qindex_pipeline_tests.serving.lantern import (
    BEACON,
    FOG,
    FOREIGN,
    HOSTILE_TITLE,
    OIL,
    WICK,
    Lantern,
    Section,
    lantern,
)

pytestmark = NEEDS_CHROMIUM

# Root in a container has no user namespace to put the sandbox in.
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PAGE_MILLISECONDS = 20_000

BOTH = "How is the wick trimmed and the oil lamp filled?"
"""Two sections answer it together."""

ANSWER = """The wick is trimmed **every evening**, before the lamp is lit [1]:

1. Turn the lamp down and let it cool.
2. Cut the charred edge straight, with `scissors`.

```
lantern trim --wick 3mm --before sunset --log /var/log/lantern/wick-and-oil.log
```

Fill the oil to the brim afterwards [2]."""

LOOKS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "light"},
    "phone": {"viewport": {"width": 360, "height": 740}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "dark"},
    "phone-dark": {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"},
}

NOTE_WHAT_IS_SHOWN = """
window.shown = [];
addEventListener("DOMContentLoaded", () => {
  const note = () => shown.push([
    document.getElementById("status").textContent,
    document.getElementById("answer").textContent,
  ]);
  new MutationObserver(note).observe(
    document.body, {childList: true, subtree: true, characterData: true},
  );
});
"""

TEXTS = """
() => [...document.querySelectorAll("body *")]
  .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
  .filter((e) => e.checkVisibility())
  .map((e) => {
    let behind = e;
    while (behind && getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") {
      behind = behind.parentElement;
    }
    return [e.textContent.slice(0, 40), getComputedStyle(e).color,
            getComputedStyle(behind).backgroundColor];
  })
"""

FOCUSED = """
() => {
  const e = document.activeElement;
  const outline = getComputedStyle(e);
  return [e.id || e.className || e.tagName.toLowerCase(), e.matches(":focus-visible"),
          outline.outlineStyle !== "none" && parseFloat(outline.outlineWidth) >= 2];
}
"""


@contextmanager
def page_server(docs: Lantern) -> Generator[tuple[str, subprocess.Popen[str]]]:
    """`qindex serve` as a process, and its address."""
    command = [sys.executable, "-m", "qindex_pipeline", "serve", "--port", "0"]
    with subprocess.Popen(
        command, env=docs.environment, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            yield process.stderr.readline().split()[-3], process
        finally:
            process.kill()


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lantern]:
    with lantern(tmp_path_factory.mktemp("lantern")) as made:
        made.publish("docs", WICK, OIL, BEACON)
        made.publish("fog", FOG)
        yield made


@pytest.fixture
def docs(published: Lantern) -> Lantern:
    published.ollama.heal()
    return published


@pytest.fixture(scope="module")
def url(published: Lantern) -> Iterator[str]:
    with page_server(published) as (address, _):
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def screenshots(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("QINDEX_SCREENSHOTS") or tmp_path / "screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def opened(browser: Browser, url: str, look: str = "desktop", **options: Any) -> Generator[Page]:
    """The page, of which no request leaves the server and nothing is reported as an error."""
    context = browser.new_context(**LOOKS[look], **options)
    page = context.new_page()
    page.set_default_timeout(PAGE_MILLISECONDS)
    expect.set_options(timeout=PAGE_MILLISECONDS)
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda message: troubles.append(message.text))
    page.on("request", lambda sent: None if sent.url.startswith(url) else troubles.append(sent.url))
    page.add_init_script(NOTE_WHAT_IS_SHOWN)
    page.goto(url)
    try:
        yield page
        assert troubles == []
    finally:
        context.close()


def ask(page: Page, question: str) -> None:
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    expect(page.locator("body:not(.busy) #answer section").first).to_be_visible()


def luminance(color: str) -> float:
    """Relative luminance of `rgb(…)`, as WCAG 2 defines it."""
    parts = [int(part) / 255 for part in color[color.index("(") + 1 : -1].split(",")[:3]]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def assert_is_readable(page: Page) -> None:
    """No text of too little contrast, and nothing wider than the window."""
    for text, color, behind in page.evaluate(TEXTS):
        assert contrast(color, behind) >= 4.5, (text, color, behind)
    wide, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= window


@pytest.mark.parametrize("look", LOOKS)
def test_a_question_is_answered_with_sources_and_another_refused(
    browser: Browser, url: str, docs: Lantern, look: str, screenshots: Path
) -> None:
    with opened(browser, url, look) as page:
        assert_is_readable(page)
        page.screenshot(path=screenshots / f"ask-{look}-start.png")

        docs.ollama.say(ANSWER)
        ask(page, BOTH)
        expect(page.locator("#status")).to_contain_text("Answered from 2 sources in ")
        cites = page.locator(".text a.cite")
        expect(cites).to_have_text(["[1]", "[2]"])
        source = page.locator(".sources a").first
        expect(source).to_contain_text("Lighthouse guide > ")
        assert cites.first.get_attribute("href") == source.get_attribute("href")
        expect(page.locator(".found .matched")).to_contain_text([f"“{WICK.question}”"])
        assert_is_readable(page)
        page.screenshot(path=screenshots / f"ask-{look}-answer.png", full_page=True)

        ask(page, FOREIGN)
        expect(page.locator(".refusal")).to_contain_text("I don't have enough information")
        expect(page.locator(".confidence").first).to_contain_text("✕ below 0.30")
        assert_is_readable(page)
        page.screenshot(path=screenshots / f"ask-{look}-refused.png", full_page=True)


def test_the_answer_grows_while_it_is_written(browser: Browser, url: str, docs: Lantern) -> None:
    with opened(browser, url) as page:
        docs.ollama.say(ANSWER)
        ask(page, BOTH)
        shown = page.evaluate("shown")
        states = list(dict.fromkeys(status for status, _ in shown))
        assert states[:2] == ["Searching…", "Writing the answer…"]
        assert states[2].startswith("Answered from 2 sources")
        written = [text for status, text in shown if status == "Writing the answer…"]
        assert len(set(written)) > 5
        assert all(len(one) <= len(next_) for one, next_ in pairwise(written))


def test_the_page_says_the_same_without_a_script(browser: Browser, url: str, docs: Lantern) -> None:
    said: list[str] = []
    for enabled in (True, False):
        docs.ollama.say(ANSWER)
        with opened(browser, url, java_script_enabled=enabled) as page:
            ask(page, BOTH)
            assert page.url.startswith(f"{url}?q=How+is+the+wick")
            said.append(page.locator("#answer").inner_html())
    assert said[0] == said[1]


def test_the_keyboard_reaches_everything_in_order_and_focus_shows(
    browser: Browser, url: str, docs: Lantern
) -> None:
    with opened(browser, url) as page:
        docs.ollama.say(ANSWER)
        page.keyboard.press("Tab")
        page.keyboard.type(BOTH)
        page.keyboard.press("Enter")
        expect(page.locator(".sources")).to_be_visible()
        reached: list[str] = [page.evaluate(FOCUSED)[0]]
        for _ in range(8):
            page.keyboard.press("Tab")
            name, visible, outlined = page.evaluate(FOCUSED)
            assert visible, name
            assert outlined, name
            reached.append(name)
        assert reached == ["question", "site", "button", "cite", "pre", "cite", "a", "a", "a"]
        page.locator("summary").first.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".passage").first).to_be_visible()


def test_a_screen_reader_finds_names_and_roles(browser: Browser, url: str, docs: Lantern) -> None:
    with opened(browser, url) as page:
        docs.ollama.say(ANSWER)
        ask(page, BOTH)
        tree = page.locator("body").aria_snapshot()
        for expected in (
            'heading "Ask the documentation" [level=1]',
            'textbox "Your question"',
            'combobox "Site"',
            'button "Ask"',
            "status: Answered from 2 sources",
            'region "Answer"',
            'heading "Answer" [level=2]',
            'link "Source 1: Lighthouse guide > ',
            'region "Sources"',
            'region "What was found"',
        ):
            assert expected in tree
        assert page.locator("html").get_attribute("lang") == "en"
        assert page.title() == f"{BOTH} · Ask the documentation"


def test_a_hostile_page_stays_text(browser: Browser, url: str, docs: Lantern) -> None:
    docs.ollama.say(f"{BEACON.text} {HOSTILE_TITLE} [1]")
    with opened(browser, url) as page:
        page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        ask(page, BEACON.question)
        expect(page.locator(".text")).to_contain_text("<script>alert('owned')</script>")
        expect(page.locator(".sources a")).to_have_text(f"{HOSTILE_TITLE} > Beacon")
        assert page.locator("#answer script, #answer img").count() == 0


def test_only_the_chosen_site_is_asked(browser: Browser, url: str, docs: Lantern) -> None:
    with opened(browser, url) as page:
        page.get_by_label("Site").select_option("fog")
        ask(page, FOG.question)
        expect(page.locator(".found li")).to_have_count(1)
        assert page.url.endswith("&site=fog")


def test_questions_are_answered_while_the_index_is_published_anew(
    browser: Browser, url: str, docs: Lantern
) -> None:
    over = threading.Event()

    def publish() -> int:
        nights = 0
        while not over.is_set():
            nights += 1
            calm = Section("Night", f"Night number {nights} was calm.", "Was the night calm?")
            docs.publish("docs", WICK, OIL, BEACON, calm)
        return nights

    with ThreadPoolExecutor(1) as pool, opened(browser, url) as page:
        publishing = pool.submit(publish)
        try:
            for _ in range(10):
                ask(page, WICK.question)
                expect(page.locator(".text")).to_contain_text(WICK.text)
        finally:
            over.set()
        assert publishing.result() > 1


def test_a_provider_that_fails_and_a_server_that_is_gone_are_told_apart(
    browser: Browser, docs: Lantern, screenshots: Path
) -> None:
    with page_server(docs) as (address, process):
        docs.ollama.fail_next(404, path="chat")
        with opened(browser, address) as page:
            ask(page, WICK.question)
            expect(page.get_by_role("alert")).to_contain_text("`ollama pull qwen2.5:14b`")
            page.screenshot(path=screenshots / "ask-failure.png")
        context = browser.new_context()
        page = context.new_page()
        page.goto(address)
        process.kill()
        process.wait()
        ask(page, WICK.question)
        expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
        expect(page.get_by_label("Your question")).to_have_value(WICK.question)
        context.close()


def test_less_motion_is_shown_to_whoever_wants_less(browser: Browser, url: str) -> None:
    moving = "getComputedStyle(document.getElementById('status'), '::before').animationName"
    for wish, expected in (("no-preference", "pulse"), ("reduce", "none")):
        with opened(browser, url, reduced_motion=wish) as page:
            page.evaluate("document.body.classList.add('busy')")
            assert page.evaluate(moving) == expected

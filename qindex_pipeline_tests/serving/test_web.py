"""The page to ask on and its endpoints, in process, as browsers and programs call them."""

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from qindex_pipeline.retrieval.result import REFUSAL
from qindex_pipeline.serving.asker import MAX_CHARACTERS, Asker
from qindex_pipeline.serving.web import web_app
from qindex_pipeline_tests.serving.lantern import (
    BEACON,
    FOG,
    FOREIGN,
    HOSTILE_TITLE,
    WICK,
    Lantern,
    lantern,
)

HERE = "http://127.0.0.1:8765"


@pytest.fixture(scope="module")
def opened(published: Lantern) -> Iterator[TestClient]:
    app = web_app(Asker.of(published.settings, None))
    with TestClient(app, base_url=HERE) as client:
        yield client


@pytest.fixture
def client(published: Lantern, opened: TestClient) -> TestClient:
    published.ollama.heal()
    return opened


def events(text: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for block in text.strip().split("\n\n"):
        name, data = block.split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_ask_gives_the_fields_of_the_json_output(client: TestClient) -> None:
    reply = client.get("/ask", params={"question": WICK.question, "site": "docs", "top_k": "2"})
    assert reply.status_code == 200
    answer = reply.json()
    assert answer["answer"] == f"{WICK.text} [1]"
    assert answer["citations"][0]["url"] == "http://docs.example.com/guide#wick"
    assert [result["rank"] for result in answer["results"]] == [1, 2]
    assert (answer["site"], answer["refused"]) == ("docs", False)


def test_a_question_that_the_docs_do_not_answer_is_refused_with_status_200(
    client: TestClient,
) -> None:
    reply = client.get("/ask", params={"question": FOREIGN})
    assert (reply.status_code, reply.json()["answer"]) == (200, REFUSAL)
    assert reply.json()["refused"] is True


WRONG_CALLS = {
    "no question": ({}, "the question is empty"),
    "an empty question": ({"question": " \n"}, "the question is empty"),
    "a long question": ({"question": "x" * (MAX_CHARACTERS + 1)}, "2,001 characters"),
    "an unknown site": ({"question": "x", "site": "other"}, "there is docs, fog"),
    "no result": ({"question": "x", "top_k": "0"}, "from 1 to 50"),
    "a top_k that is no number": ({"question": "x", "top_k": "٣"}, "give a number"),
}


@pytest.mark.parametrize("path", ["/ask", "/stream"])
@pytest.mark.parametrize("name", WRONG_CALLS)
def test_a_wrong_call_is_status_400_and_says_what_is_wrong(
    client: TestClient, name: str, path: str
) -> None:
    params, message = WRONG_CALLS[name]
    reply = client.get(path, params=params)
    assert reply.status_code == 400
    assert message in reply.json()["error"]


def test_a_stream_gives_the_text_in_pieces_then_the_answer_then_the_page_s_elements(
    client: TestClient,
) -> None:
    reply = client.get("/stream", params={"question": WICK.question})
    assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
    found = events(reply.text)
    names = [name for name, _ in found]
    assert names == ["text"] * (len(found) - 2) + ["answer", "view"]
    assert len(names) > 5
    pieces = "".join(data for name, data in found if name == "text")
    answer = found[-2][1]
    assert pieces == answer["answer"] == f"{WICK.text} [1]"
    again = client.get("/ask", params={"question": WICK.question}).json()
    assert answer | {"seconds": 0} == again | {"seconds": 0}
    assert found[-1][1]["status"].startswith("Answered from 1 source in ")


def test_a_provider_that_fails_is_named_with_a_status_of_its_own(
    published: Lantern, client: TestClient
) -> None:
    for failure, status in ((500, 503), (404, 502)):
        published.ollama.fail_next(failure, path="chat")
        reply = client.get("/ask", params={"question": WICK.question})
        assert reply.status_code == status
        assert reply.json()["error"].startswith("ollama:qwen2.5:14b ")
    assert client.get("/ask", params={"question": WICK.question}).status_code == 200


def test_a_provider_that_fails_behind_the_search_ends_a_stream_with_an_error(
    published: Lantern, client: TestClient
) -> None:
    published.ollama.fail_next(500, path="chat")
    (event,) = events(client.get("/stream", params={"question": WICK.question}).text)
    assert event[0] == "error"
    assert event[1]["error"].startswith("ollama:qwen2.5:14b answered HTTP 500")


def test_an_answer_that_breaks_off_ends_its_stream_with_an_error(
    published: Lantern, client: TestClient
) -> None:
    published.ollama.break_after = 4
    try:
        found = events(client.get("/stream", params={"question": WICK.question}).text)
    finally:
        published.ollama.break_after = None
    assert found[0][0] == "text"
    assert found[-1][0] == "error"
    assert "broke off in the middle of its answer" in found[-1][1]["error"]


def test_sites_and_health_say_what_can_be_asked(client: TestClient) -> None:
    assert client.get("/sites").json() == {"sites": ["docs", "fog"]}
    health = client.get("/health")
    assert health.status_code == 200
    assert health.json() == {"status": "ok", "collection": "lantern", "sites": ["docs", "fog"]}


def test_a_server_of_one_site_asks_that_site_alone(published: Lantern) -> None:
    with TestClient(web_app(Asker.of(published.settings, "fog")), base_url=HERE) as client:
        assert client.get("/sites").json() == {"sites": ["fog"]}
        answer = client.get("/ask", params={"question": FOG.question}).json()
        assert {result["site"] for result in answer["results"]} == {"fog"}
        other = client.get("/ask", params={"question": WICK.question, "site": "docs"})
        assert (other.status_code, "there is fog" in other.json()["error"]) == (400, True)
        assert "<select" not in client.get("/").text


def test_without_an_index_all_say_so_until_one_is_published(tmp_path: Path) -> None:
    with (
        lantern(tmp_path) as empty,
        TestClient(web_app(Asker.of(empty.settings, None)), base_url=HERE) as client,
    ):
        for path in ("/ask?question=x", "/stream?question=x", "/sites", "/health"):
            reply = client.get(path)
            assert (reply.status_code, "no index" in reply.json()["error"]) == (503, True), path
        page = client.get("/")
        assert page.status_code == 503
        assert "There is no index to ask yet." in page.text
        empty.publish("docs", WICK)
        assert client.get("/health").status_code == 200
        assert client.get("/ask", params={"question": WICK.question}).status_code == 200


PATHS = ("/", "/?q=x", "/ask.css", "/ask.js", "/ask?question=", "/nothing", "/health")


@pytest.mark.parametrize("path", PATHS)
def test_every_reply_allows_only_what_is_the_page_s_own(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] in {"no-store", "no-cache"}


def test_another_host_s_name_is_turned_away_on_loopback(
    published: Lantern, client: TestClient
) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", ""):
        assert client.get("/health", headers={"Host": host}).status_code == 400
    for host in ("localhost:8765", "127.0.0.1", "[::1]:8765"):
        assert client.get("/health", headers={"Host": host}).status_code == 200
    app = web_app(Asker.of(published.settings, None), only_loopback=False)
    with TestClient(app, base_url=HERE) as behind_a_proxy:
        reply = behind_a_proxy.get("/health", headers={"Host": "ask.example"})
        assert reply.status_code == 200


def test_another_site_s_page_may_link_here_but_not_ask(client: TestClient) -> None:
    asked = {"question": WICK.question}
    for site in ("cross-site", "same-site"):
        reply = client.get("/ask", params=asked, headers={"Sec-Fetch-Site": site})
        assert reply.status_code == 403
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
    assert client.get("/", params={"q": WICK.question}, headers=link).status_code == 200
    own = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "empty"}
    assert client.get("/ask", params=asked, headers=own).status_code == 200


class Parsed(HTMLParser):
    """The elements of a page and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def test_the_page_answers_without_a_script(client: TestClient) -> None:
    page = Parsed(client.get("/", params={"q": WICK.question, "site": "docs"}).text)
    assert f"{WICK.text} [1]" in page.text
    assert "Lighthouse guide > Wick" in page.text
    assert f"“{WICK.question}”" in page.text
    assert "✓ reaches 0.30" in page.text
    assert "✕ below 0.30" in page.text
    assert {"href": "http://docs.example.com/guide#wick", "class": "cite"}.items() <= (
        page.all("a")[0].items()
    )
    (field,) = page.all("input")
    assert field["value"] == WICK.question
    chosen = [option["value"] for option in page.all("option") if "selected" in option]
    assert chosen == ["docs"]


def test_the_page_shows_a_refusal_and_why(client: TestClient) -> None:
    page = Parsed(client.get("/", params={"q": FOREIGN}).text)
    assert f"{REFUSAL}." in page.text
    assert "the threshold is 0.30" in page.text


def test_the_page_says_what_went_wrong_and_keeps_the_question(
    published: Lantern, client: TestClient
) -> None:
    published.ollama.fail_next(404, path="chat")
    reply = client.get("/", params={"q": WICK.question})
    assert reply.status_code == 502
    page = Parsed(reply.text)
    assert "ollama pull" in page.text
    assert [item["role"] for item in page.all("section")] == ["alert"]
    assert page.all("input")[0]["value"] == WICK.question


@pytest.mark.parametrize("question", [BEACON.question, '"><script>alert(2)</script>'])
def test_what_a_page_or_a_user_says_never_becomes_markup(client: TestClient, question: str) -> None:
    page = Parsed(client.get("/", params={"q": question}).text)
    assert page.all("script") == [{"src": "ask.js", "defer": None}]
    assert page.all("img") == []
    assert not [name for _, values in page.elements for name in values if name.startswith("on")]
    assert question in page.all("input")[0].values()
    if question == BEACON.question:
        assert BEACON.text in page.text
        assert HOSTILE_TITLE in page.text

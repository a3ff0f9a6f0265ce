"""What has gone wrong between a crawl and its servers: statuses, retries, limits, time-outs."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from qindex_pipeline.crawl import Crawled, Page, crawl
from qindex_pipeline.sites import Site
from qindex_pipeline_tests.crawl.background import Endless, said, talking_beside, wound_pace
from qindex_pipeline_tests.crawl.hostile import (
    Asked,
    Reply,
    conditional,
    crawled,
    outcomes,
    page,
    redirect,
    serving,
    whole_crawl,
)
from qindex_pipeline_tests.crawl.hostile_site import after, drip, hang_up, hush
from qindex_pipeline_tests.crawl.sockets import Answer, Server, forget_proxies, reply


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_proxies(monkeypatch)


def talked(answers: dict[str, Answer], **options: object) -> tuple[dict[str, Page], Server]:
    """Crawl a server that answers these bytes; rows by path, and the server."""
    with talking_beside(answers) as server:
        values = {"key": "hostile", "start_url": server.base + "/"} | options
        pages = crawl(Site.model_validate(values)).settled.pages
    return {row.url.removeprefix(server.base): row for row in pages}, server


def start(*links: str) -> bytes:
    return said(page("start", *links))


def good(text: str, *links: str) -> bytes:
    return said(page(text, *links))


def stored(pages: dict[str, Page]) -> list[str]:
    return [path for path, row in pages.items() if row.markdown is not None]


ERRORS = {
    404: "http_404", 410: "http_410", 403: "http_403", 500: "http_5xx", 429: "http_429",
}  # fmt: skip


def test_an_error_page_is_recorded_with_its_status_and_never_stored() -> None:
    error = page("Something went wrong here, and this is a long friendly text", "/from-error")
    bad = {f"/e{status}": Reply(error.body, status) for status in ERRORS}
    with serving({"/": page("start", *bad), **bad, "/from-error": page("x")}) as server:
        rows = crawled(server, retries=0)
        assert server.asked["/from-error"] == 0
    assert stored(rows) == ["/"]
    for status, outcome in ERRORS.items():
        row = rows[f"/e{status}"]
        assert (row.outcome, row.status, row.raw_markdown) == (outcome, status, None)
        assert (row.error or "").startswith(f"HTTP {status}")


def test_the_status_is_the_last_one_and_the_redirects_before_it_are_kept() -> None:
    routes = {
        "/": page("start", "/a", "/b"),
        "/a": redirect("/a1", 301),
        "/a1": redirect("/a2", 307),
        "/a2": page("there"),
        "/b": redirect("/none", 308),
    }
    with serving(routes) as server:
        rows = crawled(server)
    chain = [
        (hop["url"].removeprefix(server.base), hop["status"])
        for hop in rows["/a"].redirect_chain or ()
    ]
    assert (rows["/a"].status, chain) == (200, [("/a", 301), ("/a1", 307)])
    assert rows["/a"].final_url == f"{server.base}/a2"
    assert (rows["/b"].outcome, rows["/b"].status) == ("http_404", 404)


@pytest.mark.parametrize("status", ["429 Slow", "503 Down", "500 Oops"])
def test_a_page_that_fails_twice_is_asked_a_third_time(status: str) -> None:
    busy = reply(b"busy", status, Retry_After="0")
    rows, server = talked({"/": start("/busy"), "/busy": after(busy, busy, good("free"))})
    assert outcomes(rows) == {"/": "ok", "/busy": "ok"}
    assert rows["/busy"].retries == 2
    assert server.targets.count("/busy") == 3


def test_a_host_that_asks_for_time_gets_it_before_its_next_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = wound_pace(monkeypatch)
    busy = reply(b"busy", "429 Slow", Retry_After="30")
    rows, _ = talked({"/": start("/busy"), "/busy": after(busy, good("free"))})
    assert outcomes(rows) == {"/": "ok", "/busy": "ok"}
    assert sum(clock.slept) == pytest.approx(30, abs=1)


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_requests_are_in_flight_than_the_site_allows(concurrency: int) -> None:
    lock, now, most = threading.Lock(), [0], [0]
    together = threading.Event()

    def answer(asked: Asked) -> Reply:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        together.wait(0.05)
        with lock:
            now[0] -= 1
        return page(asked.path)

    paths = [f"/p{n}" for n in range(9)]
    with serving({"/": page("start", *paths), **dict.fromkeys(paths, answer)}) as server:
        rows = crawled(server, concurrency=concurrency)
    assert len(stored(rows)) == 10
    assert most == [concurrency]


@pytest.mark.parametrize("limit", [1, 2, 5, 8])
def test_failures_links_back_and_duplicates_cost_no_place_under_the_limit(limit: int) -> None:
    bad = [f"/bad{n}" for n in range(6)]
    chain = {f"/p{n}": page(f"page {n}", "/", f"/p{n - 1}", f"/p{n + 1}") for n in range(1, 20)}
    routes = {
        "/": page("start", "/", "/index.html", *bad, "/dup1", "/dup2", "/p1"),
        "/index.html": page("start", "/", "/index.html", *bad, "/dup1", "/dup2", "/p1"),
        "/dup1": page("twin"),
        "/dup2": page("twin"),
        **chain,
    }
    with serving(routes) as server:
        rows = crawled(server, max_pages=limit)
        assert max(server.asked.values()) == 1
    assert len(stored(rows)) == limit


@pytest.mark.parametrize(
    ("answer", "outcome"), [(hush, "total_timeout"), (drip, "total_timeout"), (hang_up, "reset")]
)
def test_pages_that_hang_cost_only_themselves(answer: Answer, outcome: str) -> None:
    links = [path for n in range(3) for path in (f"/bad{n}", f"/good{n}")]
    answers: dict[str, Answer] = {"/": start(*links)}
    answers |= {f"/bad{n}": answer for n in range(3)}
    answers |= {f"/good{n}": good(f"good {n}") for n in range(3)}
    rows, _ = talked(answers, timeout=0.3, retries=0, concurrency=6)
    assert outcomes(rows) == {
        "/": "ok", **{path: outcome if "bad" in path else "ok" for path in links}
    }  # fmt: skip


def test_the_time_limit_is_that_of_a_page_and_not_of_the_crawl() -> None:
    async def slowly(asked: object, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.15)
        writer.write(good(f"slow {asked}"))

    paths = [f"/p{n}" for n in range(8)]
    answers: dict[str, Answer] = {"/": start(*paths), **dict.fromkeys(paths, slowly)}
    rows, _ = talked(answers, timeout=1.0, concurrency=1, retries=0)  # 8 x 0.15 s are more
    assert len(stored(rows)) == 9


@pytest.mark.parametrize(
    ("content_type", "outcome"),
    [
        ("text/html", "too_large"),
        ("application/pdf", "unsupported_content_type"),
        ("application/zip", "unsupported_content_type"),
        ("text/markdown", "unsupported_content_type"),
    ],
)
def test_no_more_of_a_body_is_taken_than_can_be_used(content_type: str, outcome: str) -> None:
    body = Endless(content_type)
    rows, _ = talked({"/": start("/file"), "/file": body}, max_html_bytes=100_000)
    assert outcomes(rows) == {"/": "ok", "/file": outcome}
    assert rows["/file"].markdown is None
    assert body.sent < 30_000_000  # what the sockets' buffers take of the announced 1 GB


PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 90
PDF = b"%PDF-1.7\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj many words of a book here"
ZIP = b"PK\x03\x04" + b"words in an archive that nobody should read as a page " * 3


FILES = {
    f"/{name}-{kind.partition('/')[2] or 'untyped'}.html": Reply(
        body, headers={"Content-Type": kind} if kind else {}
    )
    for name, body in {"png": PNG, "pdf": PDF, "zip": ZIP}.items()
    for kind in ("text/html", "application/octet-stream", "")
}


@pytest.fixture(scope="module")
def files() -> dict[str, Page]:
    """The rows of a site whose links lead to files that are named as pages."""
    with serving({"/": page("start", *FILES), **FILES}) as server:
        return crawled(server)


@pytest.mark.parametrize("path", FILES)
def test_a_file_is_no_page_whatever_its_name_and_type_say(
    files: dict[str, Page], path: str
) -> None:
    row = files[path]
    assert (row.outcome, row.markdown) == ("unsupported_content_type", None)


@pytest.mark.parametrize(
    "start_page",
    [
        b'<meta http-equiv="refresh" content="0; url=latest/">',
        b"<html><head><meta http-equiv=Refresh content=\"0;URL='latest/'\"></head></html>",
        b'<a href="latest/">docs</a>',
    ],
)
def test_a_start_page_that_only_leads_on_is_no_failure(start_page: bytes) -> None:
    routes = {"/": Reply(start_page), "/latest/": page("latest", "/latest/a")}
    with serving(routes | {"/latest/a": page("a")}) as server:
        rows = crawled(server)
    assert outcomes(rows) == {"/": "empty_content", "/latest/": "ok", "/latest/a": "ok"}


def test_text_files_are_pages_where_the_site_says_so() -> None:
    text = {"Content-Type": "text/plain"}
    routes = {
        "/": page("start", "/a.md", "/b.txt"),
        "/b.txt": Reply(b"one two three four five six", headers=text),
    }
    routes["/a.md"] = Reply(
        b"# A\n\nfour more words here", headers={"Content-Type": "text/markdown"}
    )
    with serving(routes) as server:
        assert outcomes(crawled(server, accept_text=True)) == {
            "/": "ok",
            "/a.md": "ok",
            "/b.txt": "ok",
        }


def second_night(change: Callable[[dict[str, Any]], None], **options: Any) -> Crawled:
    """The second crawl of a site of four pages after `change` of its routes."""
    routes: dict[str, Any] = {f"/p{n}": conditional(page(f"page {n}")) for n in range(3)}
    routes["/"] = page("start", *routes)
    with serving(routes) as server:
        first = whole_crawl(server).settled.pages
        change(server.routes)
        return whole_crawl(server, last=first, retries=0, **options)


def test_a_page_that_changed_is_read_anew_and_the_others_are_not() -> None:
    def change(routes: dict[str, Any]) -> None:
        routes["/p1"] = conditional(page("page one, renewed"))

    crawled = second_night(change)
    found = {row.url[-3:]: row for row in crawled.settled.pages}
    assert [str(found[path].outcome) for path in ("/p0", "/p1", "/p2")] == [
        "not_modified", "ok", "not_modified"
    ]  # fmt: skip
    assert "page one, renewed" in (found["/p1"].markdown or "")


def test_other_options_read_the_same_site_in_another_way() -> None:
    crawled = second_night(lambda _: None, drop_selectors=("h1",))
    assert [row.h1 for row in crawled.settled.pages] == [None] * 4

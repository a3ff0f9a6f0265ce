"""What becomes of the pages of the last run: kept, changed, gone; and when nothing may go."""

from collections.abc import Sequence
from typing import Any

import pytest

from qindex_pipeline.crawl import Page
from qindex_pipeline_tests.crawl.hostile import (
    Reply,
    Server,
    conditional,
    page,
    redirect,
    serving,
    whole_crawl,
)


def site_of(count: int) -> dict[str, Any]:
    """A start page that links to `count` pages."""
    paths = [f"/p{n}" for n in range(count)]
    return {"/": page("start", *paths), **{path: page(f"lamp {path}") for path in paths}}


def content(pages: Sequence[Page]) -> set[str]:
    """The last path segments of the pages that have content."""
    return {row.url.rpartition("/")[2] for row in pages if row.markdown is not None}


def state(pages: Sequence[Page], path: str) -> tuple[str, str, bool]:
    row = next(row for row in pages if row.url.endswith(path))
    return str(row.outcome), str(row.state), row.markdown is not None


def two_nights(server: Server, *changed: str, reply: Any, **options: Any) -> Sequence[Page]:
    """Crawl, let the `changed` paths answer `reply`, crawl again; the second table."""
    first = whole_crawl(server).settled.pages
    for path in changed:
        server.routes[path] = reply
    return whole_crawl(server, last=first, **options).settled.pages


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(b"", 404), "http_404"),
        (Reply(b"", 410), "http_410"),
        (page("hidden", head="<meta name=robots content=noindex>"), "noindex"),
        (redirect("http://127.0.0.2:1/"), "out_of_scope_redirect"),
        (page("Page not found"), "soft_404"),
        (redirect("/p2"), "duplicate_url"),
    ],
)
def test_an_answer_takes_a_page_away(reply: Any, outcome: str) -> None:
    with serving(site_of(4)) as server:
        pages = two_nights(server, "/p3", reply=reply)
    assert state(pages, "/p3") == (outcome, "gone", False)
    assert content(pages) == {"", "p0", "p1", "p2"}


def test_robots_txt_takes_a_page_away() -> None:
    with serving(site_of(3)) as server:
        closed = Reply(b"User-agent: *\nDisallow: /p1")
        pages = two_nights(server, "/robots.txt", reply=closed)
    assert state(pages, "/p1") == ("robots_disallowed", "gone", False)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(b"", 500), "http_5xx"),
        (Reply(b"", 429), "http_429"),
        (Reply(b"", 403), "http_403"),
        (Reply(b"", 401), "http_401"),
        (Reply(b"x" * 90, cut=40), "truncated"),
        (Reply(b"<div id=app></div>"), "empty_content"),
        (Reply(b"{}", headers={"Content-Type": "application/json"}), "unsupported_content_type"),
        (redirect("/p3"), "redirect_loop"),
    ],
)
def test_a_page_that_cannot_be_read_tonight_keeps_its_content(reply: Any, outcome: str) -> None:
    with serving(site_of(4)) as server:
        first = whole_crawl(server).settled.pages
        server.routes["/p3"] = reply
        pages = whole_crawl(server, last=first, retries=0).settled.pages
    assert state(pages, "/p3") == (outcome, "unknown", True)
    before = next(row for row in first if row.url.endswith("/p3"))
    after = next(row for row in pages if row.url.endswith("/p3"))
    kept = ("page_id", "content_hash", "markdown", "title", "headings", "etag")
    assert [getattr(after, name) for name in kept] == [getattr(before, name) for name in kept]


def test_a_page_that_moved_is_stored_once_and_the_old_address_leaves() -> None:
    with serving(site_of(4)) as server:
        first = whole_crawl(server).settled.pages
        server.routes |= {"/p3": redirect("/new/p3", 301), "/new/p3": page("lamp /p3")}
        pages = whole_crawl(server, last=first).settled.pages
    moved = [row for row in pages if row.markdown is not None and "lamp /p3" in row.markdown]
    assert [(row.url, row.canonical_url) for row in moved] == [
        (f"{server.base}/p3", f"{server.base}/new/p3")
    ]


def test_a_suspect_crawl_adds_and_updates_and_takes_nothing_away() -> None:
    with serving(site_of(9)) as server:
        first = whole_crawl(server).settled.pages
        server.routes["/"] = page("start", "/p0", "/new")
        server.routes["/new"] = page("new lamp")
        for n in range(1, 7):
            server.routes[f"/p{n}"] = Reply(b"", 404)
        settled = whole_crawl(server, last=first, suspect_share=0.6).settled
        accepted = whole_crawl(server, last=settled.pages, suspect_share=0).settled
    assert "the crawl read 5 pages, the last one left 10" in (settled.suspect or "")
    assert content(settled.pages) == {"", "new", *(f"p{n}" for n in range(9))}
    assert state(settled.pages, "/p1") == ("http_404", "unknown", True)
    assert accepted.suspect is None
    assert content(accepted.pages) == {"", "new", "p0", "p7", "p8"}


def test_a_crawl_that_reads_half_of_the_last_one_is_not_suspect() -> None:
    with serving(site_of(9)) as server:
        first = whole_crawl(server).settled.pages
        for n in range(5):
            server.routes[f"/p{n}"] = Reply(b"", 404)
        settled = whole_crawl(server, last=first).settled
    assert settled.suspect is None
    assert content(settled.pages) == {"", "p5", "p6", "p7", "p8"}


def test_a_lower_limit_takes_pages_away_and_is_not_suspect() -> None:
    with serving(site_of(9)) as server:
        first = whole_crawl(server).settled.pages
        settled = whole_crawl(server, last=first, max_pages=3).settled
    assert settled.suspect is None
    assert content(settled.pages) == {"", "p0", "p1"}
    assert state(settled.pages, "/p7") == ("out_of_scope", "gone", False)


def test_what_the_filters_no_longer_include_leaves() -> None:
    with serving(site_of(4)) as server:
        first = whole_crawl(server).settled.pages
        pages = whole_crawl(server, last=first, exclude=("/p[01]$",)).settled.pages
    assert content(pages) == {"", "p2", "p3"}


def test_a_site_above_its_limit_still_loses_what_is_gone() -> None:
    with serving(site_of(9)) as server:
        first = whole_crawl(server, max_pages=5).settled.pages
        server.routes["/p1"] = Reply(b"", 404)
        pages = whole_crawl(server, last=first, max_pages=5).settled.pages
    assert content(first) == {"", "p0", "p1", "p2", "p3"}
    assert content(pages) == {"", "p0", "p2", "p3", "p4"}


def test_kept_pages_count_towards_the_limit() -> None:
    with serving(site_of(9)) as server:
        first = whole_crawl(server, max_pages=5).settled.pages
        server.routes["/p1"] = Reply(b"", 503)
        pages = whole_crawl(server, last=first, max_pages=5, retries=0).settled.pages
    assert content(pages) == {"", "p0", "p1", "p2", "p3"}


def test_a_host_that_stops_answering_ends_the_crawl_and_loses_nothing() -> None:
    with serving(site_of(20)) as server:
        first = whole_crawl(server).settled.pages
        for n in range(4, 20):
            server.routes[f"/p{n}"] = Reply(b"", 503)
        server.forget()
        crawled = whole_crawl(server, last=first, retries=0, concurrency=1, suspect_share=0)
    assert crawled.found.cut_short == "site_unavailable"
    assert server.asked["/p9"] == 0
    assert content(crawled.settled.pages) == content(first)
    assert state(crawled.settled.pages, "/p9") == ("site_unavailable", "unknown", True)


def test_an_unchanged_site_is_neither_sent_nor_read_again() -> None:
    routes = {path: conditional(reply) for path, reply in site_of(5).items()}
    with serving(routes) as server:
        first = whole_crawl(server).settled.pages
        second = whole_crawl(server, last=first)
        third = whole_crawl(server, last=second.settled.pages).settled.pages
    assert {str(row.outcome) for row in third} == {"not_modified"}
    assert {row.status for row in third} == {304}
    assert [row.content_hash for row in third] == [row.content_hash for row in first]
    assert not second.found.bodies


def test_a_page_that_is_sent_again_unchanged_is_not_modified() -> None:
    with serving(site_of(2)) as server:
        first = whole_crawl(server).settled.pages
        second = whole_crawl(server, last=first).settled.pages
    assert {(str(row.outcome), row.status) for row in second} == {("not_modified", 200)}


def test_a_new_extractor_reads_the_stored_html_again() -> None:
    routes = {path: conditional(reply) for path, reply in site_of(2).items()}
    with serving(routes) as server:
        first = whole_crawl(server)
        bodies = dict(first.found.bodies)
        second = whole_crawl(
            server, last=first.settled.pages, html=bodies.get, drop_selectors=("h1",)
        ).settled.pages
    assert {(str(row.outcome), row.status) for row in second if row.markdown} == {("ok", 304)}
    assert not any("heading" in (row.markdown or "") for row in second)


def test_a_new_extractor_without_the_stored_html_asks_for_the_page() -> None:
    routes = {path: conditional(reply) for path, reply in site_of(2).items()}
    with serving(routes) as server:
        first = whole_crawl(server).settled.pages
        second = whole_crawl(server, last=first, drop_selectors=("nav",)).settled.pages
    assert {(str(row.outcome), row.status) for row in second} == {("ok", 200)}


def test_a_site_name_stays_out_of_the_labels_of_the_one_page_that_changed() -> None:
    def named(text: str, *links: str) -> Reply:
        body = page(text, *links, title=f"{text} | Lamps").body
        return Reply(body.replace(b"<main>", b"<main><h1>Lamps</h1>"))

    paths = [f"/p{n}" for n in range(6)]
    routes = {path: conditional(named(path)) for path in paths} | {"/": named("start", *paths)}
    with serving(routes) as server:
        first = whole_crawl(server).settled.pages
        server.routes["/p3"] = named("changed")
        second = whole_crawl(server, last=first).settled.pages
    row = next(row for row in second if row.url.endswith("/p3"))
    assert (row.outcome, row.title, row.h1) == ("ok", "changed", None)

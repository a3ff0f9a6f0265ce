import subprocess
import sys
from dataclasses import fields

import pytest

from qindex_pipeline.crawl import Page, crawl
from qindex_pipeline.sites import Site
from qindex_pipeline.tables import RAW_PAGES, to_arrow
from qindex_pipeline_tests.crawl.hostile import (
    Reply,
    crawled,
    outcomes,
    page,
    redirect,
    serving,
    whole_crawl,
)

XHTML = {"Content-Type": "application/xhtml+xml"}


def chain(count: int, **extra: Reply) -> dict[str, Reply]:
    """A start page, then `count - 1` pages that each link to the next two."""
    pages = {f"/p{n}": page(f"page {n}", f"/p{n + 1}", f"/p{n + 2}", "/") for n in range(1, count)}
    return {"/": page("start", "/p1", "/gone", "/gone2"), **pages, **extra}


def test_importing_the_package_loads_no_crawler() -> None:
    code = (
        "import sys, qindex_pipeline.crawl\n"
        "print({'crawl4ai', 'aiohttp', 'selectolax', 'playwright'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_crawl_prints_nothing_and_warns_of_nothing() -> None:
    code = (
        "import sys\n"
        "from qindex_pipeline.crawl import crawl\n"
        "from qindex_pipeline.sites import Site\n"
        "crawl(Site(key='x', start_url=sys.argv[1]))"
    )
    with serving({"/": page("start", "/a", "/b"), "/a": Reply(b"", 500)}) as server:
        command = [sys.executable, "-W", "default", "-c", code, server.base]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_the_fields_of_a_page_are_the_columns_of_the_table() -> None:
    assert {field.name for field in fields(Page)} == set(RAW_PAGES.schema.names)


def test_rows_of_every_outcome_fit_the_table() -> None:
    with serving(chain(3)) as server:
        rows = crawled(server)
    table = to_arrow(RAW_PAGES, rows.values())
    assert table.num_rows == len(rows) > 3
    assert set(table["outcome"].to_pylist()) == {"ok", "http_404"}


@pytest.mark.parametrize(("limit", "stored"), [(1, 1), (2, 2), (7, 7), (12, 12), (30, 12)])
def test_exactly_max_pages_are_stored_and_failures_do_not_count(limit: int, stored: int) -> None:
    with serving(chain(12)) as server:
        rows = crawled(server, max_pages=limit)
    assert list(outcomes(rows).values()).count("ok") == stored


def test_the_start_page_is_asked_once_and_robots_once() -> None:
    with serving(chain(6)) as server:
        crawled(server)
        assert max(server.asked.values()) == 1
        assert server.asked["/robots.txt"] == 1
        assert len(server.agents) == 1
        assert server.agents.pop().startswith("QIndexBot/")


def test_pages_come_breadth_first_in_document_order_every_time() -> None:
    routes = {
        "/": page("start", "/b", "/a"),
        "/b": page("b", "/b1", "/b2"),
        "/a": page("a", "/a1"),
        "/b1": page("b1"),
        "/b2": page("b2"),
        "/a1": page("a1"),
    }
    with serving(routes) as server:
        first, second = crawled(server), crawled(server)
    assert list(first) == list(second) == ["/", "/b", "/a", "/b1", "/b2", "/a1"]
    assert [row.depth for row in first.values()] == [0, 1, 1, 2, 2, 2]
    assert first["/b1"].parent_url == f"{server.base}/b"


def test_known_pages_are_asked_before_new_ones() -> None:
    routes = {"/": page("start", "/new"), "/new": page("new"), "/old": page("old")}
    with serving({"/": page("start", "/old"), "/old": page("old")}) as server:
        last = whole_crawl(server).settled.pages
        server.routes |= routes
        rows = crawled(server, max_pages=2, last=last)
    assert [(path, row.discovered_by) for path, row in rows.items()] == [
        ("/", "start"),
        ("/old", "known"),
    ]


def test_requests_of_a_site_of_failures_end_at_three_times_the_limit_plus_fifty() -> None:
    links = [f"/none{n}" for n in range(200)]
    with serving({"/": page("start", *links)}) as server:
        rows = crawled(server, max_pages=10)
        pages = [path for path in server.asked.elements() if not path.endswith((".txt", ".xml"))]
        assert len(rows) == len(pages) == 80


def test_progress_hears_of_every_page() -> None:
    heard: list[tuple[str, int, int | None, str]] = []

    def listen(stage: str, done: int, total: int | None, note: str = "") -> None:
        heard.append((stage, done, total, note))

    with serving({"/": page("start", "/a", "/no"), "/a": page("a")}) as server:
        site = Site(key="x", start_url=server.base, max_pages=9)
        crawl(site, progress=listen)
    assert [call[:3] for call in heard] == [("raw_pages", n, 9) for n in (1, 2, 2)]
    assert heard[2][3].startswith("3 fetched, 0 queued, 0 failed, ")


def test_every_requested_url_has_its_outcome() -> None:
    big = b"<main><h1>x</h1>" + b"word " * 1_200_000 + b"</main>"
    routes = {
        "/": page(
            "start", "/r-in", "/r-loop", "/r-robots", "/r-none", "/r-start", "/a", "/a-copy",
            "/a-canonical", "/noindex", "/json", "/big", "/empty", "/shell", "/soft", "/403",
            "/418", "/503", "/private/x", "/{{ template }}", "/file.pdf", "mailto:x@y.z",
            "/genindex.html",
        ),
        "/robots.txt": Reply(b"User-agent: QIndexBot\nDisallow: /private/\n"),
        "/r-in": redirect("/target"),
        "/target": page("target"),
        "/r-loop": redirect("/r-loop2"),
        "/r-loop2": redirect("/r-loop"),
        "/r-robots": redirect("/private/y"),
        "/r-none": redirect("mailto:x@y.z"),
        "/r-start": redirect("/"),
        "/a": page("a"),
        "/a-copy": page("a"),
        "/a-canonical": page("other", head='<link rel="canonical" href="/a">'),
        "/noindex": page("hidden", "/from-noindex", head='<meta name=robots content=noindex>'),
        "/from-noindex": page("found"),
        "/json": Reply(b"{}", headers={"Content-Type": "application/json"}),
        "/big": Reply(big),
        "/empty": Reply(b"<html><body><p>Soon.</p></body></html>"),
        "/shell": Reply(b"<html><body><div id=app></div><script>app()</script></body></html>"),
        "/soft": page("Page not found"),
        "/403": Reply(b"", 403),
        "/418": Reply(b"", 418),
        "/503": Reply(b"", 503),
    }  # fmt: skip
    with serving(routes) as server:
        rows = crawled(server)
        assert not any(path.startswith("/private") for path in server.asked)
    assert outcomes(rows) == {
        "/": "ok",
        "/r-in": "ok",
        "/r-loop": "redirect_loop",
        "/r-robots": "robots_disallowed",
        "/r-none": "out_of_scope_redirect",
        "/r-start": "duplicate_url",
        "/a": "ok",
        "/a-copy": "duplicate_content",
        "/a-canonical": "duplicate_url",
        "/noindex": "noindex",
        "/json": "unsupported_content_type",
        "/big": "too_large",
        "/empty": "empty_content",
        "/shell": "js_required",
        "/soft": "soft_404",
        "/403": "http_403",
        "/418": "http_4xx",
        "/503": "http_5xx",
        "/private/x": "robots_disallowed",
        "/from-noindex": "ok",
    }
    assert rows["/r-in"].final_url == f"{server.base}/target"
    assert rows["/r-in"].page_id != rows["/a"].page_id
    assert rows["/noindex"].markdown is None


def test_a_page_that_redirects_out_of_scope_is_not_stored() -> None:
    with serving({"/": page("other host")}, "127.0.0.2") as other:
        links = {"/": page("start", "/away", f"{other.base}/"), "/away": redirect(f"{other.base}/")}
        with serving(links) as server:
            rows = crawled(server)
        assert not other.asked
    assert outcomes(rows) == {"/": "ok", "/away": "out_of_scope_redirect"}
    assert rows["/away"].final_url == f"{other.base}/"


def test_path_prefixes_narrow_the_site() -> None:
    routes = {
        "/docs/": page("docs", "/docs/a", "/blog/b"),
        "/docs/a": page("a"),
        "/blog/b": page("b"),
    }
    with serving(routes) as server:
        rows = crawled(server, "/docs/", path_prefixes=("/docs",))
    assert list(rows) == ["/docs/", "/docs/a"]


def test_the_canonical_url_is_the_identity_of_a_page() -> None:
    head = '<link rel="canonical" href="/a">'
    routes = {"/": page("start", "/a?v=1", "/a"), "/a?v=1": page("a", head=head), "/a": page("a")}
    with serving(routes) as server:
        rows = crawled(server)
    assert rows["/a?v=1"].canonical_url == f"{server.base}/a"
    assert outcomes(rows) == {"/": "ok", "/a?v=1": "ok", "/a": "duplicate_url"}


def test_a_canonical_url_on_another_host_is_ignored() -> None:
    head = '<link rel="canonical" href="https://elsewhere.test/a">'
    with serving({"/": page("start", head=head)}) as server:
        rows = crawled(server)
    assert rows["/"].canonical_url == f"{server.base}/"


def test_links_are_resolved_against_the_final_url_and_the_base_element() -> None:
    routes = {
        "/": page("start", "/old"),
        "/old": redirect("/new/place/"),
        "/new/place/": page("place", "sibling", "based"),
        "/new/place/sibling": page("sibling", "x", head='<base href="/base/">'),
        "/base/x": page("x"),
    }
    with serving(routes) as server:
        rows = crawled(server)
    assert outcomes(rows)["/new/place/sibling"] == outcomes(rows)["/base/x"] == "ok"


def test_an_xml_declaration_does_not_spoil_a_page() -> None:
    html = b'<?xml version="1.0" encoding="UTF-8"?>\n' + page("start", "/a").body
    with serving({"/": Reply(html, headers=XHTML), "/a": page("a")}) as server:
        rows = crawled(server)
    assert outcomes(rows) == {"/": "ok", "/a": "ok"}
    assert (rows["/"].markdown or "").startswith("# start heading\n\nThis is the text")


def test_a_page_in_latin_1_reads_right() -> None:
    body = page("Größe").body.decode().encode("latin-1")
    headers = {"Content-Type": "text/html; charset=iso-8859-1"}
    with serving({"/": Reply(body, headers=headers)}) as server:
        rows = crawled(server)
    assert rows["/"].h1 == "Größe heading"
    assert rows["/"].charset == "cp1252"


def test_a_small_page_is_stored() -> None:
    with serving({"/": Reply(b"<h1>Ports</h1><p>It listens on 80.</p>")}) as server:
        assert outcomes(crawled(server)) == {"/": "ok"}


def test_a_site_without_robots_txt_is_open_and_one_that_fails_is_closed() -> None:
    with serving(chain(2)) as server:
        assert outcomes(crawled(server))["/p1"] == "ok"
    closed = chain(2) | {"/robots.txt": Reply(b"", 503)}
    with serving(closed) as server:
        rows = crawled(server)
        assert set(server.asked) == {"/robots.txt"}
    assert outcomes(rows) == {"/": "http_5xx"}


def test_validators_and_response_facts_are_recorded() -> None:
    headers = {"Content-Type": "text/html", "ETag": '"e1"', "Last-Modified": "Mon, 01 Jan 2024"}
    with serving({"/": Reply(page("start").body, headers=headers)}) as server:
        row = crawled(server)["/"]
    assert (row.etag, row.last_modified, row.status) == ('"e1"', "Mon, 01 Jan 2024", 200)
    assert (row.content_type, row.response_bytes) == ("text/html", len(page("start").body))
    assert row.fetched_at.tzinfo is not None

"""What has gone wrong with where a crawl goes: hosts, redirects, sitemaps, names of one page."""

import gzip
import socket
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from qindex_pipeline.crawl import Page
from qindex_pipeline_tests.crawl.background import forbidden_host
from qindex_pipeline_tests.crawl.hostile import (
    Reply,
    Route,
    crawled,
    outcomes,
    page,
    redirect,
    serving,
)
from qindex_pipeline_tests.crawl.sockets import forget_proxies

XML = {"Content-Type": "application/xml"}
TEXT = {"Content-Type": "text/plain"}


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_proxies(monkeypatch)


def sitemap(*urls: str) -> Reply:
    listed = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return Reply(f"<urlset>{listed}</urlset>".encode(), headers=XML)


def index(*urls: str) -> Reply:
    listed = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return Reply(f"<sitemapindex>{listed}</sitemapindex>".encode(), headers=XML)


def ways_out_of_a_page(away: str) -> dict[str, Route]:
    """Pages that lead to another host, each in its own way and to its own path there."""
    bare = away.removeprefix("http://")
    loads = (
        f'<link rel=stylesheet href="{away}/style"><script src="{away}/script"></script>'
        f'<iframe src="{away}/frame"></iframe><img src="{away}/image">'
    )
    return {
        "/link": page("link", f"{away}/link", f"//{bare}/link-without-scheme"),
        "/user": page("user info", f"http://127.0.0.1@{bare}/user", f"http://x:y@{bare}/user2"),
        "/redirect": redirect(f"{away}/redirect"),
        "/first-hop": redirect("/second-hop"),
        "/second-hop": redirect(f"{away}/second-hop"),
        "/schemeless": redirect(f"//{bare}/schemeless"),
        "/based": page("based", "below", head=f'<base href="{away}/based/">'),
        "/canonical": page("canonical", head=f'<link rel=canonical href="{away}/canonical">'),
        "/refresh": page(
            "refresh", head=f'<meta http-equiv=refresh content="0; url={away}/refresh">'
        ),
        "/twin": page(
            "twin", head=f'<link rel=alternate type=text/markdown href="{away}/twin.md">'
        ),
        "/loads": page("loads", head=loads),
    }


@pytest.mark.parametrize("host", ["127.0.0.2", "127.0.0.1"], ids=["other host", "other port"])
def test_no_page_leads_to_another_host_or_port(host: str) -> None:
    with forbidden_host(host) as other:
        ways = ways_out_of_a_page(other.base)
        with serving({"/": page("start", *ways), **ways}) as server:
            rows = crawled(server, prefer_markdown=True, timeout=1, retries=0)
        assert other.callers() == []
    away = {path for path, row in rows.items() if row.outcome == "out_of_scope_redirect"}
    assert away == {"/redirect", "/first-hop", "/second-hop", "/schemeless"}
    for row in rows.values():
        assert row.url.startswith(f"{server.base}/")
        if row.markdown is not None:
            assert (row.canonical_url or "").startswith(f"{server.base}/")


FILES_OUT: dict[str, Any] = {
    "sitemap entry": lambda away: {"/sitemap.xml": sitemap(f"{away}/x")},
    "sitemap file": lambda away: {"/sitemap.xml": index(f"{away}/s.xml")},
    "sitemap redirect": lambda away: {"/sitemap.xml": redirect(f"{away}/s")},
    "robots sitemap": lambda away: {
        "/robots.txt": Reply(f"Sitemap: {away}/s.xml".encode(), headers=TEXT)
    },
    "llms.txt": lambda away: {
        "/llms.txt": Reply(f"# S\n\n## Docs\n\n- [x]({away}/x.md)".encode(), headers=TEXT)
    },
    "llms.txt redirect": lambda away: {"/llms.txt": redirect(f"{away}/l")},
}


@pytest.mark.parametrize("files", FILES_OUT.values(), ids=FILES_OUT.keys())
def test_no_file_of_a_site_leads_to_another_host(files: Any) -> None:
    with forbidden_host() as other, serving({"/": page("start")}) as server:
        server.routes |= files(other.base)
        rows = crawled(server, prefer_markdown=True, timeout=1, retries=0)
        assert outcomes(rows) == {"/": "ok"}
        assert other.callers() == []


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1"])
def test_a_bare_host_name_is_a_site_in_any_case(host: str) -> None:
    with serving({"/": page("start", "/a"), "/a": page("a")}) as server:
        port = server.base.rpartition(":")[2]
        server.base = f"http://{host}:{port}"
        rows = crawled(server)
    assert [str(row.outcome) for row in rows.values()] == ["ok", "ok"]
    assert [row.url for row in rows.values()] == [
        f"http://{host.lower()}:{port}{path}" for path in ("/", "/a")
    ]


def test_a_crawl_looks_up_no_other_name(monkeypatch: pytest.MonkeyPatch) -> None:
    names: set[object] = set()
    look_up = socket.getaddrinfo

    def noted(host: Any, *rest: Any, **more: Any) -> Any:
        names.add(host)
        return look_up(host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", noted)
    links = [f"http://{name}.invalid/x" for name in ("docs", "127.0.0.1", "localhost")]
    routes = {"/": page("start", *links, "/go"), "/go": redirect("http://away.invalid/")}
    with serving(routes | {"/sitemap.xml": sitemap("http://listed.invalid/")}) as server:
        server.base = server.base.replace("127.0.0.1", "localhost")
        crawled(server)
    assert {str(name) for name in names} <= {"localhost", "127.0.0.1", "::1"}


def test_a_link_keeps_its_scheme() -> None:
    with serving({"/": page("start")}) as server:
        secure = server.base.replace("http:", "https:") + "/secure"
        server.routes["/"] = page("start", secure)
        rows = crawled(server, retries=0)
        assert "/secure" not in server.asked
    assert rows["/"].links == [secure]


def test_links_are_resolved_where_the_page_really_lies() -> None:
    routes = {
        "/": page("start", "docs", "based", "dir/index.html"),
        "/docs": redirect("/docs/"),
        "/docs/": page("docs", "intro", "../top", "./here", "?page=2", "#x"),
        "/docs/intro": page("intro"),
        "/docs/here": page("here"),
        "/docs/?page=2": page("page two"),
        "/top": page("top"),
        "/based": page("based", "leaf", head='<base href="/branch/twig/">'),
        "/branch/twig/leaf": page("leaf"),
        "/dir/index.html": page("dir", "sibling.html"),
        "/dir/sibling.html": page("sibling"),
    }
    with serving(routes) as server:
        rows = crawled(server)
        assert not [path for path in server.asked if path not in routes and "." not in path[-4:]]
    reached = {(row.final_url or "").removeprefix(server.base) for row in rows.values()}
    assert reached == set(routes) - {"/docs"}


TEMPLATES = ["{{ url }}", "{{url}}/x", "${link}", "<%= path %>", "/a/{{id}}"]


def test_links_that_a_template_left_behind_are_not_asked() -> None:
    anchors = "".join(f"<a href='{link}'>x</a>" for link in TEMPLATES)
    with serving(
        {"/": Reply(page("start", "/a").body + anchors.encode()), "/a": page("a")}
    ) as server:
        assert outcomes(crawled(server)) == {"/": "ok", "/a": "ok"}
        assert set(server.asked) <= {"/", "/a", "/robots.txt", "/sitemap.xml", "/sitemap_index.xml"}


SAME_PAGE: dict[str, tuple[list[str], dict[str, str]]] = {
    # The links, and what is there: "page", "alias" (names /a as its canonical), or a target.
    "slash": (["/a", "/a/"], {"/a": "page", "/a/": "page"}),
    "slash by redirect": (["/a", "/a/"], {"/a": "/a/", "/a/": "page"}),
    "slash by redirect, reversed": (["/a/", "/a"], {"/a": "/a/", "/a/": "page"}),
    "case": (["/a", "/A"], {"/a": "page", "/A": "page"}),
    "index": (["/a/", "/a/index.html"], {"/a/": "page", "/a/index.html": "page"}),
    "escapes": (["/%7ea", "/~a", "/%7Ea"], {"/~a": "page"}),
    "blank": (["/sp ace", "/sp%20ace"], {"/sp%20ace": "page"}),
    "tracking": (["/a", "/a?utm_source=x", "/a?gclid=1&fbclid=2"], {"/a": "page"}),
    "order of the query": (["/a?x=1&amp;y=2", "/a?y=2&amp;x=1"], {"/a?x=1&y=2": "page"}),
    "fragment": (["/a", "/a#b", "/a#c"], {"/a": "page"}),
    "session": (["/a?sid=1", "/a?sid=2"], {"/a?sid=1": "page", "/a?sid=2": "page"}),
    "canonical": (["/a", "/b"], {"/a": "page", "/b": "alias"}),
    "same text": (["/dup1", "/dup2"], {"/dup1": "page", "/dup2": "page"}),
}


@pytest.fixture(scope="module")
def twice() -> Iterator[tuple[dict[str, Page], dict[str, Page], Counter[str]]]:
    """Two nights of a site that has each page of `SAME_PAGE` under a path of its own.

    One request at a time: of a batch each page is asked before it is known what another is.
    """
    links: list[str] = []
    routes: dict[str, Route] = {}
    for n, (some, answers) in enumerate(SAME_PAGE.values()):
        links += [f"/{n}{link}" for link in some]
        for path, what in answers.items():
            canonical = f'<link rel=canonical href="/{n}/a">' if what == "alias" else ""
            is_page = what in {"page", "alias"}
            answer = page(f"text {n} {canonical[:1]}", head=canonical)
            routes[f"/{n}{path}"] = answer if is_page else redirect(f"/{n}{what}", 301)
    with serving({"/": page("start", *links), **routes}) as server:
        first = crawled(server, concurrency=1)
        asked = Counter(server.asked)
        yield first, crawled(server, concurrency=1, last=list(first.values())), asked


@pytest.mark.parametrize("number", range(len(SAME_PAGE)), ids=SAME_PAGE.keys())
def test_a_page_is_stored_once_under_all_its_addresses(
    number: int, twice: tuple[dict[str, Page], dict[str, Page], Counter[str]]
) -> None:
    first, second, asked = twice
    for night in (first, second):
        own = [row for path, row in night.items() if path.startswith(f"/{number}/")]
        assert len([row for row in own if row.markdown is not None]) == 1
    assert {count for path, count in asked.items() if path.startswith(f"/{number}/")} == {1}


def test_a_growing_path_and_an_endless_calendar_end() -> None:
    routes: dict[str, Route] = {
        "/" + "a/" * n: page(f"level {n}", "a/" if n else "/a/") for n in range(12)
    }
    days = {f"/day?d={n}": page(f"day {n}") for n in range(70)}
    routes["/"] = page("start", "/a/", *days)
    with serving(routes | days) as server:
        rows = crawled(server, max_pages=200)
    assert sum(path.startswith("/a/") for path in rows) == 3
    assert sum(path.startswith("/day") for path in rows) == 50


def test_an_application_at_the_sitemaps_address_hides_no_real_one() -> None:
    app = page("application")
    with serving({"/": page("start"), "/sitemap.xml": app, "/listed": page("listed")}) as server:
        listed = sitemap(f"{server.base}/listed", "https://example.com/a", f"{server.base}:1/b")
        packed = Reply(gzip.compress(listed.body), headers={"Content-Type": "text/html"})
        server.routes["/maps/real"] = packed
        lines = f"Sitemap: {server.base}/sitemap.xml\nSitemap: {server.base}/maps/real\n"
        server.routes["/robots.txt"] = Reply(lines.encode(), headers=TEXT)
        rows = crawled(server)
    assert outcomes(rows) == {"/": "ok", "/listed": "ok"}
    assert rows["/listed"].discovered_by == "sitemap"


def test_a_sitemap_alone_is_enough_and_is_read_anew_every_night() -> None:
    with serving({"/": page("start", "/linked"), "/linked": page("linked")}) as server:
        server.routes |= {"/a": page("a", "/b"), "/b": page("b"), "/c": page("c")}
        server.routes["/sitemap.xml"] = redirect("/maps/1.xml")
        server.routes["/maps/1.xml"] = index(f"{server.base}/maps/moved.xml")
        server.routes["/maps/moved.xml"] = redirect("/maps/2.xml")
        server.routes["/maps/2.xml"] = sitemap(f"{server.base}/a")
        first = crawled(server, sitemap="only")
        server.routes["/maps/2.xml"] = sitemap(f"{server.base}/a", f"{server.base}/c")
        second = crawled(server, sitemap="only", last=list(first.values()))
    assert list(first) == ["/", "/a"]
    assert [path for path, row in second.items() if row.markdown] == ["/", "/a", "/c"]

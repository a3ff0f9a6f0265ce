import socket

import pytest

from qindex_pipeline.crawl import crawl, why_unusable
from qindex_pipeline.sites import Site
from qindex_pipeline_tests.crawl.hostile import Reply, page, redirect, serving, whole_crawl

EMPTY = b"<html><body><div id=root></div></body></html>"


def complaint(start_url: str) -> str:
    site = Site(key="mysite", start_url=start_url, retries=0)
    text = why_unusable(site, crawl(site).found.pages) or ""
    assert "mysite" in text
    assert start_url in text
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("reply", "robots", "words"),
    [
        (Reply(b"", 404), None, "HTTP 404"),
        (Reply(b"", 500), None, "HTTP 500"),
        (Reply(b"%PDF", headers={"Content-Type": "application/pdf"}), None, "application/pdf"),
        (Reply(EMPTY), None, "has no text"),
        (page("x"), Reply(b"User-agent: *\nDisallow: /"), "forbidden by the site's robots.txt"),
        (page("x"), Reply(b"", 503), "robots.txt answered HTTP 503"),
        (redirect("https://elsewhere.test/"), None, "use that as start_url"),
        (redirect("/start"), None, "in a circle"),
        (page("x", head="<meta name=robots content=noindex>"), None, "noindex"),
    ],
)
def test_a_start_page_that_gives_nothing_is_explained(
    reply: Reply, robots: Reply | None, words: str
) -> None:
    routes = {"/start": reply} | ({"/robots.txt": robots} if robots else {})
    with serving(routes) as server:
        assert words in complaint(f"{server.base}/start")


def test_a_refused_connection_is_explained() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert "refuses the connection" in complaint(f"http://127.0.0.1:{port}/")


def test_an_unknown_host_is_explained() -> None:
    assert "does not resolve" in complaint("http://no-such-host.invalid/")


def test_a_server_that_speaks_no_tls_is_explained() -> None:
    with serving({"/": page("x")}) as server:
        assert "TLS" in complaint(server.base.replace("http:", "https:") + "/")


def test_one_stored_page_is_enough() -> None:
    with serving({"/": page("start", "/none")}) as server:
        site = Site(key="mysite", start_url=server.base)
        assert why_unusable(site, crawl(site).found.pages) is None


def test_pages_that_are_known_do_not_hide_that_the_start_page_is_gone() -> None:
    with serving({"/": page("start", "/none"), "/a": page("a")}) as server:
        last = whole_crawl(server, "/a").settled.pages
        pages = whole_crawl(server, "/gone", last=last).found.pages
        site = Site(key="mysite", start_url=server.base + "/gone")
    assert [row.outcome for row in pages] == ["http_404", "not_modified"]
    assert "404" in (why_unusable(site, pages) or "")

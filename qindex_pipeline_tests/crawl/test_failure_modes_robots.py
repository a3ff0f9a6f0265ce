"""What has gone wrong with what a site asks of robots: robots.txt, metas, headers, links."""

import pytest

from qindex_pipeline_tests.crawl.background import wound_pace
from qindex_pipeline_tests.crawl.hostile import Reply, Route, crawled, page, redirect, serving
from qindex_pipeline_tests.crawl.sockets import forget_proxies

TEXT = {"Content-Type": "text/plain"}


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_proxies(monkeypatch)


ROBOTS = """\
User-agent: *
Disallow: /

User-agent: QIndexBot
Disallow: /a/
Allow: /a/open/
Disallow: /a/open/shut
Disallow: /*/print$
Disallow: /*.php
Allow: /b
Disallow: /b/c
"""


ALLOWED = {
    "/free": True, "/a/x": False, "/a/open/x": True, "/a/open/shut": False, "/x/print": False,
    "/x/print/more": True, "/x.php?y=1": False, "/b/c": False, "/b/d": True,
}  # fmt: skip


def test_the_longest_rule_for_our_own_name_decides() -> None:
    routes = {"/robots.txt": Reply(ROBOTS.encode(), headers=TEXT), "/": page("start", *ALLOWED)}
    with serving(routes | {path: page(path) for path in ALLOWED}) as server:
        rows = crawled(server)
        assert {path: server.asked[path] == 1 for path in ALLOWED} == ALLOWED
    found = {path: str(rows[path].outcome) for path in ALLOWED}
    assert found == {path: "ok" if ALLOWED[path] else "robots_disallowed" for path in ALLOWED}


@pytest.mark.parametrize(
    "robots",
    [Reply(b"", 404), Reply(b"", 200, TEXT), page("single page application"), redirect("/r")],
)
def test_robots_txt_is_asked_once_whatever_it_answers(robots: Route) -> None:
    paths = [f"/p{n}" for n in range(5)]
    routes = {"/robots.txt": robots, "/r": Reply(b"", headers=TEXT), "/": page("start", *paths)}
    with serving(routes | {path: page(path) for path in paths}) as server:
        rows = crawled(server)
        assert server.asked["/robots.txt"] == 1
        assert len(server.agents) == 1
        assert server.agents.pop().startswith("QIndexBot/")
    assert len(rows) == 6


@pytest.mark.parametrize("robots", [Reply(b"", 500), Reply(b"", 429), Reply(b"x" * 99, cut=50)])
def test_a_robots_txt_that_fails_closes_the_site_for_this_night(robots: Reply) -> None:
    with serving({"/": page("start", "/a"), "/a": page("a")}) as server:
        first = list(crawled(server).values())
        server.routes["/robots.txt"] = robots
        server.forget()
        rows = crawled(server, last=first, retries=0)
        assert set(server.asked) == {"/robots.txt"}
    assert {str(row.state) for row in rows.values()} == {"unknown"}
    assert all(row.markdown for row in rows.values())


def test_the_delay_that_robots_txt_asks_for_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = wound_pace(monkeypatch)
    routes = {"/robots.txt": Reply(b"User-agent: *\nCrawl-delay: 4", headers=TEXT)}
    with serving(routes | {"/": page("start", "/a"), "/a": page("a")}) as server:
        assert len(crawled(server, sitemap="off")) == 2
    assert len(clock.slept) == 1
    assert 4 <= clock.slept[0] <= 4.8


ASKING: list[tuple[str, dict[str, str], str, bool]] = [
    ("<meta name=robots content=noindex>", {}, "noindex", True),
    ("<meta name=ROBOTS content='NOINDEX, nofollow'>", {}, "noindex", False),
    ("<meta name=robots content=none>", {}, "noindex", False),
    ("<meta name=robots content=nofollow>", {}, "ok", False),
    ("<meta name=qindexbot content=noindex>", {}, "noindex", True),
    ("<meta name=googlebot content=noindex>", {}, "ok", True),
    ("", {"X-Robots-Tag": "noindex"}, "noindex", True),
    ("", {"X-Robots-Tag": "none"}, "noindex", False),
    ("", {"X-Robots-Tag": "googlebot: noindex"}, "ok", True),
    ("", {"X-Robots-Tag": "unavailable_after: 1 Jan 2030, nofollow"}, "ok", False),
]


def test_what_a_page_asks_of_robots_is_done() -> None:
    asking = {
        f"/p{n}": Reply(
            page(f"page {n}", f"/next{n}", head=head).body,
            headers={"Content-Type": "text/html", **headers},
        )
        for n, (head, headers, _, _) in enumerate(ASKING)
    }
    with serving({"/": page("start", *asking), **asking}) as server:
        rows = crawled(server)
    found = [(str(rows[f"/p{n}"].outcome), f"/next{n}" in rows) for n in range(len(ASKING))]
    assert found == [(outcome, follows) for _, _, outcome, follows in ASKING]


def test_a_link_marked_nofollow_is_followed_only_where_the_site_says_so() -> None:
    start = Reply(page("start").body + b'<a rel="nofollow noopener" href="/a">a</a>')
    with serving({"/": start, "/a": page("a")}) as server:
        assert list(crawled(server)) == ["/"]
        assert list(crawled(server, follow_nofollow=True)) == ["/", "/a"]

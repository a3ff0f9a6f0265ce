"""What a page keeps that could not be read tonight, and what takes it away."""

from dataclasses import asdict

import pytest

from qindex_pipeline.crawl import crawl, keep_last_good
from qindex_pipeline.sites import Site
from qindex_pipeline_tests.crawl.hostile import Reply, page, serving


@pytest.mark.parametrize(
    ("status", "outcome", "is_kept"),
    [(500, "http_5xx", True), (429, "http_429", True), (404, "http_404", False),
     (410, "http_410", False), (403, "http_403", True)],
)  # fmt: skip
def test_only_an_answer_takes_a_pages_content_away(status: int, outcome: str, is_kept: bool):
    with serving({"/": page("start", "/a"), "/a": page("lamp")}) as server:
        site = Site(key="mysite", start_url=server.base + "/")
        last = crawl(site)
        server.routes["/a"] = Reply(b"<h1>no</h1>", status)
        now = crawl(site, known_urls=[row.url for row in last])
    kept = keep_last_good(now, [asdict(row) for row in last])
    row = next(row for row in kept if row.url.endswith("/a"))
    before = next(row for row in last if row.url.endswith("/a"))
    assert row.outcome == outcome
    assert row.status == status
    assert (row.markdown is not None) is is_kept
    if is_kept:
        assert (row.page_id, row.content_hash) == (before.page_id, before.content_hash)
        assert "lamp" in (row.markdown or "")


def test_a_page_that_answers_has_tonights_content():
    with serving({"/": page("start")}) as server:
        site = Site(key="mysite", start_url=server.base + "/")
        last = crawl(site)
        server.routes["/"] = page("changed")
        now = crawl(site)
    assert keep_last_good(now, [asdict(row) for row in last]) == now

"""What has gone wrong with pages in a browser: statuses, retries, and requests nobody needs."""

from qindex_pipeline.crawl import CrawlSettings, crawl
from qindex_pipeline.sites import Site
from qindex_pipeline_tests.crawl.hostile import (
    Asked,
    Reply,
    outcomes,
    page,
    redirect,
    serving,
)
from qindex_pipeline_tests.gated.chromium import CHROMIUM, NEEDS_CHROMIUM

pytestmark = NEEDS_CHROMIUM


def test_a_crawl_in_the_browser_judges_answers_as_one_over_http() -> None:
    def busy(asked: Asked) -> Reply:
        return page("at last") if asked.count > 2 else Reply(page("busy").body, 429)

    declared = b'<?xml version="1.0" encoding="UTF-8"?>' + page("declared").body
    routes = {
        "/": page(
            "start", "/none", "/boom", "/busy", "/go", "/pdf", "/tiny", "/x", "/dup1", "/dup2"
        ),
        "/none": Reply(page("A long friendly page about nothing").body, 404),
        "/boom": Reply(page("A long friendly page about trouble").body, 500),
        "/busy": busy,
        "/go": redirect("http://127.0.0.2:1/"),
        "/pdf": Reply(b"%PDF-1.7", headers={"Content-Type": "application/pdf"}),
        "/tiny": Reply(b"<p>It listens on port 80."),
        "/x": Reply(declared, headers={"Content-Type": "application/xhtml+xml"}),
        "/dup1": page("twin"),
        "/dup2": page("twin"),
    }
    with serving(routes) as server:
        site = Site(key="x", start_url=server.base, render="browser", retries=2)
        pages = crawl(site, settings=CrawlSettings(chromium=str(CHROMIUM))).settled.pages
        asked = set(server.asked)
        assert {agent.split("/")[0] for agent in server.agents} == {"QIndexBot"}
    assert outcomes({row.url.removeprefix(server.base): row for row in pages}) == {
        "/": "ok", "/none": "http_404", "/boom": "http_5xx", "/busy": "ok",
        "/go": "out_of_scope_redirect", "/pdf": "unsupported_content_type", "/tiny": "ok",
        "/x": "ok", "/dup1": "ok", "/dup2": "duplicate_content",
    }  # fmt: skip
    assert not any("friendly" in (row.markdown or "") for row in pages)
    assert "/favicon.ico" not in asked

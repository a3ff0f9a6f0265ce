"""Engine over HTTP, against servers on loopback."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qindex_pipeline.crawl.address import Addresses
from qindex_pipeline.crawl.engines import crawl4ai_seams
from qindex_pipeline.crawl.engines.engine import Engine
from qindex_pipeline.crawl.engines.http_strategy import HttpStrategy
from qindex_pipeline.crawl.engines.visit import as_crawl4ai, current_visit
from qindex_pipeline.crawl.fetch.http import HttpFetcher
from qindex_pipeline.crawl.outcomes import Outcome
from qindex_pipeline.crawl.result import Known, Request, Result, Validators
from qindex_pipeline.ids import content_hash
from qindex_pipeline.sites import Site
from qindex_pipeline_tests.crawl.hostile import HTML, Asked, Reply, Server, page, serving

MARKDOWN = {"Content-Type": "text/markdown; charset=utf-8"}


def get(
    server: Server,
    *requests: Request,
    gate: Callable[[str], Outcome | None] = lambda _: None,
    **options: Any,
) -> list[Result]:
    """What an engine for the server gets, in the order of the requests."""
    site = Site(key="hostile", start_url=server.base, retries=0, **options)

    async def everything() -> list[Result]:
        async with HttpFetcher(site, Addresses()) as fetcher, Engine(fetcher, gate, site) as engine:
            return list(await asyncio.gather(*map(engine.get, requests)))

    return asyncio.run(everything())


def stored(html: str, *, is_current: bool, keeps_html: bool = True) -> Known:
    """What the last run stored of a page that came with an ETag."""
    kept = html if keeps_html else None
    return Known(Validators(etag='"1"'), content_hash(html), is_current, lambda: kept)


def test_a_page_comes_with_its_extraction_and_its_html() -> None:
    routes = {"/a": page("some page")}
    with serving(routes) as server:
        [result] = get(server, Request(server.base + "/a"))
    assert result.fetch.outcome is Outcome.OK
    assert result.extraction is not None
    assert "This is the text of some page" in result.extraction.markdown
    assert result.html == routes["/a"].body.decode()


def test_importing_the_engine_writes_nothing_to_the_home_folder(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path)}
    environment.pop("CRAWL4_AI_BASE_DIRECTORY", None)
    code = "import qindex_pipeline.crawl.engines.engine"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert list(tmp_path.iterdir()) == []


def test_crawlers_that_begin_at_once_find_the_library_s_files_made(tmp_path: Path) -> None:
    environment = {**os.environ, "CRAWL4_AI_BASE_DIRECTORY": str(tmp_path)}
    code = "import qindex_pipeline.crawl.engines.engine"
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert list(tmp_path.rglob("robots_cache.db")) != []


def test_pages_in_flight_together_keep_their_own_content() -> None:
    names = [f"page {n}" for n in range(12)]
    with serving({f"/{n}": page(name) for n, name in enumerate(names)}) as server:
        results = get(server, *(Request(f"{server.base}/{n}") for n in range(12)))
    assert [result.extraction and result.extraction.h1 for result in results] == [
        f"{name} heading" for name in names
    ]


def test_a_failure_has_no_content() -> None:
    with serving({"/a": Reply(b"<h1>Something broke here, dear reader</h1>", 500)}) as server:
        [result] = get(server, Request(server.base + "/a"))
    assert result == Result(result.fetch)
    assert result.fetch.outcome is Outcome.HTTP_5XX


def test_an_exception_while_reading_is_one_line_and_never_content(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*arguments: object) -> None:
        raise RecursionError("too\ndeep")

    monkeypatch.setattr(crawl4ai_seams, "extract", broken)
    with serving({"/a": page("a")}) as server:
        [result] = get(server, Request(server.base + "/a"))
    assert (result.extraction, result.html) == (None, None)
    assert result.fetch.outcome is Outcome.PARSE_ERROR
    assert result.fetch.error == "RecursionError: too deep"


def test_an_exception_while_fetching_is_one_line_and_never_content() -> None:
    def broken(url: str) -> None:
        raise LookupError(f"no rules\nfor {url}")

    with serving({"/a": Reply(status=302, headers={"Location": "/b"})}) as server:
        [result] = get(server, Request(server.base + "/a"), gate=broken)
    assert result.extraction is None
    assert result.fetch.outcome is Outcome.PARSE_ERROR
    assert result.fetch.error == f"LookupError: no rules for {server.base}/b"


def test_reading_that_never_ends_costs_its_own_page_only(monkeypatch: pytest.MonkeyPatch) -> None:
    async def hanging(self: Any, url: str, **kwargs: Any) -> Any:
        visit = current_visit.get()
        response = await self._fetcher.page(url, lambda _: None)
        visit.arrived(response.fetch, response.text, 0.05 if "hang" in url else 5)
        if "hang" in url:
            await asyncio.Event().wait()
        return as_crawl4ai(visit)

    monkeypatch.setattr(HttpStrategy, "crawl", hanging)
    with serving({"/hang": page("hang"), "/a": page("a")}) as server:
        hung, fine = get(server, Request(server.base + "/hang"), Request(server.base + "/a"))
    assert hung.fetch.outcome is Outcome.TOTAL_TIMEOUT
    assert hung.extraction is None
    assert fine.fetch.outcome is Outcome.OK


@pytest.mark.parametrize(
    ("is_current", "keeps_html", "status", "outcome", "is_read"),
    [
        (True, True, 304, Outcome.NOT_MODIFIED, False),
        (True, False, 304, Outcome.NOT_MODIFIED, False),
        (False, True, 304, Outcome.OK, True),  # another extractor version reads what is stored
        (False, False, 200, Outcome.OK, True),  # nothing to read again: asked in full
    ],
)
def test_a_page_that_is_stored_is_asked_with_its_validators(
    is_current: bool, keeps_html: bool, status: int, outcome: Outcome, is_read: bool
) -> None:
    with serving({"/a": conditional}) as server:
        known = stored(text("old"), is_current=is_current, keeps_html=keeps_html)
        [result] = get(server, Request(server.base + "/a", known))
    assert (result.fetch.status, result.fetch.outcome) == (status, outcome)
    assert (result.extraction is not None) == is_read
    assert result.html == (text("old" if status == 304 else "new") if is_read else None)


@pytest.mark.parametrize(
    ("body", "is_current", "outcome"),
    [
        ("old", True, Outcome.NOT_MODIFIED),
        ("old", False, Outcome.OK),
        ("new", True, Outcome.OK),
    ],
)
def test_equal_bytes_are_not_modified_whatever_the_server_supports(
    body: str, is_current: bool, outcome: Outcome
) -> None:
    with serving({"/a": Reply(text(body).encode())}) as server:
        known = stored(text("old"), is_current=is_current)
        [result] = get(server, Request(server.base + "/a", known))
    assert result.fetch.outcome is outcome
    assert (result.extraction is None) == (outcome is Outcome.NOT_MODIFIED)


def test_a_304_that_nobody_asked_for_is_no_page() -> None:
    with serving({"/a": Reply(status=304)}) as server:
        [result] = get(server, Request(server.base + "/a"))
    assert result.fetch.outcome not in {Outcome.OK, Outcome.NOT_MODIFIED}
    assert result.extraction is None


def test_a_markdown_page_is_its_own_content() -> None:
    body = (
        "Guide\n=====\n\nSee [the next](b.md#x) page.\n\n```\n# no heading\n```\n\n## More `code`\n"
    )
    with serving({"/a.md": Reply(body.encode(), headers=MARKDOWN)}) as server:
        [result] = get(server, Request(server.base + "/a.md"), accept_text=True)
    extraction = result.extraction
    assert extraction is not None
    assert extraction.markdown == extraction.raw_markdown == body.strip()
    assert (extraction.chosen, extraction.chosen_reason) == ("raw", "text/markdown")
    assert (extraction.h1, extraction.head.title) == ("Guide", "Guide")
    assert [(head["level"], head["text"]) for head in extraction.headings] == [
        (1, "Guide"),
        (2, "More code"),
    ]
    assert extraction.head.links == (f"{server.base}/b.md",)
    assert extraction.code_blocks == 1


def test_a_plain_text_page_is_kept_as_it_is() -> None:
    body = "Notes on <b>tags</b>\n\n  indented  text\n"
    with serving(
        {"/a.txt": Reply(body.encode(), headers={"Content-Type": "text/plain"})}
    ) as server:
        [result] = get(server, Request(server.base + "/a.txt"), accept_text=True)
    assert result.extraction is not None
    assert result.extraction.markdown == body.strip()
    assert result.extraction.chosen_reason == "text/plain"
    assert result.extraction.head.title is None


def test_text_pages_are_left_out_unless_the_site_accepts_them() -> None:
    with serving({"/a.md": Reply(b"# A\n\nText of it.", headers=MARKDOWN)}) as server:
        [result] = get(server, Request(server.base + "/a.md"))
    assert result.fetch.outcome is Outcome.UNSUPPORTED_CONTENT_TYPE


def text(word: str) -> str:
    return f"<main><h1>Title</h1><p>A page with {word} text for its readers.</p></main>"


def conditional(asked: Asked) -> Reply:
    """A page with an ETag, for whoever does not know it yet."""
    if asked.headers.get("If-None-Match") == '"1"':
        return Reply(status=304)
    return Reply(text("new").encode(), headers={"Content-Type": HTML, "ETag": '"1"'})

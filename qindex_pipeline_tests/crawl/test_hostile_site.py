"""The hostile site as a whole: what becomes of each address, and what must never happen."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from qindex_pipeline.crawl import Crawled, Page, crawl
from qindex_pipeline.sites import Site
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import RAW_PAGES
from qindex_pipeline_tests.crawl.background import Endless
from qindex_pipeline_tests.crawl.hostile_site import (
    ERROR_MARK,
    MAX_HTML_BYTES,
    HostileSite,
    hostile_site,
)
from qindex_pipeline_tests.crawl.sockets import forget_proxies

RETRIES = 2
ERROR_TEXTS = (
    ERROR_MARK, "Crawl4AI Error", "Error converting HTML", "Error in markdown generation",
    "Traceback (most recent call last)", "Blocked by anti-bot", "%PDF", "\x89PNG", "HTTP/1.1",
)  # fmt: skip
"""What servers and libraries say in place of a page."""


def crawl_of(site: HostileSite, last: Sequence[dict[str, Any]] = (), **options: Any) -> Crawled:
    given = {"timeout": 0.3, "retries": RETRIES, "max_html_bytes": MAX_HTML_BYTES, "max_pages": 300}
    values = {"key": "hostile", "start_url": site.server.base + "/"} | given | options
    return crawl(Site.model_validate(values), last=last)


@dataclass(frozen=True)
class Night:
    """What one crawl left, and whom it asked."""

    crawled: Crawled
    asked: Counter[str]
    callers: list[str]

    @property
    def pages(self) -> list[Page]:
        return list(self.crawled.settled.pages)

    @property
    def stored(self) -> list[Page]:
        return [page for page in self.pages if page.markdown is not None]


@dataclass(frozen=True)
class Nights:
    """The site, and two crawls of it, the second with what the first one left."""

    site: HostileSite
    nights: tuple[Night, Night]


@pytest.fixture(scope="module")
def two_nights() -> Iterator[Nights]:
    with pytest.MonkeyPatch.context() as patch, hostile_site() as site:
        forget_proxies(patch)
        nights: list[Night] = []
        last: list[dict[str, Any]] = []
        for _ in range(2):
            site.server.asked.clear()
            crawled = crawl_of(site, last=last)
            asked = Counter(site.server.targets)
            nights.append(Night(crawled, asked, site.other.callers()))
            last = [asdict(page) for page in crawled.settled.pages]
        yield Nights(site, (nights[0], nights[1]))


@pytest.fixture(params=[0, 1], ids=["first night", "second night"])
def night(request: pytest.FixtureRequest, two_nights: Nights) -> Night:
    return two_nights.nights[request.param]


def expected(site: HostileSite, read: str) -> dict[str, str]:
    """The outcome of every address that has a row; `read` is the one of a page that is stored."""
    rows = {case.target: case.outcome for case in site.cases if case.outcome}
    rows = {"/": "ok"} | rows
    return {path: read if outcome == "ok" else outcome for path, outcome in rows.items()}


@pytest.mark.parametrize(("number", "read"), [(0, "ok"), (1, "not_modified")])
def test_every_address_has_the_outcome_that_it_deserves(
    two_nights: Nights, number: int, read: str
) -> None:
    night = two_nights.nights[number]
    base = two_nights.site.server.base
    found = {page.url.removeprefix(base): str(page.outcome) for page in night.pages}
    assert len(found) == len(night.pages)
    assert found == expected(two_nights.site, read)
    assert night.crawled.found.cut_short is None
    assert night.crawled.settled.suspect is None


def test_what_nobody_may_ask_for_is_not_asked(two_nights: Nights, night: Night) -> None:
    cases = two_nights.site.cases
    closed = {
        case.target for case in cases if case.outcome == "robots_disallowed" and not case.answer
    }
    forbidden = {case.target for case in cases if case.outcome is None} | closed
    assert not forbidden & night.asked.keys()
    known = {case.target for case in cases} | {"/", "/robots.txt", "/sitemap.xml"}
    known |= {"/sitemap_index.xml", "/map.xml.gz", "/map-away.xml"}
    assert night.asked.keys() <= known


def test_every_address_is_asked_once_and_again_only_when_it_failed(night: Night) -> None:
    strained = {"/hush", "/drip", "/reset", "/status-line", "/header-bomb", "/boom", "/cut"}
    strained |= {"/429-always", "/429", "/flaky"}
    hops = {path for path in night.asked if path.startswith(("/loop", "/hop"))}
    for path, count in night.asked.items():
        limit = 1 + RETRIES if path in strained else 1
        assert count <= limit or path in hops | {"/new/"}, path
    assert night.asked["/"] == night.asked["/robots.txt"] == 1


def test_the_other_host_sees_no_connection(night: Night) -> None:
    assert night.callers == []


def test_no_error_text_is_documentation(night: Night) -> None:
    for page in night.stored:
        text = f"{page.markdown}{page.raw_markdown}{page.main_markdown}{page.fit_markdown}"
        assert [mark for mark in ERROR_TEXTS if mark in text] == [], page.url


def test_every_stored_page_is_one_of_this_host(two_nights: Nights, night: Night) -> None:
    base = two_nights.site.server.base + "/"
    for page in night.stored:
        urls = (page.url, page.final_url or "", page.canonical_url or "", *(page.links or ()))
        assert [url for url in urls if not url.startswith(base)] == []


def test_no_page_is_stored_twice(night: Night) -> None:
    for identity in ("url", "page_id", "canonical_url", "content_hash", "markdown"):
        values = [getattr(page, identity) for page in night.stored]
        assert [value for value, count in Counter(values).items() if count > 1] == [], identity


def test_every_row_fits_the_table_and_comes_back(night: Night, tmp_path: Path) -> None:
    store = ParquetStore(str(tmp_path))
    store.write(RAW_PAGES, "hostile", night.pages)
    assert store.read(RAW_PAGES, "hostile").num_rows == len(night.pages)


def test_errors_are_one_short_line(night: Night) -> None:
    for page in night.pages:
        error = page.error or ""
        assert len(error) <= 300
        assert "\n" not in error
        assert ".py" not in error


def test_a_second_night_changes_no_content(two_nights: Nights) -> None:
    first, second = (
        {page.url: (page.page_id, page.content_hash) for page in night.stored}
        for night in two_nights.nights
    )
    assert first == second


def test_texts_in_other_encodings_read_right(two_nights: Nights) -> None:
    base = two_nights.site.server.base
    h1 = {page.url.removeprefix(base): page.h1 for page in two_nights.nights[0].stored}
    assert [h1[path] for path in ("/meta-latin", "/odd-charset", "/utf16", "/sjis")] == [
        "Meta größe heading", "Größe heading", "Wide größe heading", "日本語 heading",
    ]  # fmt: skip


def test_endless_bodies_are_left_as_soon_as_that_is_clear(two_nights: Nights) -> None:
    answers = {case.target: case.answer for case in two_nights.site.cases}
    for path in ("/endless", "/download"):
        body = answers[path]
        assert isinstance(body, Endless)
        # What lies in the sockets' buffers, for each of two nights; the body is 1 GB.
        assert 0 < body.sent < 40_000_000


def test_credentials_in_a_link_are_neither_sent_nor_kept(two_nights: Nights) -> None:
    assert not any("authorization" in asked.headers for asked in two_nights.site.server.asked)
    for page in two_nights.nights[1].pages:
        addresses = (page.url, page.final_url, page.canonical_url, page.parent_url, page.links)
        assert "secret@" not in f"{addresses} {page.error}"


@pytest.mark.parametrize("limit", [1, 2, 9])
def test_exactly_as_many_pages_are_stored_as_are_wanted(limit: int) -> None:
    with hostile_site() as site:
        crawled = crawl_of(site, max_pages=limit, retries=0, timeout=0.2)
        assert site.other.callers() == []
    assert sum(page.markdown is not None for page in crawled.settled.pages) == limit

"""One page on its way through crawl4ai, and what becomes of it there."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from qindex_pipeline.crawl.engines.crawl4ai_library import AsyncCrawlResponse
from qindex_pipeline.crawl.extract.extraction import Extraction
from qindex_pipeline.crawl.outcomes import FetchOutcome, Outcome, one_line
from qindex_pipeline.crawl.result import Request
from qindex_pipeline.ids import content_hash

GRACE_SECONDS = 5.0
"""For what follows a fetch, which has a limit of its own: extraction, and crawl4ai's part."""


@dataclass
class Visit:
    """One page on its way through crawl4ai: what is asked, and what has come of it so far.

    `html` is the body to read, `clock` the time limit of the whole visit: none while the fetcher
    works, which bounds itself, and `GRACE_SECONDS` after it.
    """

    request: Request
    clock: asyncio.Timeout
    fetch: FetchOutcome | None = None
    html: str = ""
    extraction: Extraction | None = None
    error: str | None = None

    def arrived(self, fetch: FetchOutcome, html: str, seconds: float = GRACE_SECONDS) -> None:
        """Note what was fetched; what remains to be done has `seconds`."""
        self.fetch, self.html = fetch, html
        self.clock.reschedule(asyncio.get_running_loop().time() + seconds)

    @contextmanager
    def noting_errors(self) -> Generator[None]:
        """Note in one line what is raised; crawl4ai wraps it in lines of its source code.

        The fetcher and the gate promise not to raise, but the parsers, the converter and the
        browser's driver are foreign and can raise anything, which costs this page only.
        """
        try:
            yield
        except Exception as error:
            self.error = one_line(f"{type(error).__name__}: {error}")
            raise


# An `arun` calls our strategy and our generator in one task, but hands neither the other's object.
current_visit: ContextVar[Visit] = ContextVar("current_visit")


def unless_unchanged(fetch: FetchOutcome, request: Request, html: str) -> tuple[FetchOutcome, str]:
    """`not_modified` for the very body that is stored and was read by the code of now."""
    known = request.known
    if known is None or not known.holds_at(fetch.final_url):
        return fetch, html
    if content_hash(html) != known.raw_html_hash:
        return fetch, html
    return replace(fetch, outcome=Outcome.NOT_MODIFIED), ""


# crawl4ai computes a schema of every page's HTML, which nobody reads here and which costs as much
# as our whole extraction: the visit carries the body to our generator past it.
_STAND_IN = "<html><body>a page</body></html>"


def as_crawl4ai(visit: Visit) -> AsyncCrawlResponse:
    """What crawl4ai wants to know of a fetch: that there is a body, not which."""
    assert visit.fetch is not None, "the visit's page has arrived"
    return AsyncCrawlResponse(
        html=_STAND_IN if visit.html else "",
        response_headers={},
        status_code=visit.fetch.status or 0,
        redirected_url=visit.fetch.final_url,
    )

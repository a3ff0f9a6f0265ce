"""The strategy that fetches pages over HTTP, with conditions where a page is stored."""

from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from qindex_pipeline.crawl.engines.crawl4ai_library import AsyncCrawlerStrategy, AsyncCrawlResponse
from qindex_pipeline.crawl.engines.visit import as_crawl4ai, current_visit, unless_unchanged
from qindex_pipeline.crawl.fetch.http import Gate, HttpFetcher, Response
from qindex_pipeline.crawl.outcomes import FetchOutcome, Outcome
from qindex_pipeline.crawl.result import Request, Validators
from qindex_pipeline.sites import Site


class HttpStrategy(AsyncCrawlerStrategy):
    """Fetches the page of the current visit over HTTP and never raises for one."""

    def __init__(self, fetcher: HttpFetcher, gate: Gate, site: Site) -> None:
        """Fetch with `fetcher`, following the redirects that `gate` lets through."""
        self._fetcher, self._gate, self._site = fetcher, gate, site

    async def __aenter__(self) -> Self:
        """Nothing to open: the session belongs to the fetcher."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing to close."""

    async def crawl(self, url: str, **kwargs: Any) -> AsyncCrawlResponse:  # noqa: ARG002  the seam's
        """Fetch `url`; the response is empty unless there is a body to read."""
        visit = current_visit.get()
        with visit.noting_errors():
            stored, validators = self._conditions(visit.request)
            response = await self._fetcher.page(url, self._gate, validators)
            visit.arrived(*_settled(response, visit.request, stored))
        return as_crawl4ai(visit)

    def _conditions(self, request: Request) -> tuple[str | None, Validators | None]:
        """The stored HTML where it may have to be read again, and the validators to send.

        Where pages may be shown in the browser all are asked for in full: a shell may be the
        same while the data that fills it has changed. So are text pages of an older extractor
        version: a 304 need not say what type of text the stored one is.
        """
        known = request.known
        if known is None or self._site.render != "http":
            return None, None
        if known.is_current:
            return None, known.validators
        stored = None if self._site.accept_text else known.html()
        return stored, known.validators if stored is not None else None


def _settled(response: Response, request: Request, stored: str | None) -> tuple[FetchOutcome, str]:
    """The outcome of a fetch in view of what is stored of the page, and the body to read."""
    fetch, known = response.fetch, request.known
    if fetch.outcome is Outcome.OK:
        return unless_unchanged(fetch, request, response.text)
    if fetch.outcome is not Outcome.NOT_MODIFIED:
        return fetch, ""
    if known is not None and known.is_current:
        # The same page at another address: what is relative in it leads elsewhere now.
        moved = None if known.holds_at(fetch.final_url) else known.html()
        return (fetch, "") if moved is None else (replace(fetch, outcome=Outcome.OK), moved)
    if stored is not None:
        return replace(fetch, outcome=Outcome.OK), stored
    error = "HTTP 304 to a request without conditions"
    return replace(fetch, outcome=Outcome.PARSE_ERROR, error=error), ""

"""Gets pages: which strategy asks for a page, and what crawl4ai's answer means.

One `arun` of crawl4ai for each page. `get` never raises for what a server, a page, the browser or
crawl4ai does: every way to fail is an outcome.
"""

import asyncio
import math
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from qindex_pipeline.crawl.engines.browser import BrowserStrategy
from qindex_pipeline.crawl.engines.crawl4ai_library import AsyncWebCrawler
from qindex_pipeline.crawl.engines.crawl4ai_seams import crawler_of, run_config
from qindex_pipeline.crawl.engines.http_strategy import HttpStrategy
from qindex_pipeline.crawl.engines.visit import Visit, current_visit
from qindex_pipeline.crawl.extract.rendering import needs_javascript
from qindex_pipeline.crawl.extract.text_pages import TEXT_TYPES
from qindex_pipeline.crawl.fetch.http import Gate, HttpFetcher
from qindex_pipeline.crawl.outcomes import FetchOutcome, Outcome, one_line
from qindex_pipeline.crawl.result import Request, Result
from qindex_pipeline.errors import WorkError
from qindex_pipeline.sites import Site

_BROWSER_SHARE = 0.2  # of a site's pages; one that needs more is a case for `render: browser`
_MIN_BROWSER_PAGES = 5


class Engine:
    """Gets pages: a crawl4ai crawler for each way to fetch, one `arun` for each page."""

    def __init__(
        self, fetcher: HttpFetcher, gate: Gate, site: Site, chromium: str | None = None
    ) -> None:
        """Wire our strategies into crawlers.

        Args:
            fetcher: Asks the servers.
            gate: Judges redirect targets.
            site: How its pages are fetched and read.
            chromium: The browser's executable, None for Playwright's own.
        """
        self._site, self._config = site, run_config(site)
        self._browser = BrowserStrategy(fetcher, gate, site, chromium)
        self._over_http = crawler_of(HttpStrategy(fetcher, gate, site))
        self._in_browser = crawler_of(self._browser)
        shared = math.ceil(_BROWSER_SHARE * site.max_pages)
        self._browser_pages = max(_MIN_BROWSER_PAGES, shared)

    async def __aenter__(self) -> Self:
        """Start the crawlers; a browser starts with the first page that needs it."""
        await self._over_http.start()
        await self._in_browser.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the crawlers, and the browser."""
        await self._in_browser.close()
        await self._over_http.close()

    async def get(self, request: Request) -> Result:
        """Fetch and extract one page.

        Raises:
            WorkError: The site's pages are to be shown in a browser, and none can be started.
        """
        if self._site.render == "browser":
            await self._browser.ready()
            return await self._visit(Visit(request, asyncio.timeout(None)), self._in_browser)
        result = await self._visit(Visit(request, asyncio.timeout(None)), self._over_http)
        return await self._filled(request, result) if _is_shell(result) else result

    async def _filled(self, request: Request, shell: Result) -> Result:
        """A page that JavaScript fills, from the browser where the site's options let it."""
        if self._site.render != "auto":
            return _required(shell, "only JavaScript fills this page; set render: auto or browser")
        if self._browser_pages < 1:
            return _required(shell, "more pages need JavaScript than render: auto shows")
        self._browser_pages -= 1
        try:
            await self._browser.ready()
        except WorkError as error:
            return _required(shell, str(error))
        visit = Visit(request, asyncio.timeout(None), shell.fetch, shell.html or "")
        return await self._visit(visit, self._in_browser)

    async def _visit(self, visit: Visit, crawler: AsyncWebCrawler) -> Result:
        begun = datetime.now(UTC)
        current_visit.set(visit)
        try:
            async with visit.clock:
                await crawler.arun(visit.request.url, config=self._config)
        except TimeoutError:
            return _failed(visit, begun, Outcome.TOTAL_TIMEOUT, "the page was not read in time")
        # crawl4ai wraps what our strategies raise, and can raise anything of its own.
        except Exception as error:
            return _failed(visit, begun, Outcome.PARSE_ERROR, f"{type(error).__name__}: {error}")
        return _read(visit, begun)


def _is_shell(result: Result) -> bool:
    extraction, html = result.extraction, result.html
    if extraction is None or html is None or result.fetch.content_type in TEXT_TYPES:
        return False
    return needs_javascript(html, extraction)


def _required(shell: Result, error: str) -> Result:
    return Result(replace(shell.fetch, outcome=Outcome.JS_REQUIRED, error=one_line(error)))


def _read(visit: Visit, begun: datetime) -> Result:
    """What the visit brought; a body without an extraction is a parse error."""
    fetch = visit.fetch
    if fetch is not None and fetch.outcome is not Outcome.OK:
        return Result(fetch)
    if fetch is None or visit.extraction is None:
        error = visit.error or "crawl4ai returned without reading the page"
        return _failed(visit, begun, Outcome.PARSE_ERROR, error)
    return Result(fetch, visit.extraction, visit.html)


def _failed(visit: Visit, begun: datetime, outcome: Outcome, error: str) -> Result:
    fetch = visit.fetch or FetchOutcome(outcome, visit.request.url, begun, requests=1)
    return Result(replace(fetch, outcome=outcome, error=one_line(error)))

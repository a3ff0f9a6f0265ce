"""The strategy that shows pages in Chromium, for what only JavaScript fills.

The page's own address is fetched like any other; then Chromium shows the fetched body. A page
that hangs or crashes costs itself: what is left of its browser is killed, the next page gets a
new one, and pages that were in it beside the culprit are shown again.
"""

import asyncio
from dataclasses import dataclass, replace
from functools import cached_property
from types import TracebackType
from typing import Any, Self

from playwright.async_api import Error

from qindex_pipeline.crawl.engines.browser_resources import Resources
from qindex_pipeline.crawl.engines.browser_tab import Tab
from qindex_pipeline.crawl.engines.chromium import CLOSE_SECONDS, Chromium
from qindex_pipeline.crawl.engines.crawl4ai_library import (
    AsyncCrawlerStrategy,
    AsyncCrawlResponse,
    CacheMode,
    CrawlerRunConfig,
)
from qindex_pipeline.crawl.engines.visit import Visit, as_crawl4ai, current_visit, unless_unchanged
from qindex_pipeline.crawl.extract.text_pages import TEXT_TYPES
from qindex_pipeline.crawl.fetch.http import Gate, HttpFetcher
from qindex_pipeline.crawl.outcomes import FetchOutcome, Outcome, one_line
from qindex_pipeline.errors import WorkError
from qindex_pipeline.sites import Site

_MAX_TABS = 3  # with three tabs Chromium takes about 0.6 GB
_MAX_SECONDS = 60.0  # for a page in the browser, or the site's time-out where that is less
_SETTLING_SHARE = 1 / 3  # of that time is spent waiting for a page that never stops loading
_REASON_LENGTH = 150  # characters, so that what to do stays in a row's error


@dataclass(frozen=True)
class _Failure:
    outcome: Outcome
    error: str
    is_innocent: bool = False  # another page's browser was killed


class BrowserStrategy(AsyncCrawlerStrategy):
    """Fetches pages over HTTP and shows them in a browser that starts with the first of them."""

    def __init__(
        self, fetcher: HttpFetcher, gate: Gate, site: Site, executable: str | None
    ) -> None:
        """Show pages that `fetcher` gets, with redirects that `gate` lets through."""
        self._fetcher, self._gate, self._site = fetcher, gate, site
        self._executable = executable
        self._resources = Resources(fetcher, gate, site)
        self._seconds = min(_MAX_SECONDS, site.timeout)
        self._tabs = asyncio.Semaphore(min(site.concurrency, _MAX_TABS))
        self._starting = asyncio.Lock()
        self._chromium: Chromium | None = None
        self._unavailable: WorkError | None = None

    @cached_property
    def _config(self) -> CrawlerRunConfig:
        languages = self._site.languages
        return CrawlerRunConfig(
            cache_mode=CacheMode.BYPASS,
            verbose=False,
            locale=languages[0] if languages else "en-US",
            # A page that leads elsewhere while it is parsed never reaches a later state.
            wait_until="commit",
            page_timeout=round(self._seconds * 1000),
            body_visibility_timeout=500,  # a hidden body is read too
            delay_before_return_html=0,
        )

    async def __aenter__(self) -> Self:
        """Nothing to open: the browser starts with the first page."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the browser."""
        if self._chromium is not None:
            await self._chromium.stop()

    async def ready(self) -> None:
        """Start the first browser.

        Raises WorkError, at once for every further page, when none can be started. A later
        browser that cannot be started costs the page that needed it.
        """
        if self._unavailable is not None:
            raise self._unavailable
        if self._chromium is None:
            try:
                await self._running()
            except WorkError as error:
                self._unavailable = error
                raise

    async def _running(self) -> Chromium:
        """The browser; starts one where none is alive. Raises WorkError when it cannot."""
        async with self._starting:
            if self._chromium is None or not self._chromium.is_alive:
                self._chromium = await self._replacement()
            return self._chromium

    async def _replacement(self) -> Chromium:
        if self._chromium is not None:
            await self._chromium.kill()
        chromium = Chromium(self._executable, self._seconds * _SETTLING_SHARE)
        try:
            await chromium.start()
        except (Error, OSError) as error:
            await chromium.kill()
            reason = str(error).partition("\n")[0][:_REASON_LENGTH]
            raise WorkError(
                f"site {self._site.key!r}: no browser can be started ({reason}); name a Chromium "
                "in QINDEX_CHROMIUM, or run `playwright install chromium`"
            ) from None
        return chromium

    async def crawl(self, url: str, **kwargs: Any) -> AsyncCrawlResponse:  # noqa: ARG002  the seam's
        """Fetch the current visit's page unless it has been, and show it.

        No validators are sent: the document may be the same shell while its data has changed.
        """
        visit = current_visit.get()
        with visit.noting_errors():
            if visit.fetch is None:
                response = await self._fetcher.page(url, self._gate)
                visit.fetch, visit.html = response.fetch, response.text
            fetch = replace(visit.fetch, mode="browser")
            if fetch.outcome is Outcome.OK and fetch.content_type not in TEXT_TYPES:
                fetch, visit.html = await self._shown(fetch, visit.html)
            visit.arrived(*_settled(fetch, visit))
        return as_crawl4ai(visit)

    async def _shown(self, fetch: FetchOutcome, html: str) -> tuple[FetchOutcome, str]:
        """The fetch and the HTML of a page after its scripts have run.

        A crash counts when it happens twice: it may have been the fault of the page beside.
        """
        begun, crashes = asyncio.get_running_loop().time(), 0
        async with self._tabs:
            while isinstance(found := await self._attempt(fetch.final_url, html), _Failure):
                crashes += not found.is_innocent
                if found.outcome is not Outcome.BROWSER_CRASHED or crashes > 1:
                    return replace(fetch, outcome=found.outcome, error=found.error), ""
        elapsed = fetch.elapsed_ms + round((asyncio.get_running_loop().time() - begun) * 1000)
        return replace(fetch, elapsed_ms=elapsed), found

    async def _attempt(self, url: str, html: str) -> str | _Failure:
        try:
            chromium = await self._running()
        except WorkError as error:
            return _Failure(Outcome.BROWSER_CRASHED, str(error))
        tab = Tab(html, self._resources)
        showing = asyncio.create_task(chromium.show(url, tab, self._config))
        crash = asyncio.create_task(tab.crashed.wait())
        try:
            await asyncio.wait(
                {showing, crash}, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            crash.cancel()
            in_time = showing.done()
            if not in_time:
                await _ended(showing, chromium)
        if in_time:
            return self._result(showing, chromium)
        if tab.crashed.is_set():
            return _Failure(Outcome.BROWSER_CRASHED, "the page crashed the browser")
        return self._timeout()

    def _result(self, showing: "asyncio.Task[str]", chromium: Chromium) -> str | _Failure:
        error = showing.exception()
        if error is None:
            return showing.result()
        if chromium.is_killed:
            return _Failure(Outcome.BROWSER_CRASHED, "the browser was killed", is_innocent=True)
        if chromium.is_alive and "Timeout" in str(error):
            return self._timeout()
        return _Failure(Outcome.BROWSER_CRASHED, one_line(error))

    def _timeout(self) -> _Failure:
        error = f"the page was not shown within {self._seconds:g} s"
        return _Failure(Outcome.BROWSER_TIMEOUT, error)


def _settled(fetch: FetchOutcome, visit: Visit) -> tuple[FetchOutcome, str]:
    if fetch.outcome is not Outcome.OK:
        return fetch, ""
    return unless_unchanged(fetch, visit.request, visit.html)


async def _ended(showing: "asyncio.Task[str]", chromium: Chromium) -> None:
    """End a page that hangs or has crashed; kill its browser when the page does not close."""
    showing.cancel()
    _, running = await asyncio.wait({showing}, timeout=CLOSE_SECONDS)
    if running or not chromium.is_alive:
        await chromium.kill()

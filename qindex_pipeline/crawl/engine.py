"""The seams to crawl4ai: our fetch strategy, our markdown generator, one `arun` a page.

crawl4ai stays the engine through its public extension points. What it would compute beside
the page (its scraping, links and media) is switched off with a third one, because nobody
reads it here and it costs three times our own work. Its `success` is not read either: it
vetoes short pages as blocked. Other fetchers (a browser) plug in as another
`AsyncCrawlerStrategy`.
"""

import asyncio
import atexit
import os
import shutil
import tempfile
from contextvars import ContextVar
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from html_to_markdown.exceptions import ConversionError

from qindex_pipeline.crawl.extraction import Extraction, extract
from qindex_pipeline.crawl.http import TOTAL_SECONDS, Gate, HttpFetcher
from qindex_pipeline.crawl.outcomes import FetchOutcome, Outcome, one_line
from qindex_pipeline.crawl.result import Result


def _prepare_environment() -> None:
    """Keep crawl4ai's advertisements off the console and its files out of the home folder."""
    os.environ.setdefault("CRAWL4AI_NO_CLOUD_NOTICE", "1")
    if "CRAWL4_AI_BASE_DIRECTORY" not in os.environ:
        folder = tempfile.mkdtemp(prefix="qindex-crawl4ai-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["CRAWL4_AI_BASE_DIRECTORY"] = folder


# crawl4ai reads both variables while it is imported.
_prepare_environment()

from crawl4ai import AsyncWebCrawler, BrowserConfig, CacheMode, CrawlerRunConfig  # noqa: E402
from crawl4ai.async_crawler_strategy import AsyncCrawlerStrategy  # noqa: E402
from crawl4ai.async_logger import AsyncLoggerBase  # noqa: E402
from crawl4ai.content_scraping_strategy import ContentScrapingStrategy  # noqa: E402
from crawl4ai.markdown_generation_strategy import MarkdownGenerationStrategy  # noqa: E402
from crawl4ai.models import (  # noqa: E402
    AsyncCrawlResponse,
    MarkdownGenerationResult,
    ScrapingResult,
)

_GRACE_SECONDS = 5.0  # for extraction, on top of the fetch's own limit

# Fetch and extraction of one page run in one task; this carries the fetch to the extraction,
# which crawl4ai tells only a base URL that a page's <base> may have replaced.
_current: ContextVar[FetchOutcome] = ContextVar("current_fetch")


class HttpStrategy(AsyncCrawlerStrategy):
    """Fetches over HTTP; keeps a `FetchOutcome` per URL and never raises for one."""

    def __init__(self, fetcher: HttpFetcher, gate: Gate) -> None:
        """Fetch with `fetcher`, following the redirects that `gate` lets through."""
        self._fetcher, self._gate = fetcher, gate
        self.outcomes: dict[str, FetchOutcome] = {}

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
        """Fetch `url`; the response is empty unless the outcome is `ok`."""
        response = await self._fetcher.page(url, self._gate)
        self.outcomes[url] = response.fetch
        _current.set(response.fetch)
        return AsyncCrawlResponse(
            html=response.text if response.fetch.outcome is Outcome.OK else "",
            response_headers={},
            status_code=response.fetch.status or 0,
            redirected_url=response.fetch.final_url,
        )


class ExtractedMarkdown(MarkdownGenerationResult):
    """crawl4ai's result with our extraction, or why there is none."""

    extraction: Any = None
    error: str | None = None


class MainContentGenerator(MarkdownGenerationStrategy):
    """Runs our extraction on the page's own HTML (crawl4ai's cleaned HTML has no classes)."""

    def __init__(self) -> None:
        """Ask crawl4ai for the raw HTML."""
        super().__init__(content_source="raw_html")

    def generate_markdown(
        self,
        input_html: str,
        base_url: str = "",  # noqa: ARG002  the seam's
        html2text_options: dict[str, Any] | None = None,  # noqa: ARG002  the seam's
        content_filter: Any = None,  # noqa: ARG002  the seam's
        citations: bool = True,  # noqa: ARG002  the seam's
        **kwargs: Any,  # noqa: ARG002  the seam's
    ) -> ExtractedMarkdown:
        """Extract the main content of the page that this task has just fetched."""
        fetch = _current.get()
        if fetch.outcome is not Outcome.OK:
            return _extracted(None)
        try:
            return _extracted(extract(input_html, fetch.final_url))
        except ConversionError as error:
            return _extracted(None, one_line(error))


class _NoScraping(ContentScrapingStrategy):
    """Leaves out crawl4ai's own reading of the page."""

    logger: Any = None  # crawl4ai sets it

    def scrap(self, url: str, html: str, **kwargs: Any) -> ScrapingResult:  # noqa: ARG002  the seam's
        """An empty result."""
        return ScrapingResult(cleaned_html="", success=True)

    async def ascrap(self, url: str, html: str, **kwargs: Any) -> ScrapingResult:
        """The same."""
        return self.scrap(url, html, **kwargs)


class _NoLog(AsyncLoggerBase):
    """crawl4ai's log, which would call every 404 an error: outcomes report what happened."""

    verbose = False

    def _ignore(self, *args: Any, **kwargs: Any) -> None:
        """Write nothing."""

    debug = info = success = warning = error = url_status = error_status = _ignore


class Engine:
    """Gets pages: one crawl4ai crawler for a crawl, one `arun` for each page."""

    def __init__(self, fetcher: HttpFetcher, gate: Gate) -> None:
        """Wire our strategies into a crawler; `gate` judges redirect targets."""
        self._strategy = HttpStrategy(fetcher, gate)
        self._crawler = AsyncWebCrawler(
            crawler_strategy=self._strategy,
            config=BrowserConfig(verbose=False),
            base_directory=os.environ["CRAWL4_AI_BASE_DIRECTORY"],
            logger=_NoLog(),
        )
        # One for the crawl: building it costs crawl4ai 40 ms.
        self._config = CrawlerRunConfig(
            cache_mode=CacheMode.BYPASS,
            verbose=False,
            markdown_generator=MainContentGenerator(),
            scraping_strategy=_NoScraping(),
        )

    async def __aenter__(self) -> Self:
        """Start the crawler."""
        await self._crawler.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the crawler."""
        await self._crawler.close()

    async def get(self, url: str) -> Result:
        """Fetch and extract one page. Never raises for what a server or a page does."""
        begun = datetime.now(UTC)
        try:
            result: Any = await asyncio.wait_for(
                self._crawler.arun(url, config=self._config), TOTAL_SECONDS + _GRACE_SECONDS
            )
        except TimeoutError:
            self._strategy.outcomes.pop(url, None)
            seconds = f"no page within {TOTAL_SECONDS + _GRACE_SECONDS:.0f} s"
            return Result(FetchOutcome(Outcome.TOTAL_TIMEOUT, url, begun, 1, error=seconds))
        fetch = self._strategy.outcomes.pop(url)
        if fetch.outcome is not Outcome.OK:
            return Result(fetch)
        return _read(fetch, result)


def _read(fetch: FetchOutcome, result: Any) -> Result:
    """The extraction that travelled in crawl4ai's result, or a parse error."""
    markdown = result.markdown
    extraction = getattr(markdown, "extraction", None) if markdown is not None else None
    if isinstance(extraction, Extraction):
        return Result(fetch, extraction)
    # crawl4ai turns any exception of the generator into a message that spans lines of source.
    error = getattr(markdown, "error", None) or result.error_message or "no markdown"
    failed = replace(fetch, outcome=Outcome.PARSE_ERROR, error=one_line(error))
    return Result(failed)


def _extracted(extraction: Extraction | None, error: str | None = None) -> ExtractedMarkdown:
    return ExtractedMarkdown(
        raw_markdown=extraction.markdown if extraction is not None else "",
        markdown_with_citations="",
        references_markdown="",
        extraction=extraction,
        error=error,
    )

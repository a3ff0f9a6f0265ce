"""What crawl4ai calls beside a fetch strategy: our markdown generator, nothing of its own.

crawl4ai stays the engine through its public extension points. What it would compute beside
the page (its scraping, links and media, its log) is switched off with further ones, because
nobody reads it here and it costs three times our own work. Its `success` is not read either: it
vetoes short pages as blocked.
"""

import os
from functools import cache
from typing import Any

from qindex_pipeline.crawl.engines.crawl4ai_library import (
    AsyncCrawlerStrategy,
    AsyncLoggerBase,
    AsyncWebCrawler,
    BrowserConfig,
    CacheMode,
    ContentScrapingStrategy,
    CrawlerRunConfig,
    MarkdownGenerationResult,
    MarkdownGenerationStrategy,
    ScrapingResult,
)
from qindex_pipeline.crawl.engines.visit import current_visit
from qindex_pipeline.crawl.extract.extraction import Extraction, ExtractionOptions, extract
from qindex_pipeline.crawl.extract.text_pages import TEXT_TYPES, read_text
from qindex_pipeline.crawl.outcomes import FetchOutcome, Outcome
from qindex_pipeline.sites import Site


class MainContentGenerator(MarkdownGenerationStrategy):
    """Runs our extraction on the page's own HTML (crawl4ai's cleaned HTML has no classes)."""

    def __init__(self, options: ExtractionOptions) -> None:
        """Ask crawl4ai for the raw HTML."""
        super().__init__(content_source="raw_html")
        self._options = options

    def generate_markdown(
        self,
        input_html: str,  # noqa: ARG002  a stand-in; the visit has the body
        base_url: str = "",  # noqa: ARG002  a page's <base> may have replaced it
        html2text_options: dict[str, Any] | None = None,  # noqa: ARG002  the seam's
        content_filter: Any = None,  # noqa: ARG002  the seam's
        citations: bool = True,  # noqa: ARG002  the seam's
        **kwargs: Any,  # noqa: ARG002  the seam's
    ) -> MarkdownGenerationResult:
        """Extract the main content of the current visit's page; the visit carries it."""
        visit = current_visit.get()
        if visit.fetch is not None and visit.fetch.outcome is Outcome.OK:
            with visit.noting_errors():
                visit.extraction = self._read(visit.html, visit.fetch)
        return MarkdownGenerationResult(
            raw_markdown=visit.extraction.markdown if visit.extraction is not None else "",
            markdown_with_citations="",
            references_markdown="",
        )

    def _read(self, body: str, fetch: FetchOutcome) -> Extraction:
        if fetch.content_type in TEXT_TYPES:
            return read_text(body, fetch.final_url, fetch.content_type)
        return extract(body, fetch.final_url, self._options)


class _NoScraping(ContentScrapingStrategy):
    """Leaves out crawl4ai's own reading of the page."""

    logger: Any = None  # crawl4ai sets it

    def scrap(self, url: str, html: str, **kwargs: Any) -> ScrapingResult:  # noqa: ARG002  the seam's
        """An empty result."""
        return ScrapingResult(cleaned_html="", success=True)

    async def ascrap(self, url: str, html: str, **kwargs: Any) -> ScrapingResult:
        """The same."""
        return self.scrap(url, html, **kwargs)


class NoLog(AsyncLoggerBase):
    """crawl4ai's log, which would call every 404 an error: outcomes report what happened."""

    verbose = False

    def _ignore(self, *args: Any, **kwargs: Any) -> None:
        """Write nothing."""

    debug = info = success = warning = error = url_status = error_status = _ignore


def crawler_of(strategy: AsyncCrawlerStrategy) -> AsyncWebCrawler:
    """A crawl4ai crawler that fetches with `strategy`."""
    return AsyncWebCrawler(
        crawler_strategy=strategy,
        config=_browser_config(),
        base_directory=os.environ["CRAWL4_AI_BASE_DIRECTORY"],
        logger=NoLog(),
    )


@cache
def _browser_config() -> BrowserConfig:
    """Once for the process: crawl4ai makes up a user agent for each, which nobody sends."""
    return BrowserConfig(verbose=False)


def run_config(site: Site) -> CrawlerRunConfig:
    """How crawl4ai treats a page of `site`. Made once for a crawl: it costs crawl4ai 40 ms."""
    options = ExtractionOptions(site.content_selector, site.drop_selectors)
    return CrawlerRunConfig(
        cache_mode=CacheMode.BYPASS,
        verbose=False,
        markdown_generator=MainContentGenerator(options),
        scraping_strategy=_NoScraping(),
    )

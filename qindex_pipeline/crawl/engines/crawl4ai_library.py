"""The names of crawl4ai that we use, from an import that leaves no traces.

Every other module takes them from here: crawl4ai reads its environment while it is imported.
"""

import atexit
import os
import shutil
import tempfile


def _prepare_environment() -> None:
    """Keep crawl4ai's advertisements off the console and its files out of the home folder."""
    os.environ.setdefault("CRAWL4AI_NO_CLOUD_NOTICE", "1")
    if "CRAWL4_AI_BASE_DIRECTORY" not in os.environ:
        folder = tempfile.mkdtemp(prefix="qindex-crawl4ai-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["CRAWL4_AI_BASE_DIRECTORY"] = folder


_prepare_environment()

from crawl4ai import AsyncWebCrawler, BrowserConfig, CacheMode, CrawlerRunConfig  # noqa: E402
from crawl4ai.async_crawler_strategy import (  # noqa: E402
    AsyncCrawlerStrategy,
    AsyncPlaywrightCrawlerStrategy,
)
from crawl4ai.async_logger import AsyncLoggerBase  # noqa: E402
from crawl4ai.content_scraping_strategy import ContentScrapingStrategy  # noqa: E402
from crawl4ai.markdown_generation_strategy import MarkdownGenerationStrategy  # noqa: E402
from crawl4ai.models import (  # noqa: E402
    AsyncCrawlResponse,
    MarkdownGenerationResult,
    ScrapingResult,
)
from crawl4ai.utils import RobotsParser  # noqa: E402

# Each crawler opens its cache, of which we read nothing. The file is made here, where an import
# lets in one thread: of two crawlers that begin at once, one would find it locked.
RobotsParser()

__all__ = [
    "AsyncCrawlResponse",
    "AsyncCrawlerStrategy",
    "AsyncLoggerBase",
    "AsyncPlaywrightCrawlerStrategy",
    "AsyncWebCrawler",
    "BrowserConfig",
    "CacheMode",
    "ContentScrapingStrategy",
    "CrawlerRunConfig",
    "MarkdownGenerationResult",
    "MarkdownGenerationStrategy",
    "ScrapingResult",
]

"""One crawl in a process of its own, so that its CPU time and memory are its own.

    python crawl_worker.py ours|peer JOB_JSON OUTPUT_JSON

`ours` is this package; `peer` is crawl4ai's deep crawl over HTTP with its default markdown.
"""

import asyncio
import importlib
import json
import os
import pkgutil
import resource
import sys
import time
from pathlib import Path
from typing import Any

import psutil

Pages = list[dict[str, Any]]


def main() -> None:
    """Import, crawl, write the pages and what both took."""
    who, job_file, output = sys.argv[1:]
    job = json.loads(Path(job_file).read_text(encoding="utf-8"))
    {"ours": import_ours, "peer": import_peer}[who]()
    resting_mb = psutil.Process().memory_info().rss / 1e6
    imports = time.process_time()
    started = time.perf_counter()
    pages = {"ours": crawl_ours, "peer": crawl_peer}[who](job)
    # Before the result is written; Linux counts in KiB, macOS in bytes.
    scale = 1 if sys.platform == "darwin" else 1024
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale / 1e6
    result = {
        "import_cpu_seconds": imports,
        "cpu_seconds": time.process_time() - imports,
        "seconds": time.perf_counter() - started,
        "resting_mb": resting_mb,
        "peak_mb": peak_mb,
        "pages": pages,
    }
    Path(output).write_text(json.dumps(result), encoding="utf-8")


def import_ours() -> None:
    """Import everything that a crawl would import when it begins."""
    import qindex_pipeline.crawl as package

    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)


def crawl_ours(job: dict[str, Any]) -> Pages:
    """Every URL that our crawl asked, with its outcome and markdown."""
    from qindex_pipeline.crawl import crawl
    from qindex_pipeline.sites import Site

    prefixes = (job["prefix"],) if job["prefix"] else ()
    site = Site(
        key=job["key"],
        start_url=job["start"],
        max_pages=job["max_pages"],
        path_prefixes=prefixes,
    )
    crawled: Any = crawl(site)
    return [
        {
            "url": page.url,
            "final_url": page.final_url or page.url,
            "outcome": str(page.outcome),
            "status": page.status,
            "error": page.error,
            "selector": page.selector,
            "markdown": page.markdown,
        }
        for page in _pages(crawled)
    ]


def _pages(crawled: Any) -> Any:
    """The pages of a crawl, which its result holds directly or one level down."""
    found = getattr(crawled, "found", crawled)
    return getattr(found, "pages", found)


def import_peer() -> None:
    """Import crawl4ai without its notices."""
    os.environ["CRAWL4AI_NO_CLOUD_NOTICE"] = "1"
    importlib.import_module("crawl4ai")


def crawl_peer(job: dict[str, Any]) -> Pages:
    """Every result of crawl4ai's breadth-first crawl."""
    return asyncio.run(_crawl_peer(job))


async def _crawl_peer(job: dict[str, Any]) -> Pages:
    from crawl4ai import (
        AsyncWebCrawler,
        BFSDeepCrawlStrategy,
        BrowserConfig,
        CacheMode,
        CrawlerRunConfig,
        DefaultMarkdownGenerator,
        FilterChain,
        HTTPCrawlerConfig,
        URLFilter,
        URLPatternFilter,
    )
    from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy

    filters: list[URLFilter] = [URLPatternFilter([f"*{job['prefix']}/*"])] if job["prefix"] else []
    config = CrawlerRunConfig(
        deep_crawl_strategy=BFSDeepCrawlStrategy(
            max_depth=10, max_pages=job["max_pages"], filter_chain=FilterChain(filters)
        ),
        markdown_generator=DefaultMarkdownGenerator(),
        cache_mode=CacheMode.BYPASS,
        verbose=False,
    )
    downloads = os.environ["CRAWL4_AI_BASE_DIRECTORY"]
    fetching = AsyncHTTPCrawlerStrategy(HTTPCrawlerConfig(downloads_path=downloads))
    async with AsyncWebCrawler(
        crawler_strategy=fetching, config=BrowserConfig(verbose=False)
    ) as crawler:
        results: Any = await crawler.arun(job["start"], config=config)
    return [
        {
            "url": result.url,
            "final_url": result.redirected_url or result.url,
            "outcome": "ok" if result.success else "failed",
            "status": result.status_code,
            "error": result.error_message,
            "markdown": result.markdown.raw_markdown if result.markdown else None,
        }
        for result in results
    ]


if __name__ == "__main__":
    main()

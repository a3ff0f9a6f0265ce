"""From a site to its pages: where to begin, what robots.txt allows, then the run.

`crawl` is what the rest of the pipeline calls. A crawl stores at most `site.max_pages` pages;
every URL that was asked gives one row with its outcome.
"""

import asyncio
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from qindex_pipeline.crawl.address import Addresses
from qindex_pipeline.crawl.folder import seeds, served
from qindex_pipeline.crawl.frontier import Frontier
from qindex_pipeline.crawl.labels import label_pages
from qindex_pipeline.crawl.pages import Page
from qindex_pipeline.crawl.robots import AllowAll, Robots, rules_from
from qindex_pipeline.crawl.run import Run
from qindex_pipeline.crawl.urls import Scope, normalise
from qindex_pipeline.errors import UsageError
from qindex_pipeline.progress import Progress, silent
from qindex_pipeline.sites import Site

if TYPE_CHECKING:
    from qindex_pipeline.crawl.http import HttpFetcher


def crawl(site: Site, *, known_urls: Sequence[str] = (), progress: Progress = silent) -> list[Page]:
    """Crawl a site from synchronous code; see `crawl_site`."""
    return asyncio.run(crawl_site(site, known_urls=known_urls, progress=progress))


async def crawl_site(
    site: Site, *, known_urls: Sequence[str] = (), progress: Progress = silent
) -> list[Page]:
    """Crawl a site and return a row for every URL that was asked, in the order of asking.

    Args:
        site: Where to begin and how many pages to store.
        known_urls: Pages of the last run; they are asked before newly found ones, so that the
            page limit never hides that one of them is gone.
        progress: Hears of every page as it arrives.

    Returns:
        The rows; at most `site.max_pages` of them have the outcome `ok`.

    Raises:
        UsageError: The folder of a folder site does not exist.
        WorkError: The folder holds no HTML page.
    """
    # These import crawl4ai and aiohttp, which takes seconds and is only needed here.
    from qindex_pipeline.crawl.engine import Engine
    from qindex_pipeline.crawl.http import HttpFetcher

    with _source(site) as source:
        async with HttpFetcher(source.addresses) as fetcher:
            robots = AllowAll() if site.folder else await _robots(fetcher, source.starts[0])
            frontier = Frontier(source.scope, source.starts, known_urls)
            run = Run(site, source.scope, robots, frontier, progress)
            async with Engine(fetcher, run.refusal) as engine:
                await run.to_the_end(engine)
    return label_pages(run.pages)


@dataclass(frozen=True)
class _Source:
    """Where a crawl begins, what belongs to it, and where it is really asked."""

    starts: Sequence[str]
    scope: Scope
    addresses: Addresses


@contextmanager
def _source(site: Site) -> Generator[_Source]:
    start = normalise(site.public_url)
    if start is None:
        raise UsageError(f"site {site.key!r}: {site.public_url!r} is not an http(s) address")
    if site.folder is None:
        yield _Source([start], Scope.of(start, site.path_prefixes), Addresses())
        return
    relative = seeds(site.folder, site.key)
    scope = Scope.of(start, site.path_prefixes or (urlsplit(start).path,))
    with served(site.folder) as local:
        starts = [urljoin(start, path) for path in relative]
        yield _Source(starts, scope, Addresses(start, local))


async def _robots(fetcher: "HttpFetcher", start: str) -> Robots:
    response = await fetcher.robots(urljoin(start, "/robots.txt"))
    return rules_from(response.fetch, response.text)

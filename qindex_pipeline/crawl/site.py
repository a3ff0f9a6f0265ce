"""From a site to its pages: what it says of itself, then the run.

`crawl` is what the rest of the pipeline calls. A crawl stores at most `site.max_pages` pages;
every URL that was asked gives one row with its outcome.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from qindex_pipeline.crawl.judge import Judge
from qindex_pipeline.crawl.labels import label_pages
from qindex_pipeline.crawl.last_run import LastRun, Row
from qindex_pipeline.crawl.outcomes import READ
from qindex_pipeline.crawl.run import Crawl, Run, Tools
from qindex_pipeline.crawl.states import Settled, settle
from qindex_pipeline.crawl.survey import surveyed
from qindex_pipeline.progress import Progress, silent
from qindex_pipeline.sites import Site


@dataclass(frozen=True)
class CrawlSettings:
    """What holds for the crawls of every site.

    `chromium` is the browser's executable, None for Playwright's own. Below `suspect_share` of
    the last run's pages a crawl takes nothing away.
    """

    chromium: str | None = None
    suspect_share: float = 0.5


@dataclass(frozen=True)
class Crawled:
    """A crawl, and what it means for the pages of the last run."""

    found: Crawl
    settled: Settled

    @property
    def pages_read(self) -> int:
        """Number of pages whose content is of this run."""
        return sum(page.outcome in READ for page in self.found.pages)


def crawl(
    site: Site,
    *,
    last: Sequence[Row] = (),
    html: Callable[[str], str | None] = lambda _: None,
    settings: CrawlSettings | None = None,
    progress: Progress = silent,
) -> Crawled:
    """Crawl a site.

    Args:
        site: Where to begin and how.
        last: Rows of the raw_pages table of the last run; they are asked again first, and
            what has not changed is neither sent nor read again.
        html: Gives a stored body by its hash, for pages that a new extractor reads again.
        settings: What holds for every site.
        progress: Hears of every page as it arrives.

    Returns:
        What was found, at most `site.max_pages` pages with content, and the rows of the new
        table: those pages, and the ones of the last run whose state is unknown.

    Raises:
        UsageError: The folder of a folder site does not exist, or a variable that an option
            names is not set.
        WorkError: The folder holds no HTML page, or there is no browser.
    """
    settings = settings or CrawlSettings()
    stored = LastRun(last, html, _extractor_version(site))
    return asyncio.run(_crawl(site, stored, settings, progress))


async def _crawl(site: Site, last: LastRun, settings: CrawlSettings, progress: Progress) -> Crawled:
    # It imports crawl4ai, which takes seconds and is only needed here.
    from qindex_pipeline.crawl.engines.engine import Engine

    async with surveyed(site) as (survey, fetcher):
        for note in survey.notes:
            progress.warn(note)
        frontier = survey.frontier(site, last)
        judge = Judge(site, survey.source.scope, _extractor_version(site))
        run = Run(site, survey.source.scope, survey.robots, frontier, judge, last)
        async with Engine(fetcher, run.refusal, site, settings.chromium) as engine:
            tools = Tools(engine, fetcher.pace, survey.twins)
            found = await run.to_the_end(tools, survey.seeds, progress)
    settled = settle(found, last, site, survey.source.scope, settings.suspect_share)
    return Crawled(found, Settled(label_pages(settled.pages), settled.suspect))


def _extractor_version(site: Site) -> str:
    """Of the code and of the options that decide what is read from a page."""
    from qindex_pipeline.crawl.extract.extraction import ExtractionOptions, extractor_version

    options = ExtractionOptions(site.content_selector, site.drop_selectors)
    return extractor_version(options) + ("+twins" if site.prefer_markdown else "")

"""One crawl as it runs: what is asked next, and when it ends.

Knows no network: an `Engine` gets the pages, so everything here depends on the site alone.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from qindex_pipeline.crawl.frontier import Frontier
from qindex_pipeline.crawl.judge import Judge, urls_of
from qindex_pipeline.crawl.last_run import LastRun
from qindex_pipeline.crawl.outcomes import READ, Outcome, State
from qindex_pipeline.crawl.pages import Candidate, Page
from qindex_pipeline.crawl.result import Request, Result
from qindex_pipeline.crawl.robots import RobotsOfHosts
from qindex_pipeline.crawl.urls import Scope
from qindex_pipeline.progress import Progress
from qindex_pipeline.sites import Site

if TYPE_CHECKING:
    from qindex_pipeline.crawl.discovery.twin_reader import TwinReader
    from qindex_pipeline.crawl.engines.engine import Engine
    from qindex_pipeline.crawl.fetch.pace import Pace

_STAGE = "raw_pages"


@dataclass(frozen=True)
class Crawl:
    """What a crawl found.

    `pages` has a row for each URL that was asked, in the order of asking. `cut_short` says why
    the crawl ended before it had seen all (`budget_exhausted`, `site_unavailable`), None when
    it came to its end. `requests` counts those for pages, redirects and repetitions included.
    `bodies` holds the HTML of what was read anew, by its hash.
    """

    # asyncio writes the result of a finished task out, which would double what a crawl needs.
    pages: Sequence[Page] = field(repr=False)
    cut_short: Outcome | None
    requests: int
    seconds: float
    bodies: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


@dataclass(frozen=True)
class Tools:
    """What a run asks with: who gets pages, who knows whether the host still answers.

    `twins` replaces content by a page's markdown twin, where the site prefers that.
    """

    engine: "Engine"
    pace: "Pace"
    twins: "TwinReader | None" = None


class Run:
    """The state of one crawl: rows so far, what is stored, what is queued."""

    def __init__(
        self,
        site: Site,
        scope: Scope,
        robots: RobotsOfHosts,
        frontier: Frontier,
        judge: Judge,
        last: LastRun,
    ) -> None:
        """Begin with what is queued in `frontier`."""
        self._site, self._scope, self._robots = site, scope, robots
        self._frontier, self._judge, self._last = frontier, judge, last
        self._requests = 0
        self._failed = 0
        self._kept = 0  # pages that have content in the end
        self._pages: list[Page] = []
        self._bodies: dict[str, str] = {}
        self._begun = time.monotonic()

    def refusal(self, target: str) -> Outcome | None:
        """Why a redirect to `target` is not followed, None when it is."""
        if not self._scope.contains(target):
            return Outcome.OUT_OF_SCOPE_REDIRECT
        if self._judge.is_stored(target):
            return Outcome.DUPLICATE_URL
        return self._robots.refusal(target)

    async def to_the_end(
        self, tools: Tools, later: Sequence[Candidate], progress: Progress
    ) -> Crawl:
        """Ask batch after batch until the limit, the budget, the site or the queue ends it.

        The members of a batch are in flight together and handled in the queue's order; a batch
        is never larger than the pages that are still wanted. So the result depends on the site
        alone, not on who answers first, and no page is fetched to be thrown away.

        Args:
            tools: Asks.
            later: What is queued behind the links of the first batch (the sitemap's pages).
            progress: Hears of every page.
        """
        while batch := self._frontier.take(self._free()):
            results = await asyncio.gather(*(self._get(tools, item) for item in batch))
            for candidate, result in zip(batch, results, strict=True):
                self._handle(candidate, result)
                self._tell(progress)
            self._frontier.add(later)
            later = ()
            if tools.pace.unavailable is not None:
                return self._ended(Outcome.SITE_UNAVAILABLE)
        is_spent = self._left() <= 0 and len(self._frontier) > 0
        return self._ended(Outcome.BUDGET_EXHAUSTED if is_spent else None)

    def _free(self) -> int:
        wanted = self._site.max_pages - self._kept
        return max(0, min(self._site.concurrency, wanted, self._left()))

    def _left(self) -> int:
        return self._site.request_budget - self._requests

    def _ended(self, cut_short: Outcome | None) -> Crawl:
        seconds = round(time.monotonic() - self._begun, 1)
        return Crawl(self._pages, cut_short, self._requests, seconds, self._bodies)

    async def _get(self, tools: Tools, candidate: Candidate) -> Result:
        refused = self._robots.refused(candidate.url)
        if refused is not None:
            return Result(refused)
        result = await tools.engine.get(Request(candidate.url, self._last.known(candidate.url)))
        if tools.twins is None or result.extraction is None:
            return result
        better = await tools.twins.better(result.fetch, result.extraction)
        return replace(result, extraction=better)

    def _handle(self, candidate: Candidate, result: Result) -> None:
        self._requests += result.fetch.requests
        stored = self._last.row(candidate.url)
        page = self._judge.page(candidate, result, stored)
        self._pages.append(page)
        self._failed += page.state is State.UNKNOWN
        self._frontier.add_links(candidate, page.final_url or page.url, page.links or ())
        if page.outcome in READ:
            self._frontier.close(urls_of(page))
            if result.html is not None and page.raw_html_hash is not None:
                self._bodies[page.raw_html_hash] = result.html
        # A known page that cannot be read keeps its content, and its place under the limit.
        if page.outcome in READ or (page.state is State.UNKNOWN and stored is not None):
            self._kept += 1

    def _tell(self, progress: Progress) -> None:
        """A line for people: `12 fetched, 9 kept, 40 queued, 1 failed, 3.1 pages/s`."""
        fetched = len(self._pages)
        rate = fetched / max(time.monotonic() - self._begun, 0.001)
        queued, failed = len(self._frontier), self._failed
        note = f"{fetched} fetched, {queued} queued, {failed} failed, {rate:.1f} pages/s"
        progress(_STAGE, self._kept, self._site.max_pages, note)

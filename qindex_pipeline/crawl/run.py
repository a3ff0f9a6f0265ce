"""One crawl as it runs: which answers become pages, which URLs are queued, when it ends.

Knows no network: an `Engine` gets the pages, so everything here depends on the site alone.
"""

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from qindex_pipeline.crawl.frontier import Frontier
from qindex_pipeline.crawl.outcomes import EMPTY_WORDS, FetchOutcome, Outcome
from qindex_pipeline.crawl.pages import Candidate, Page, failed_page, markdown_hash
from qindex_pipeline.crawl.result import Result
from qindex_pipeline.crawl.robots import Robots, Unavailable
from qindex_pipeline.crawl.urls import Scope
from qindex_pipeline.ids import content_hash
from qindex_pipeline.progress import Progress
from qindex_pipeline.sites import Site

if TYPE_CHECKING:
    from qindex_pipeline.crawl.engine import Engine
    from qindex_pipeline.crawl.extraction import Extraction

_STAGE = "raw_pages"
_IN_FLIGHT = 4
_SOFT_404 = re.compile(
    r"\b404\b|\b(page|file|document) (was |could )?not (be )?found\b|^not found$|no longer exists",
    re.IGNORECASE,
)
_SOFT_404_WORDS = 80


class Run:
    """The state of one crawl: rows so far, what is stored, what is queued."""

    def __init__(
        self,
        site: Site,
        scope: Scope,
        robots: Robots,
        frontier: Frontier,
        progress: Progress,
    ) -> None:
        """Begin with what is queued in `frontier`; `pages` collects the rows."""
        self._site, self._scope = site, scope
        self._robots, self._frontier, self._progress = robots, frontier, progress
        self._urls: set[str] = set()  # every URL that leads to a stored page
        self._hashes: set[str] = set()
        self._stored = 0
        self._budget = 3 * site.max_pages + 50  # requests; a site of failures must end too
        self.pages: list[Page] = []

    def refusal(self, target: str) -> Outcome | None:
        """Why a redirect to `target` is not followed, None when it is."""
        if not self._scope.contains(target):
            return Outcome.OUT_OF_SCOPE_REDIRECT
        if target in self._urls:
            return Outcome.DUPLICATE_URL
        return None if self._robots.allows(target) else Outcome.ROBOTS_DISALLOWED

    async def to_the_end(self, engine: "Engine") -> None:
        """Ask batch after batch until the limit, the budget or the queue ends the crawl.

        The members of a batch are in flight together and handled in the queue's order; a batch
        is never larger than the pages that are still wanted. So the result depends on the site
        alone, not on who answers first, and no page is fetched to be thrown away.
        """
        while True:
            wanted = self._site.max_pages - self._stored
            batch = self._frontier.take(max(0, min(_IN_FLIGHT, wanted, self._budget)))
            if not batch:
                return
            results = await asyncio.gather(*(self._get(engine, item) for item in batch))
            for candidate, result in zip(batch, results, strict=True):
                self._handle(candidate, result)

    async def _get(self, engine: "Engine", candidate: Candidate) -> Result:
        if isinstance(self._robots, Unavailable):
            failed = self._robots.fetch
            text = f"robots.txt could not be fetched: {failed.error}"
            return Result(replace(failed, final_url=candidate.url, error=text))
        if not self._robots.allows(candidate.url):
            return Result(_not_asked(candidate))
        return await engine.get(candidate.url)

    def _handle(self, candidate: Candidate, result: Result) -> None:
        self._budget -= result.fetch.requests
        page = self._page(candidate, result)
        self.pages.append(page)
        if result.extraction is not None:
            links = result.extraction.head.links
            self._frontier.add_links(candidate, result.fetch.final_url, links)
        if page.outcome is Outcome.OK:
            self._store(page)
        note = "" if page.outcome is Outcome.OK else f"{page.url}: {page.outcome}"
        self._progress(_STAGE, self._stored, self._site.max_pages, note)

    def _store(self, page: Page) -> None:
        urls = {url for url in (page.url, page.final_url, page.canonical_url) if url}
        self._stored += 1
        self._urls |= urls
        self._hashes.add(page.content_hash or "")
        self._frontier.close(urls)

    def _page(self, candidate: Candidate, result: Result) -> Page:
        fetch, extraction = result.fetch, result.extraction
        if extraction is None:
            return failed_page(self._site.key, candidate, fetch, fetch.outcome, fetch.error)
        canonical = self._canonical(fetch, extraction)
        digest = markdown_hash(extraction.markdown)
        outcome = self._verdict(fetch, extraction, canonical, digest)
        page = replace(
            failed_page(self._site.key, candidate, fetch, outcome, None),
            page_id=content_hash(self._site.key, canonical),
            canonical_url=canonical,
            lang=extraction.head.lang,
            title=extraction.head.title,
            links=sorted(url for url in extraction.head.links if self._scope.contains(url)),
        )
        return _with_content(page, extraction, digest) if outcome is Outcome.OK else page

    def _canonical(self, fetch: FetchOutcome, extraction: "Extraction") -> str:
        canonical = extraction.head.canonical_url
        if canonical is not None and self._scope.contains(canonical):
            return canonical
        return fetch.final_url

    def _verdict(
        self, fetch: FetchOutcome, extraction: "Extraction", canonical: str, digest: str
    ) -> Outcome:
        """Whether a page that was read is stored, or why not."""
        if fetch.final_url in self._urls or canonical in self._urls:
            return Outcome.DUPLICATE_URL
        if extraction.head.noindex:
            return Outcome.NOINDEX
        if extraction.main_words < EMPTY_WORDS:
            return Outcome.EMPTY_CONTENT
        if _is_soft_404(extraction):
            return Outcome.SOFT_404
        return Outcome.DUPLICATE_CONTENT if digest in self._hashes else Outcome.OK


def _not_asked(candidate: Candidate) -> FetchOutcome:
    return FetchOutcome(Outcome.ROBOTS_DISALLOWED, candidate.url, datetime.now(UTC))


def _is_soft_404(extraction: "Extraction") -> bool:
    """Whether a page with status 200 is an error page: it says so and has little else."""
    label = (extraction.head.title or "", extraction.h1 or "")
    return extraction.main_words < _SOFT_404_WORDS and any(map(_SOFT_404.search, label))


def _with_content(page: Page, extraction: "Extraction", digest: str) -> Page:
    return replace(
        page,
        content_hash=digest,
        h1=extraction.h1,
        page_summary=extraction.summary,
        markdown=extraction.markdown,
        raw_markdown=extraction.raw_markdown,
        chosen=extraction.chosen,
        chosen_reason=extraction.chosen_reason,
        selector=extraction.selector,
        raw_words=extraction.raw_words,
        main_words=extraction.main_words,
        nav_ratio=extraction.nav_ratio,
        headings=extraction.headings,
    )

"""Which answers become pages: one verdict for each result, given what is stored already.

Knows no network: everything here depends on the site's pages and the order of asking alone.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from qindex_pipeline.crawl.labels import title_of
from qindex_pipeline.crawl.outcomes import EMPTY_WORDS, READ, FetchOutcome, Outcome, state_of
from qindex_pipeline.crawl.pages import CONTENT, Candidate, Page, failed_page, markdown_hash
from qindex_pipeline.crawl.result import Result
from qindex_pipeline.crawl.urls import Scope
from qindex_pipeline.ids import content_hash
from qindex_pipeline.sites import Site

if TYPE_CHECKING:
    from qindex_pipeline.crawl.extract.extraction import Extraction

_SOFT_404 = re.compile(
    r"\b404\b|\b(page|file|document) (was |could )?not (be )?found\b|^not found$|no longer exists",
    re.IGNORECASE,
)
_SOFT_404_WORDS = 80


class Judge:
    """Makes the row of each asked URL, and remembers what is stored so that nothing is twice."""

    def __init__(self, site: Site, scope: Scope, extractor_version: str) -> None:
        """Judge the pages of `site`, read by this version of the extractor."""
        self._site, self._scope, self._version = site, scope, extractor_version
        self._urls: set[str] = set()  # every URL that leads to a stored page
        self._hashes: set[str] = set()

    def is_stored(self, url: str) -> bool:
        """Whether `url` leads to a page that is stored."""
        return url in self._urls

    def page(self, candidate: Candidate, result: Result, stored: Mapping[str, Any] | None) -> Page:
        """The row for one result; `stored` is the row of the last run with its content.

        The row of a page that is not modified carries the stored content.
        """
        fetch, extraction = result.fetch, result.extraction
        if fetch.outcome is Outcome.NOT_MODIFIED and stored is not None:
            return self._not_modified(candidate, fetch, stored)
        if extraction is None:
            return failed_page(self._site.key, candidate, fetch, fetch.outcome, fetch.error)
        page = self._read_page(candidate, result, extraction)
        outcome = self._verdict(page, extraction)
        if outcome in READ:
            return self._noted(replace(page, outcome=outcome, state=state_of(outcome)))
        return _without_content(page, outcome)

    def _not_modified(
        self, candidate: Candidate, fetch: FetchOutcome, stored: Mapping[str, Any]
    ) -> Page:
        row = failed_page(self._site.key, candidate, fetch, fetch.outcome, None)
        page = replace(row, **{name: stored[name] for name in CONTENT})
        page = replace(page, sitemap_lastmod=candidate.lastmod or stored["sitemap_lastmod"])
        directives = _directives(fetch.robots, page.meta_robots)
        outcome = self._excluded(page, directives) or self._duplicate(page)
        return self._noted(page) if outcome is None else _without_content(page, outcome)

    def _noted(self, page: Page) -> Page:
        self._urls |= urls_of(page)
        self._hashes.add(page.content_hash or "")
        return page

    def _read_page(self, candidate: Candidate, result: Result, extraction: "Extraction") -> Page:
        head, fetch = extraction.head, result.fetch
        canonical = head.canonical_url
        if canonical is None or not self._scope.contains(canonical):
            canonical = fetch.final_url
        internal = [url for url in head.links if self._scope.contains(url)]
        title, directives = title_of(head), _directives(fetch.robots, head.robots)
        return replace(
            failed_page(self._site.key, candidate, fetch, fetch.outcome, None),
            page_id=content_hash(self._site.key, canonical),
            canonical_url=canonical,
            raw_html_hash=content_hash(result.html) if result.html is not None else None,
            content_hash=markdown_hash(extraction.markdown),
            lang=head.lang,
            title=title,
            title_raw=title,
            h1=extraction.h1,
            meta_description=head.description,
            meta_robots=",".join(sorted(directives)) or None,
            page_summary=extraction.summary,
            markdown=extraction.markdown,
            raw_markdown=extraction.raw_markdown,
            main_markdown=extraction.main_markdown,
            fit_markdown=extraction.fit_markdown,
            chosen=extraction.chosen,
            chosen_reason=extraction.chosen_reason,
            selector=extraction.selector,
            raw_words=extraction.raw_words,
            main_words=extraction.main_words,
            fit_words=extraction.fit_words,
            nav_ratio=extraction.nav_ratio,
            link_density=extraction.link_density,
            code_blocks=extraction.code_blocks,
            code_blocks_lost=extraction.code_blocks_lost,
            n_links_internal=len(internal),
            n_links_external=len(head.links) - len(internal),
            headings=extraction.headings,
            links=self._followed(directives, internal, head.nofollow_links),
            extractor_version=self._version,
        )

    def _followed(
        self, directives: frozenset[str], internal: list[str], nofollow: Sequence[str]
    ) -> list[str]:
        """The in-scope links that a crawl goes on with, in document order."""
        if self._site.follow_nofollow:
            marked = [url for url in nofollow if self._scope.contains(url)]
            return list(dict.fromkeys([*internal, *marked]))
        return [] if directives & {"nofollow", "none"} else internal

    def _verdict(self, page: Page, extraction: "Extraction") -> Outcome:
        """Whether a page that was read is stored, or why not."""
        if not _is_new(page, self._urls):
            return Outcome.DUPLICATE_URL
        excluded = self._excluded(page, _directives(page.meta_robots))
        if excluded is not None:
            return excluded
        if extraction.main_words < EMPTY_WORDS:
            return Outcome.EMPTY_CONTENT
        if _is_soft_404(extraction):
            return Outcome.SOFT_404
        return self._duplicate(page) or page.outcome

    def _excluded(self, page: Page, directives: frozenset[str]) -> Outcome | None:
        if directives & {"noindex", "none"}:
            return Outcome.NOINDEX
        wanted = self._site.languages
        if wanted and page.lang and not _speaks(page.lang, wanted):
            return Outcome.OTHER_LANGUAGE
        return None

    def _duplicate(self, page: Page) -> Outcome | None:
        if not _is_new(page, self._urls):
            return Outcome.DUPLICATE_URL
        return Outcome.DUPLICATE_CONTENT if page.content_hash in self._hashes else None


def urls_of(page: Page) -> set[str]:
    """Every URL under which a page is known."""
    return {url for url in (page.url, page.final_url, page.canonical_url) if url}


def _is_new(page: Page, stored: set[str]) -> bool:
    return page.final_url not in stored and page.canonical_url not in stored


def _without_content(page: Page, outcome: Outcome) -> Page:
    """The row of a page that is not stored: what it said of itself, not its content."""
    kept = {"page_id", "canonical_url", "lang", "title", "meta_robots", "links"}
    nothing = dict.fromkeys(name for name in CONTENT if name not in kept)
    return replace(page, outcome=outcome, state=state_of(outcome), **nothing)


def _directives(*texts: str | None) -> frozenset[str]:
    return frozenset(part.strip() for text in texts if text for part in text.split(",")) - {""}


def _speaks(language: str, wanted: tuple[str, ...]) -> bool:
    """Whether `en-US` is one of the wanted languages, `en` or `en-us`."""
    tag = language.lower().replace("_", "-")
    return any(tag == want.lower() or tag.startswith(want.lower() + "-") for want in wanted)


def _is_soft_404(extraction: "Extraction") -> bool:
    """Whether a page with status 200 is an error page: it says so and has little else."""
    label = (title_of(extraction.head) or "", extraction.h1 or "")
    return extraction.main_words < _SOFT_404_WORDS and any(map(_SOFT_404.search, label))

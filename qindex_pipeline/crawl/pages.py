"""The row of table raw_pages, and how it is made from a fetch and an extraction."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

from qindex_pipeline.crawl.outcomes import FetchOutcome, Hop, Outcome, State, state_of
from qindex_pipeline.ids import content_hash


class Heading(TypedDict):
    """A heading of the main content; `anchor` is the fragment that leads to it, if any."""

    level: int
    text: str
    anchor: str | None


@dataclass(frozen=True)
class Page:
    """A requested URL, good or not; the fields are the columns of `tables.RAW_PAGES`."""

    site: str
    url: str
    page_id: str
    depth: int
    discovered_by: str
    outcome: Outcome
    state: State
    elapsed_ms: int
    fetched_at: datetime
    final_url: str | None = None
    canonical_url: str | None = None
    parent_url: str | None = None
    retries: int | None = None
    status: int | None = None
    redirect_chain: Sequence[Hop] | None = None
    content_type: str | None = None
    charset: str | None = None
    charset_source: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    sitemap_lastmod: datetime | None = None
    response_bytes: int | None = None
    fetch_mode: str | None = None
    raw_html_hash: str | None = None
    content_hash: str | None = None
    lang: str | None = None
    title: str | None = None
    title_raw: str | None = None
    h1: str | None = None
    meta_description: str | None = None
    meta_robots: str | None = None
    page_summary: str | None = None
    markdown: str | None = None
    raw_markdown: str | None = None
    main_markdown: str | None = None
    fit_markdown: str | None = None
    chosen: str | None = None
    chosen_reason: str | None = None
    selector: str | None = None
    raw_words: int | None = None
    main_words: int | None = None
    fit_words: int | None = None
    nav_ratio: float | None = None
    link_density: float | None = None
    code_blocks: int | None = None
    code_blocks_lost: int | None = None
    n_links_internal: int | None = None
    n_links_external: int | None = None
    headings: Sequence[Heading] | None = None
    links: Sequence[str] | None = None
    error: str | None = None
    extractor_version: str | None = None


CONTENT = (
    "page_id", "canonical_url", "raw_html_hash", "content_hash", "lang", "title", "title_raw",
    "h1", "meta_description", "meta_robots", "page_summary", "markdown", "raw_markdown",
    "main_markdown", "fit_markdown", "chosen", "chosen_reason", "selector", "raw_words",
    "main_words", "fit_words", "nav_ratio", "link_density", "code_blocks", "code_blocks_lost",
    "n_links_internal", "n_links_external", "headings", "links", "extractor_version",
)  # fmt: skip
"""The columns that come from a page's content, not from asking for it."""


@dataclass(frozen=True)
class Candidate:
    """A URL that waits to be asked: where it was found, how deep, its date in the sitemap."""

    url: str
    parent_url: str | None
    depth: int
    discovered_by: str
    lastmod: datetime | None = None


def failed_page(
    site: str, candidate: Candidate, fetch: FetchOutcome, outcome: Outcome, error: str | None
) -> Page:
    """The row of a URL whose content is not stored."""
    return Page(
        site=site,
        url=candidate.url,
        page_id=content_hash(site, fetch.final_url),
        depth=candidate.depth,
        discovered_by=candidate.discovered_by,
        parent_url=candidate.parent_url,
        outcome=outcome,
        state=state_of(outcome),
        retries=fetch.retries,
        redirect_chain=fetch.redirects,
        charset_source=fetch.charset_source,
        sitemap_lastmod=candidate.lastmod,
        fetch_mode=fetch.mode,
        elapsed_ms=fetch.elapsed_ms,
        fetched_at=fetch.fetched_at,
        final_url=fetch.final_url,
        status=fetch.status,
        content_type=fetch.content_type,
        charset=fetch.charset,
        etag=fetch.etag,
        last_modified=fetch.last_modified,
        response_bytes=fetch.response_bytes,
        error=error,
    )


def markdown_hash(markdown: str) -> str:
    """The hash by which two pages have the same content.

    Unicode form, line ends and trailing blanks do not enter it.
    """
    lines = unicodedata.normalize("NFC", markdown).splitlines()
    return content_hash("\n".join(line.rstrip() for line in lines).strip())

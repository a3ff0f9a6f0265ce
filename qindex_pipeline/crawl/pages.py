"""The row of table raw_pages, and how it is made from a fetch and an extraction."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

from qindex_pipeline.crawl.outcomes import FetchOutcome, Outcome
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
    elapsed_ms: int
    fetched_at: datetime
    final_url: str | None = None
    canonical_url: str | None = None
    parent_url: str | None = None
    status: int | None = None
    content_type: str | None = None
    charset: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    response_bytes: int | None = None
    content_hash: str | None = None
    lang: str | None = None
    title: str | None = None
    h1: str | None = None
    page_summary: str | None = None
    markdown: str | None = None
    raw_markdown: str | None = None
    chosen: str | None = None
    chosen_reason: str | None = None
    selector: str | None = None
    raw_words: int | None = None
    main_words: int | None = None
    nav_ratio: float | None = None
    headings: Sequence[Heading] | None = None
    links: Sequence[str] | None = None
    error: str | None = None


@dataclass(frozen=True)
class Candidate:
    """A URL that waits to be asked: where it was found and how deep."""

    url: str
    parent_url: str | None
    depth: int
    discovered_by: str


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

"""A page that could not be read tonight keeps the content that it had.

Its row says what happened tonight (outcome, status, error) and carries the last good content,
so that what was made from it stays. Only an answer can take a page away: 404, 410, noindex, a
redirect out of the site.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from qindex_pipeline.crawl.outcomes import Outcome
from qindex_pipeline.crawl.pages import Page

UNKNOWN = frozenset(
    {
        Outcome.HTTP_401,
        Outcome.HTTP_403,
        Outcome.HTTP_4XX,
        Outcome.HTTP_429,
        Outcome.HTTP_5XX,
        Outcome.DNS_ERROR,
        Outcome.CONNECT_ERROR,
        Outcome.TLS_ERROR,
        Outcome.CONNECT_TIMEOUT,
        Outcome.READ_TIMEOUT,
        Outcome.TOTAL_TIMEOUT,
        Outcome.TRUNCATED,
        Outcome.RESET,
    }
)
"""Outcomes that say nothing about whether the page still exists."""

_CONTENT = (
    "page_id", "canonical_url", "content_hash", "lang", "title", "h1", "page_summary", "markdown",
    "raw_markdown", "chosen", "chosen_reason", "selector", "raw_words", "main_words", "nav_ratio",
    "headings", "links",
)  # fmt: skip


def keep_last_good(pages: Sequence[Page], last: Sequence[Mapping[str, Any]]) -> list[Page]:
    """The pages of a crawl, those of unknown state with their last good content.

    Args:
        pages: Rows of this crawl.
        last: Rows of the raw_pages table of the last run; [] on the first.
    """
    good = {row["url"]: row for row in last if row["markdown"] is not None}
    return [
        replace(page, **{name: good[page.url][name] for name in _CONTENT})
        if page.outcome in UNKNOWN and page.url in good
        else page
        for page in pages
    ]

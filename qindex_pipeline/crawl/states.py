"""What a crawl means for the pages of the last run: present, gone or unknown.

A page that could not be read tonight keeps the content that it had, so that what was made from
it stays; its row says what happened. Only an answer takes a page away (404, 410, noindex,
robots.txt, a redirect out of the site), or that a complete crawl no longer includes it. A crawl
that found far less than the last one is suspect: it adds and updates, and takes nothing away.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

from qindex_pipeline.crawl.last_run import LastRun, Row
from qindex_pipeline.crawl.outcomes import READ, Outcome, State
from qindex_pipeline.crawl.pages import CONTENT, Page
from qindex_pipeline.crawl.run import Crawl
from qindex_pipeline.crawl.urls import Scope
from qindex_pipeline.sites import Site

_DUPLICATES = frozenset({Outcome.DUPLICATE_URL, Outcome.DUPLICATE_CONTENT})


@dataclass(frozen=True)
class Settled:
    """The rows of the new table; `suspect` says in one line why nothing was taken away."""

    pages: Sequence[Page] = field(repr=False)
    suspect: str | None = None


def settle(crawl: Crawl, last: LastRun, site: Site, scope: Scope, suspect_share: float) -> Settled:
    """Decide over the pages of the last run.

    Args:
        crawl: What was found.
        last: What the last run left.
        site: Its limit and its filters may be narrower than last time; that is no loss.
        scope: What belongs to the site now.
        suspect_share: Share of the last run's pages below which a crawl is suspect, 0 to 1.
    """
    expected = sum(scope.wants(row["url"]) for row in last.rows)
    suspect = _suspicion(crawl, min(expected, site.max_pages), suspect_share)
    present = [page for page in crawl.pages if page.outcome in READ]
    taken = {page.page_id for page in present} | {page.content_hash for page in present}
    pages = [_settled(page, last.row(page.url), taken, suspect) for page in crawl.pages]
    asked = {page.url for page in pages}
    left = (row for row in last.rows if row["url"] not in asked and not _is_taken(row, taken))
    cut_short = crawl.cut_short or (Outcome.BUDGET_EXHAUSTED if suspect else None)
    pages.extend(_not_asked(row, cut_short if scope.wants(row["url"]) else None) for row in left)
    return Settled(pages, suspect)


def _suspicion(crawl: Crawl, before: int, share: float) -> str | None:
    now = sum(page.outcome in READ for page in crawl.pages)
    if not before or now >= share * before:
        return None
    return (
        f"the crawl read {now} pages, the last one left {before}: nothing was deleted. If the "
        "site really shrank, run it once with QINDEX_SUSPECT_SHARE=0; else find out why it fails"
    )


def _settled(page: Page, stored: Row | None, taken: set[str | None], suspect: str | None) -> Page:
    if stored is None or page.outcome in READ or _is_taken(stored, taken):
        return page
    is_kept = page.state is State.UNKNOWN or (suspect and page.outcome not in _DUPLICATES)
    return _with_content_of(page, stored) if is_kept else page


def _not_asked(row: Row, cut_short: Outcome | None) -> Page:
    """The row of a stored page that the crawl did not ask for.

    A crawl that was cut short says nothing of it; else the site no longer includes it.
    """
    page = Page(**{column.name: row[column.name] for column in fields(Page)})
    if cut_short is not None:
        return replace(page, outcome=cut_short, state=State.UNKNOWN)
    gone = replace(page, outcome=Outcome.OUT_OF_SCOPE, state=State.GONE)
    return replace(gone, **dict.fromkeys(name for name in CONTENT if name != "page_id"))


def _is_taken(row: Row, taken: set[str | None]) -> bool:
    """Whether the stored page stands in the new table under another URL."""
    return row["page_id"] in taken or row["content_hash"] in taken


def _with_content_of(page: Page, stored: Row) -> Page:
    validators = {name: stored[name] for name in ("etag", "last_modified", "sitemap_lastmod")}
    content = {name: stored[name] for name in CONTENT}
    return replace(page, state=State.UNKNOWN, **validators, **content)

"""What a crawl tells the people who look at asset raw_pages: plain numbers, and tables.

The numbers are plotted over time by Dagster and printed by `qindex ingest`; the tables show which
pages to look at.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import dagster as dg

from qindex_pipeline.crawl import Crawled, Outcome, Page, State

_SLOWEST = 10
_MAX_FAILED = 50
_DUPLICATES = frozenset({Outcome.DUPLICATE_URL, Outcome.DUPLICATE_CONTENT})

Cell = str | int | float | None
Value = Cell | dg.TableMetadataValue


def crawl_metadata(crawled: Crawled) -> dict[str, Value]:
    """The metadata of one crawl.

    Returns:
        `pages_with_content` and `kept_unknown` count rows of the new table: all that have content,
        and those among them whose content is of an earlier run. `gone` counts the pages of the
        last run that were taken away. `outcome/<name>`, `failed_pages` and the rest are about the
        URLs that this run asked. `cut_short` and `suspect` are None for a crawl that came to its
        end and lost little.
    """
    found, pages = crawled.found, crawled.settled.pages
    counts = Counter(str(page.outcome) for page in found.pages)
    failed = [page for page in found.pages if page.state is State.UNKNOWN]
    return {
        "pages_with_content": sum(page.markdown is not None for page in pages),
        "kept_unknown": sum(_is_kept(page) for page in pages),
        "gone": _count_gone(crawled),
        "not_modified": counts[Outcome.NOT_MODIFIED],
        "failed_pages": len(failed),
        "requests": found.requests,
        "seconds": found.seconds,
        "pages_per_second": round(len(found.pages) / max(found.seconds, 0.1), 1),
        "cut_short": None if found.cut_short is None else str(found.cut_short),
        "suspect": crawled.settled.suspect,
        **{f"outcome/{name}": count for name, count in sorted(counts.items())},
        "outcomes": _outcomes(pages),
        "slowest": _slowest(found.pages),
        "failed": _failed(failed),
    }


def _is_kept(page: Page) -> bool:
    return page.state is State.UNKNOWN and page.markdown is not None


def _count_gone(crawled: Crawled) -> int:
    """Pages of the last run without a place in the new table; a duplicate has one, elsewhere.

    A page of the last run was asked as a known one, or is not among the asked ones at all.
    """
    asked = {page.url for page in crawled.found.pages}
    return sum(
        page.state is State.GONE
        and page.outcome not in _DUPLICATES
        and (page.discovered_by == "known" or page.url not in asked)
        for page in crawled.settled.pages
    )


def _outcomes(pages: Sequence[Page]) -> dg.TableMetadataValue:
    """The rows of the new table by outcome and state, most frequent first."""
    counts = Counter((str(page.outcome), str(page.state)) for page in pages)
    rows = (
        {"outcome": outcome, "state": state, "pages": count, "share": round(count / len(pages), 3)}
        for (outcome, state), count in counts.most_common()
    )
    return _table(rows, {"outcome": "string", "state": "string", "pages": "int", "share": "float"})


def _slowest(pages: Sequence[Page]) -> dg.TableMetadataValue:
    by_time = sorted(pages, key=lambda page: page.elapsed_ms, reverse=True)
    rows = (
        {
            "url": page.url,
            "seconds": round(page.elapsed_ms / 1000, 2),
            "bytes": page.response_bytes,
            "mode": page.fetch_mode,
        }
        for page in by_time[:_SLOWEST]
    )
    return _table(rows, {"url": "string", "seconds": "float", "bytes": "int", "mode": "string"})


def _failed(pages: Sequence[Page]) -> dg.TableMetadataValue:
    """Pages that could not be read, in the order of asking; a last row counts what is left out."""
    rows: list[Mapping[str, Cell]] = [
        {
            "url": page.url,
            "outcome": str(page.outcome),
            "status": page.status,
            "error": " ".join((page.error or "").split()) or None,
        }
        for page in pages[:_MAX_FAILED]
    ]
    if len(pages) > _MAX_FAILED:
        rows.append({"url": f"… and {len(pages) - _MAX_FAILED} more"})
    return _table(rows, {"url": "string", "outcome": "string", "status": "int", "error": "string"})


def _table(rows: Iterable[Mapping[str, Cell]], types: Mapping[str, str]) -> dg.TableMetadataValue:
    """A table with these columns, which it has even without a row."""
    return dg.MetadataValue.table(
        records=[dg.TableRecord({name: row.get(name) for name in types}) for row in rows],
        schema=dg.TableSchema(columns=[dg.TableColumn(name, kind) for name, kind in types.items()]),
    )

"""The reports of a site: the one of now, and those that stand before it.

A publication is written down in two steps: first the report, then the pages that it found. A
process that dies between them leaves a report that the pages do not name; the next run takes it
out and reports the whole way from the pages, so that nothing is told twice and nothing is lost.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from qindex_pipeline.changes.difference import Difference, compare
from qindex_pipeline.changes.pages import PublishedPage, Row, published_pages
from qindex_pipeline.changes.worst import worst_pages
from qindex_pipeline.ids import content_hash

KEPT = 90
"""Reports of a site that are kept: a quarter of a year of nights that all changed something."""

_CONFIDENCE = ("fingerprint", "threshold", "auroc", "false_accept", "false_refuse")
_EVALUATION = ("questions_hash", "n", "mrr_at_10")
_ARM = "fused"


@dataclass(frozen=True)
class Tables:
    """Rows of what a site's index is made of; `raw_pages` as `published_pages` takes them."""

    raw_pages: Sequence[Row]
    chunks: Sequence[Row]
    questions: Sequence[Row]
    calibrations: Sequence[Row]
    evaluation: Sequence[Row]


@dataclass(frozen=True)
class Calls:
    """What the calls of some runs took; `cost_usd` is None when the price is not known."""

    runs: int
    llm_calls: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None


@dataclass(frozen=True)
class Memory:
    """What was written before: reports, oldest first, and the pages of the last one.

    `report_id` is the one that the pages name, None before the first.
    """

    reports: Sequence[Row] = ()
    report_id: str | None = None
    pages: Sequence[PublishedPage] = ()

    @classmethod
    def from_rows(cls, reports: Sequence[Row], pages: Sequence[Row]) -> "Memory":
        """From the rows of the tables change_report and published_pages."""
        report_id = pages[0]["report_id"] if pages else None
        return cls(reports, report_id, [PublishedPage.from_row(row) for row in pages])

    @property
    def asked_until(self) -> datetime | None:
        """The moment up to which calls are counted in a stored report; None without one."""
        return self.reports[-1]["reported_at"] if self.reports else None

    @property
    def whole(self) -> Sequence[Row]:
        """The reports up to the one that the pages name."""
        ids = [row["report_id"] for row in self.reports]
        if self.report_id is None:  # the pages were never written, or somebody deleted them
            return self.reports[:-1] if ids and self.reports[-1]["is_first"] else self.reports
        return self.reports[: ids.index(self.report_id) + 1] if self.report_id in ids else ()

    @property
    def torn(self) -> Sequence[Row]:
        """The reports behind it: their run died before it had written the pages."""
        return self.reports[len(self.whole) :]


@dataclass(frozen=True)
class Reported:
    """What a run found, and what must stand in the tables afterwards.

    Attributes:
        row: The report of now, which is in `reports` if it tells anything.
        is_new: Whether it does.
        reports: Rows of the change_report table.
        pages: Rows of the published_pages table.
    """

    row: Row
    is_new: bool
    reports: Sequence[Row]
    pages: Sequence[Row]


def report_changes(
    site: str, tables: Tables, memory: Memory, calls: Calls | None, now: datetime
) -> Reported:
    """Compare what is published now with what was last reported.

    Args:
        site: Key of the site.
        tables: What is published.
        memory: What was written before.
        calls: Of the runs since `memory.asked_until`; None where nobody knows.
        now: The time.
    """
    pages = published_pages(tables.raw_pages, tables.chunks, tables.questions, memory.pages)
    difference = compare(memory.pages, pages, tables.raw_pages)
    is_first, last = memory.report_id is None, (memory.whole or [None])[-1]
    confidence = _first(_CONFIDENCE, tables.calibrations)
    evaluation = _first(_EVALUATION, [row for row in tables.evaluation if row["arm"] == _ARM])
    row: dict[str, Any] = {
        "site": site,
        "report_id": _identity(memory.report_id, pages, (confidence, evaluation)),
        "is_first": is_first,
        "since": last["reported_at"] if last else None,
        "started_at": tables.raw_pages[0]["fetched_at"],
        "reported_at": now,
        "pages": len(pages),
        **_told(difference, is_first=is_first),
        **_calls(calls, memory.torn),
        "confidence": confidence,
        "confidence_before": last["confidence"] if last else None,
        "evaluation": evaluation,
        "evaluation_before": last["evaluation"] if last else None,
        "worst": _rows(worst_pages(pages, tables.chunks, tables.questions)),
    }
    is_new = is_first or difference.is_any or (last is not None and _has_other_figures(row))
    reports = [*memory.whole, row][-KEPT:] if is_new else memory.whole
    report_id = row["report_id"] if is_new else str(memory.report_id)
    return Reported(row, is_new, reports, [page.to_row(site, report_id) for page in pages])


def _told(difference: Difference, *, is_first: bool) -> dict[str, Any]:
    """The columns of what differs; of a first report everything would be new."""
    columns: dict[str, Any] = {}
    for name in ("added", "changed", "gone", "unknown", "recovered"):
        tells = name == "unknown" or not is_first
        columns[name] = _rows(getattr(difference, name)) if tells else []
    for name in ("chunks", "proposed", "accepted"):
        count = getattr(difference, name)
        columns[name] = count.total
        columns[f"{name}_added"] = 0 if is_first else count.added
        columns[f"{name}_removed"] = count.removed
    return columns


def _rows(items: Sequence[Any]) -> list[dict[str, Any]]:
    return [asdict(item) for item in items]


def _calls(calls: Calls | None, torn: Sequence[Row]) -> dict[str, Any]:
    """The columns of what the runs took, those of reports that are taken out included."""
    names = ("runs", "llm_calls", "tokens_in", "tokens_out", "cost_usd")
    parts: list[Mapping[str, Any]] = [row for row in torn if row["runs"] is not None]
    if calls is not None:
        parts.append(asdict(calls))
    if not parts:
        return dict.fromkeys(names)
    return {name: _sum([part[name] for part in parts]) for name in names}


def _sum(values: Sequence[Any]) -> Any:
    """The sum; None when one of them is not known."""
    return None if None in values else sum(values)


def _first(names: Sequence[str], rows: Sequence[Row]) -> dict[str, Any] | None:
    return {name: rows[0][name] for name in names} if rows else None


def _has_other_figures(row: Row) -> bool:
    """Whether threshold or evaluation differ by as much as a text shows.

    Another processor may differ in their last digits, and the shares follow the threshold.
    """
    compared = (
        ("confidence", ("fingerprint", "threshold")),
        ("evaluation", ("questions_hash", "mrr_at_10")),
    )
    return any(
        _shown(names, row[figures]) != _shown(names, row[f"{figures}_before"])
        for figures, names in compared
    )


def _shown(names: Sequence[str], figures: Row | None) -> Any:
    if figures is None:
        return None
    values = [figures[name] for name in names]
    return [round(value, 2) if isinstance(value, float) else value for value in values]


def _identity(before: str | None, pages: Sequence[PublishedPage], figures: Sequence[Any]) -> str:
    """Named by what was found and by the report before, not by when: a re-run names it alike."""
    found: list[Any] = []
    for page in pages:
        found += [page.page_id, page.title, page.content_hash, page.is_unknown]
        found += [sorted(ids) for ids in (page.chunks, page.accepted, page.rejected)]
    return content_hash(before or "", json.dumps([found, *figures]))

"""What is stored of the reports of a site: read before a run's report, written after it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from qindex_pipeline.changes.pages import Row
from qindex_pipeline.changes.reports import Memory, Reported
from qindex_pipeline.changes.wording import report_text
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import CHANGE_REPORT, PUBLISHED_PAGES, RAW_PAGES, Table, to_rows


@dataclass(frozen=True)
class Latest:
    """The last reports of a site, newest first; `crawled_at` is when its last crawl began."""

    site: str
    reports: Sequence[Row]
    crawled_at: datetime | None

    @property
    def texts(self) -> list[str]:
        """The reports for people, and whether the site was read again since the newest."""
        texts = [report_text(row) for row in self.reports]
        if self.reports and self.crawled_at and self.crawled_at > self.reports[0]["reported_at"]:
            texts[0] += (
                f"\n\nRead again {self.crawled_at:%Y-%m-%d %H:%M} UTC without a new report: "
                "nothing changed, or nothing was published."
            )
        return texts


def latest_reports(store: ParquetStore, site: str, count: int) -> Latest:
    """The last `count` reports of `site`, none before the first."""
    reports = _rows(store, CHANGE_REPORT, site)[-count:]
    return Latest(site, reports[::-1], store.first(RAW_PAGES, site, "fetched_at"))


def stored_report(store: ParquetStore, site: str, report_id: str) -> Row | None:
    """One report; None when it is no longer there."""
    rows = _rows(store, CHANGE_REPORT, site)
    return next((row for row in rows if row["report_id"] == report_id), None)


def read_memory(store: ParquetStore, site: str) -> Memory:
    """What the last run left; empty before the first."""
    return Memory.from_rows(_rows(store, CHANGE_REPORT, site), _rows(store, PUBLISHED_PAGES, site))


def write_report(store: ParquetStore, site: str, memory: Memory, reported: Reported) -> None:
    """Write what differs from `memory`, the report before the pages; see `reports`.

    A run that found nothing new writes nothing.
    """
    if list(reported.reports) != list(memory.reports):
        store.write(CHANGE_REPORT, site, reported.reports)
    known = [page.to_row(site, str(memory.report_id)) for page in memory.pages]
    if list(reported.pages) != known:
        store.write(PUBLISHED_PAGES, site, reported.pages)


def _rows(store: ParquetStore, table: Table, site: str) -> list[Row]:
    return list(to_rows(table, store.read(table, site))) if store.exists(table, site) else []

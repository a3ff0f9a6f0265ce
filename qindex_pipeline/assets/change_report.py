"""Asset change_report: what a publication changed for the people who own the pages."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import dagster as dg

from qindex_pipeline.assets import OWNERS
from qindex_pipeline.changes.reports import Calls, Memory, Reported, Tables, report_changes
from qindex_pipeline.changes.stored import read_memory, write_report
from qindex_pipeline.changes.wording import report_text, summary
from qindex_pipeline.errors import WorkError
from qindex_pipeline.escaping import as_markdown
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.retries import retried
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import (
    CALIBRATIONS,
    CANDIDATE_QUESTIONS,
    CHUNKS,
    EVALUATION,
    GROUNDED_QUESTIONS,
    RAW_PAGES,
    rows_without_texts,
    to_rows,
)

_READ = (RAW_PAGES.name, CHUNKS.name, GROUNDED_QUESTIONS.name, EVALUATION.name)
_INDEX = "question_index"
_PAGE_COLUMNS = [
    *("url", "final_url", "canonical_url", "page_id", "outcome", "state", "status"),
    *("fetched_at", "content_hash", "title", "h1"),
]
_MOST_RUNS = 1000
"""Runs of a site whose calls are added up: years without a report that told anything."""


def build(sites: dg.StaticPartitionsDefinition) -> dg.AssetsDefinition:
    """The asset, partitioned by `sites`."""

    # It reads some columns of its tables, and writes two in an order that matters: neither is
    # what the IO manager does.
    @dg.asset(
        partitions_def=sites,
        deps=[*_READ, _INDEX],
        group_name="index",
        kinds={"parquet"},
        owners=OWNERS,
    )
    @retried
    def change_report(
        context: dg.AssetExecutionContext, pipeline: dg.ResourceParam[Pipeline]
    ) -> dg.MaterializeResult:
        """The last reports of the site: pages, chunks and questions that came and went."""
        site, store, instance = context.partition_key, pipeline.store, context.instance
        _refuse_unpublished(instance, site)
        memory = read_memory(store, site)
        calls = _calls(instance, site, memory)
        reported = report_changes(site, _tables(store, site), memory, calls, datetime.now(UTC))
        write_report(store, site, memory, reported)
        pages = reported.row["pages"]
        pipeline.progress("change_report", pages, pages, _summary(reported))
        return dg.MaterializeResult(metadata=_metadata(reported))

    return change_report


def _refuse_unpublished(instance: dg.DagsterInstance, site: str) -> None:
    """Raise WorkError where a table is newer than the index, as far as the instance knows.

    That is so when this asset is materialised alone after a run that failed or was held.
    """
    published = _last(instance, _INDEX, site)
    for name in _READ:
        written = _last(instance, name, site)
        if written is not None and (published is None or written > published):
            raise WorkError(
                f"{name} of site {site!r} is newer than what was published: run the whole chain "
                "for this site (`qindex ingest`, or the job site_refresh), which reports it too"
            )


def _last(instance: dg.DagsterInstance, asset: str, site: str) -> float | None:
    records = _records(instance, asset, site, limit=1)
    return records[0].timestamp if records else None


def _records(
    instance: dg.DagsterInstance,
    asset: str,
    site: str,
    limit: int,
    after: datetime | None = None,
) -> Sequence[dg.EventLogRecord]:
    """The materialisations of one site's partition, newest first."""
    wanted = dg.AssetRecordsFilter(
        asset_key=dg.AssetKey(asset),
        asset_partitions=[site],
        after_timestamp=after.timestamp() if after else None,
    )
    return instance.fetch_materializations(wanted, limit=limit).records


def _calls(instance: dg.DagsterInstance, site: str, memory: Memory) -> Calls | None:
    """What the runs since the last report took; of a first report the last run alone.

    None where the instance has no record of one, such as a process that keeps no history.
    """
    after = memory.asked_until
    records = _records(instance, CANDIDATE_QUESTIONS.name, site, _MOST_RUNS if after else 1, after)
    runs: list[dict[str, Any]] = [
        {name: value.value for name, value in record.asset_materialization.metadata.items()}
        for record in records
        if record.asset_materialization is not None
    ]
    if not runs:
        return None
    costs = [run["cost_usd"] for run in runs if "cost_usd" in run]
    return Calls(
        runs=len(runs),
        llm_calls=sum(run["llm_calls"] for run in runs),
        tokens_in=sum(run["tokens_in"] for run in runs),
        tokens_out=sum(run["tokens_out"] for run in runs),
        cost_usd=sum(costs) if len(costs) == len(runs) else None,
    )


def _tables(store: ParquetStore, site: str) -> Tables:
    """What was published."""
    return Tables(
        raw_pages=rows_without_texts(store.read(RAW_PAGES, site), _PAGE_COLUMNS),
        **{
            name: to_rows(table, store.read(table, site))
            for name, table in (
                ("chunks", CHUNKS),
                ("questions", GROUNDED_QUESTIONS),
                ("calibrations", CALIBRATIONS),
                ("evaluation", EVALUATION),
            )
        },
    )


def _summary(reported: Reported) -> str:
    return summary(reported.row) if reported.is_new else "nothing changed"


def _metadata(reported: Reported) -> Mapping[str, Any]:
    """Plain numbers, which Dagster plots over time, and the report.

    Only a report that tells anything has a `report_id`: by it a message finds its text.
    """
    row = reported.row
    lists = ("added", "changed", "gone", "unknown", "recovered")
    counted = ("chunks", "proposed", "accepted")
    numbers: dict[str, Any] = {
        "summary": _summary(reported),
        "is_first": row["is_first"],
        "pages": row["pages"],
        **{f"pages/{name}": len(row[name]) for name in lists},
        **{name: row[name] for name in counted},
        **{
            f"{name}/{way}": row[f"{name}_{way}"]
            for name in counted
            for way in ("added", "removed")
        },
        "pages_short_of_questions": len(row["worst"]),
        "llm_calls": row["llm_calls"],
        "cost_usd": row["cost_usd"],
        "report": dg.MetadataValue.md(report_text(row, as_markdown)),
        "report_id": row["report_id"] if reported.is_new else None,
    }
    return {name: value for name, value in numbers.items() if value is not None}

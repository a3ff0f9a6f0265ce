"""Tables that an earlier release wrote, brought to the schema of this one."""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from qindex_pipeline.tables.fields import TEXTS
from qindex_pipeline.tables.table import VERSION_KEY, SchemaError, Table


def upgraded(table: Table, arrow: pa.Table, where: str) -> pa.Table:
    """A stored table in the current version of its schema.

    Raises SchemaError naming the version when it cannot be brought there, and what to do.
    """
    found = (arrow.schema.metadata or {}).get(VERSION_KEY, b"none").decode()
    if found == str(table.version):
        return arrow
    upgrade = _UPGRADES.get((table.name, found))
    if upgrade is None:
        raise SchemaError(
            f"{where} has schema version {found}, this release reads version {table.version} of "
            f"{table.name}: materialise {table.name} for this site again"
        )
    return upgrade(table, arrow)


def _with_new_columns(table: Table, arrow: pa.Table) -> pa.Table:
    """The stored columns, and nulls for those that the table has now."""
    columns: dict[str, Any] = {
        name: arrow.column(name) if name in arrow.schema.names else pa.nulls(len(arrow))
        for name in table.schema.names
    }
    return pa.table(columns)


def _raw_pages_from_1(table: Table, arrow: pa.Table) -> pa.Table:
    """Version 1 knew no states: what had content was present, of the rest nothing is known."""
    wide = _with_new_columns(table, arrow)
    has_content = arrow.column("markdown").is_valid().to_pylist()
    states = pa.array(["present" if known else "unknown" for known in has_content])
    return wide.set_column(wide.schema.get_field_index("state"), "state", states)


def _candidates_from_1(table: Table, arrow: pa.Table) -> pa.Table:
    """Version 1 knew neither kept nor human questions."""
    wide = _with_new_columns(table, arrow)
    origins = pa.array(["generated"] * len(arrow))
    return wide.set_column(wide.schema.get_field_index("origin"), "origin", origins)


def _verdicts_from_1(table: Table, arrow: pa.Table) -> pa.Table:
    """Version 1 knew the first objection only."""
    wide = _candidates_from_1(table, arrow)
    reasons = arrow.column("reject_reason").to_pylist()
    objections = pa.array([[] if reason is None else [reason] for reason in reasons], TEXTS)
    return wide.set_column(wide.schema.get_field_index("objections"), "objections", objections)


_UPGRADES: Mapping[tuple[str, str], Callable[[Table, pa.Table], pa.Table]] = {
    ("raw_pages", "1"): _raw_pages_from_1,
    ("chunks", "1"): _with_new_columns,
    ("calibrations", "1"): _with_new_columns,
    ("candidate_questions", "1"): _candidates_from_1,
    ("grounded_questions", "1"): _verdicts_from_1,
}

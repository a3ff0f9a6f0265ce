"""A table, and the ways between rows, DataFrames and Arrow tables: all held to its schema."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from qindex_pipeline.errors import WorkError

if TYPE_CHECKING:
    import pandas as pd

VERSION_KEY = b"qindex.schema_version"


class SchemaError(WorkError):
    """Rows that do not have their table's shape; the text names table and column."""


@dataclass(frozen=True)
class Table:
    """A table's name, the version of its schema, and the schema."""

    name: str
    version: int
    schema: pa.Schema

    @property
    def stamped_schema(self) -> pa.Schema:
        """The schema with the version in its metadata, as it is written to disk."""
        return self.schema.with_metadata({VERSION_KEY: str(self.version).encode()})


def to_arrow(table: Table, rows: "Iterable[object] | pd.DataFrame | pa.Table") -> pa.Table:
    """Dataclass rows, mappings, a DataFrame or an Arrow table, as an Arrow table of `table`.

    Raises SchemaError naming table and column when a column is missing, unknown, of another
    type, or null where it must not be.
    """
    if isinstance(rows, pa.Table):
        return _conform(table, rows)
    if hasattr(rows, "columns"):
        frame: Any = rows
        _require_columns(table, list(frame.columns))
        columns = {name: frame[name] for name in table.schema.names}
    else:
        records = [_record(row) for row in rows]  # pyright: ignore[reportGeneralTypeIssues]
        for names in {tuple(record): None for record in records}:
            _require_columns(table, list(names))
        columns = {name: [record[name] for record in records] for name in table.schema.names}
    arrays = [_array(table, field, columns[field.name]) for field in table.schema]
    return _conform(table, pa.Table.from_arrays(arrays, schema=table.schema))


def to_frame(table: Table, rows: Iterable[object]) -> "pd.DataFrame":
    """Rows as a DataFrame with Arrow dtypes, checked against the schema of `table`."""
    import pandas as pd

    return to_arrow(table, rows).to_pandas(types_mapper=pd.ArrowDtype)


def to_rows(table: Table, frame: "pd.DataFrame | pa.Table") -> list[dict[str, Any]]:
    """The rows of a frame as plain dictionaries, checked against the schema of `table`."""
    return to_arrow(table, frame).to_pylist()


def _record(row: object) -> dict[str, Any]:
    if is_dataclass(row) and not isinstance(row, type):
        return {field.name: getattr(row, field.name) for field in fields(row)}
    if isinstance(row, Mapping):
        return dict(row)
    raise SchemaError(f"a row must be a dataclass or a mapping, not {type(row).__name__}")


def _require_columns(table: Table, names: list[str]) -> None:
    missing = [name for name in table.schema.names if name not in names]
    unknown = [name for name in names if name not in table.schema.names]
    if missing or unknown:
        raise SchemaError(f"table {table.name}: missing columns {missing}, unknown {unknown}")


def _array(table: Table, field: pa.Field, values: Any) -> Any:
    """One column of `table`: a frame's column, or a list of values."""
    try:
        if isinstance(values, list):
            return pa.array(values, field.type)
        found = pa.array(values, from_pandas=True)
        return found if found.type == field.type else found.cast(field.type)
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise _wrong(table, field.name, error) from None


def _conform(table: Table, arrow: pa.Table) -> pa.Table:
    _require_columns(table, arrow.schema.names)
    for field in table.schema:
        if not field.nullable and arrow.column(field.name).null_count:
            raise SchemaError(f"table {table.name}: column {field.name} holds nulls")
    columns: list[Any] = []
    for field in table.schema:
        try:
            columns.append(arrow.column(field.name).cast(field.type))
        except (pa.ArrowException, ValueError) as error:
            raise _wrong(table, field.name, error) from None
    return pa.Table.from_arrays(columns, schema=table.schema)


def _wrong(table: Table, column: str, error: Exception) -> SchemaError:
    return SchemaError(f"table {table.name}: column {column}: {_one_line(error)}")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]

"""How the schemas name their columns: a type, what the column means, and whether it may be null."""

import pyarrow as pa

TIME = pa.timestamp("us", tz="UTC")
TEXTS = pa.list_(pa.string())


def column(name: str, kind: pa.DataType, doc: str, *, nullable: bool = False) -> pa.Field:
    """A column that holds a value in every row."""
    return pa.field(name, kind, nullable=nullable, metadata={"doc": doc})


def optional(name: str, kind: pa.DataType, doc: str) -> pa.Field:
    """A column that may hold nulls."""
    return column(name, kind, doc, nullable=True)

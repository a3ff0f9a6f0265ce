"""Schemas: every column is described, and rows that do not fit are refused by name."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from qindex_pipeline.tables import (
    CANDIDATE_QUESTIONS,
    CHUNKS,
    EMBEDDINGS,
    GROUNDED_QUESTIONS,
    RAW_PAGES,
    TABLES,
    SchemaError,
    Table,
    to_arrow,
    to_frame,
    to_rows,
    upgraded,
)
from qindex_pipeline_tests.conftest import Row, candidate_row, chunk_row, embedding_row

CHUNK = chunk_row("Run make install to install the tool.")
CANDIDATE = candidate_row(CHUNK, "How do I install the tool?")

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
SMALL = st.integers(0, 127)
VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.string(): TEXT,
    pa.large_string(): TEXT,
    pa.bool_(): st.booleans(),
    pa.int8(): SMALL,
    pa.int16(): st.integers(-(2**15), 2**15 - 1),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float32(): st.floats(allow_nan=False, width=32),
    pa.float64(): st.floats(allow_nan=False),
    pa.date32(): st.dates(),
    pa.timestamp("us", tz="UTC"): st.datetimes(timezones=st.just(UTC)),
}


def values_of(kind: pa.DataType) -> st.SearchStrategy[Any]:
    """Values that a column of this type may hold."""
    if pa.types.is_list(kind):
        return st.lists(values_of(kind.value_type), max_size=3)
    if pa.types.is_struct(kind):
        return st.fixed_dictionaries({field.name: values_of(field.type) for field in kind})
    return VALUES[kind]


def rows_of(table: Table) -> st.SearchStrategy[list[Row]]:
    """Lists of rows that fit the table, the empty one among them."""
    row = {
        field.name: (st.none() | values_of(field.type)) if field.nullable else values_of(field.type)
        for field in table.schema
    }
    return st.lists(st.fixed_dictionaries(row), max_size=3)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_every_column_says_what_it_means(table: Table) -> None:
    docs = {field.name: field.metadata[b"doc"].decode() for field in table.schema}
    assert [name for name, doc in docs.items() if len(doc) < 5 or doc == name] == []


def test_the_tables_stand_in_the_order_in_which_data_flows() -> None:
    assert list(TABLES) == [
        "raw_pages",
        "page_bodies",
        "chunks",
        "candidate_questions",
        "grounded_questions",
        "embeddings",
        "calibrations",
        "evaluation",
        "published_pages",
        "change_report",
        "documentation_gaps",
    ]


def test_a_grounded_question_keeps_every_column_of_its_candidate() -> None:
    width = len(CANDIDATE_QUESTIONS.schema)
    assert list(GROUNDED_QUESTIONS.schema)[:width] == list(CANDIDATE_QUESTIONS.schema)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@hypothesis_settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_rows_come_back_from_a_frame_as_they_went_in(table: Table, data: st.DataObject) -> None:
    rows = data.draw(rows_of(table))
    frame = to_frame(table, rows)
    assert all(isinstance(kind, pd.ArrowDtype) for kind in frame.dtypes)
    assert to_rows(table, frame) == rows


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_table_without_rows_keeps_its_columns(table: Table) -> None:
    frame = to_frame(table, [])
    assert list(frame.columns) == table.schema.names
    assert to_arrow(table, frame).schema.equals(table.schema)


def test_dataclasses_and_mappings_are_rows_alike() -> None:
    @dataclass(frozen=True)
    class Embedding:
        site: str
        point_id: str
        kind: str
        chunk_id: str
        question_id: str | None
        window: int
        text: str
        text_hash: str
        embedder: str
        fingerprint: str
        vector: list[float]

    row: Row = embedding_row(CHUNK) | {"vector": [1.0, 0.0]}
    assert to_arrow(EMBEDDINGS, [Embedding(**row)]) == to_arrow(EMBEDDINGS, [row])


def test_columns_may_come_in_any_order() -> None:
    turned = dict(reversed(CANDIDATE.items()))
    assert to_arrow(CANDIDATE_QUESTIONS, pd.DataFrame([turned])).schema.names == list(CANDIDATE)
    assert to_rows(CANDIDATE_QUESTIONS, pa.Table.from_pylist([turned])) == [CANDIDATE]


def without(row: Row, name: str) -> Row:
    return {key: value for key, value in row.items() if key != name}


def refused_line(rows: Any) -> str:
    with pytest.raises(SchemaError) as refused:
        to_arrow(CANDIDATE_QUESTIONS, rows)
    line = str(refused.value)
    assert "table candidate_questions" in line
    assert "\n" not in line
    return line


@pytest.mark.parametrize(
    ("row", "column"),
    [
        (without(CANDIDATE, "evidence"), "evidence"),
        (without(CANDIDATE, "cost_usd"), "cost_usd"),
        (CANDIDATE | {"language": "en"}, "language"),
        (CANDIDATE | {"question": None}, "question"),
        (CANDIDATE | {"question": 3}, "question"),
        (CANDIDATE | {"tokens_in": "three"}, "tokens_in"),
        (CANDIDATE | {"tokens_in": 2**40}, "tokens_in"),
        (CANDIDATE | {"tokens_in": 2**80}, "tokens_in"),
        (CANDIDATE | {"created_at": "noon"}, "created_at"),
        (CANDIDATE | {"question": "half a \ud83d sign"}, "question"),
    ],
    ids=[
        "missing",
        "missing optional",
        "unknown",
        "null",
        "no text",
        "no number",
        "too large",
        "far too large",
        "no time",
        "no unicode",
    ],
)
@pytest.mark.parametrize("good_before", [0, 1], ids=["first row", "second row"])
def test_a_row_that_does_not_fit_is_refused_with_table_and_column(
    row: Row, column: str, good_before: int
) -> None:
    assert column in refused_line([CANDIDATE] * good_before + [row])


@pytest.mark.parametrize(
    ("frame", "column"),
    [
        (pd.DataFrame([CANDIDATE]).drop(columns="evidence"), "evidence"),
        (pd.DataFrame([CANDIDATE | {"language": "en"}]), "language"),
        (pd.DataFrame([CANDIDATE, CANDIDATE | {"question": None}]), "question"),
        (pd.DataFrame([CANDIDATE, CANDIDATE | {"question": 3}]), "question"),
        (pd.DataFrame([CANDIDATE, CANDIDATE | {"tokens_in": "three"}]), "tokens_in"),
        (pd.DataFrame([CANDIDATE | {"tokens_in": 2**40}]), "tokens_in"),
    ],
    ids=["missing", "unknown", "null", "mixed text", "mixed numbers", "too large"],
)
def test_a_frame_that_does_not_fit_is_refused_with_table_and_column(
    frame: pd.DataFrame, column: str
) -> None:
    assert column in refused_line(frame)


def test_something_that_is_no_row_is_refused() -> None:
    with pytest.raises(SchemaError, match="must be a dataclass or a mapping, not str"):
        to_arrow(CHUNKS, ["a chunk"])


def test_the_schema_version_is_stamped_and_checked() -> None:
    current = CHUNKS.stamped_schema.empty_table()
    assert upgraded(CHUNKS, current, "here") is current
    newer = Table("chunks", CHUNKS.version + 1, CHUNKS.schema).stamped_schema.empty_table()
    with pytest.raises(SchemaError, match=r"here has schema version 3, .* version 2 of chunks"):
        upgraded(CHUNKS, newer, "here")
    with pytest.raises(SchemaError, match="here has schema version none"):
        upgraded(RAW_PAGES, RAW_PAGES.schema.empty_table(), "here")


def test_pages_of_the_first_release_are_read_as_present_where_they_have_content() -> None:
    names = {"state", "raw_html_hash", "sitemap_lastmod"}
    schema = pa.schema([field for field in RAW_PAGES.schema if field.name not in names])
    row = {
        "site": "s", "url": "http://s/", "page_id": "p", "depth": 0, "discovered_by": "start",
        "outcome": "ok", "elapsed_ms": 1, "fetched_at": datetime(2026, 1, 1, tzinfo=UTC),
    }  # fmt: skip
    texts = ["# T", None]
    columns = {
        field.name: texts if field.name == "markdown" else [row.get(field.name)] * 2
        for field in schema
    }
    old = pa.table(columns, schema=schema.with_metadata({"qindex.schema_version": "1"}))
    rows = to_rows(RAW_PAGES, upgraded(RAW_PAGES, old, "here"))
    assert [row["state"] for row in rows] == ["present", "unknown"]
    assert [row["raw_html_hash"] for row in rows] == [None, None]

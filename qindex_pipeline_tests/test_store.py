"""Parquet files: atomic, checked on the way in and out, and clear about what is wrong."""

import signal
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from qindex_pipeline.errors import WorkError
from qindex_pipeline.store import MissingTableError, ParquetStore
from qindex_pipeline.tables import (
    CANDIDATE_QUESTIONS,
    CHUNKS,
    EMBEDDINGS,
    TABLES,
    SchemaError,
    Table,
    to_rows,
)
from qindex_pipeline_tests.conftest import Row, candidate_row, chunk_row

OLD = [chunk_row(f"Old text {number}.") for number in range(3)]
NEW = [chunk_row(f"New text {number}.") for number in range(5)]


@pytest.fixture
def store(tmp_path: Path) -> ParquetStore:
    return ParquetStore(str(tmp_path / "data"))


def read(store: ParquetStore, site: str = "docs") -> list[Row]:
    return to_rows(CHUNKS, store.read(CHUNKS, site))


def test_rows_are_read_as_they_were_written(store: ParquetStore) -> None:
    store.write(CHUNKS, "docs", OLD)
    assert read(store) == OLD
    store.write(CHUNKS, "docs", NEW)
    assert read(store) == NEW


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_table_without_rows_is_written_and_read(table: Table, store: ParquetStore) -> None:
    assert store.write(table, "docs", []).num_rows == 0
    found = store.read(table, "docs")
    assert (found.num_rows, found.schema.names) == (0, table.schema.names)
    assert store.first(table, "docs", "site") is None


@pytest.mark.parametrize("site", ["docs.example.com", "a.parquet", "127.0.0.1-8000"])
def test_keys_with_dots_name_files_of_their_own(
    site: str, store: ParquetStore, tmp_path: Path
) -> None:
    store.write(CHUNKS, "docs.example", OLD)
    store.write(CHUNKS, site, NEW)
    assert (tmp_path / "data" / "chunks" / f"{site}.parquet").is_file()
    assert read(store, site) == NEW
    assert read(store, "docs.example") == OLD
    store.delete(CHUNKS, site)
    assert not store.exists(CHUNKS, site)
    assert store.exists(CHUNKS, "docs.example")


def test_deleting_a_table_that_is_not_there_is_no_failure(store: ParquetStore) -> None:
    store.delete(CHUNKS, "docs")
    assert not store.exists(CHUNKS, "docs")


def test_the_first_value_of_a_column_is_read_without_the_table(store: ParquetStore) -> None:
    assert store.first(CHUNKS, "docs", "text") is None
    store.write(CHUNKS, "docs", OLD)
    assert store.first(CHUNKS, "docs", "text") == "Old text 0."


def test_rows_that_do_not_fit_leave_the_old_table(store: ParquetStore) -> None:
    store.write(CHUNKS, "docs", OLD)
    with pytest.raises(SchemaError):
        store.write(CHUNKS, "docs", [candidate_row(OLD[0], "What?")])
    assert read(store) == OLD


def test_a_failing_write_leaves_the_old_table_and_nothing_else(
    store: ParquetStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write(CHUNKS, "docs", OLD)

    def fail(table: Any, file: Any, **_: Any) -> None:
        file.write(b"PAR1 half a table")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "write_table", fail)
    with pytest.raises(WorkError, match=r"docs\.parquet could not be written \(No space left"):
        store.write(CHUNKS, "docs", NEW)
    assert [path.name for path in (tmp_path / "data" / "chunks").iterdir()] == ["docs.parquet"]
    assert read(store) == OLD


KILLED_WRITE = """
import os, signal, sys
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import CHUNKS
from qindex_pipeline_tests.test_store import NEW

# The last thing before the file gets its name.
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
ParquetStore(sys.argv[1]).write(CHUNKS, "docs", NEW)
"""


def test_a_process_killed_while_it_writes_leaves_the_old_table(
    store: ParquetStore, tmp_path: Path
) -> None:
    store.write(CHUNKS, "docs", OLD)
    command = [sys.executable, "-c", KILLED_WRITE, str(tmp_path / "data")]
    killed = subprocess.run(command, cwd=Path(__file__).parents[1], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert read(store) == OLD
    store.write(CHUNKS, "docs", NEW)
    assert read(store) == NEW


def test_a_missing_table_is_named_with_site_and_path(store: ParquetStore) -> None:
    with pytest.raises(MissingTableError) as missing:
        store.read(EMBEDDINGS, "docs.example.com")
    line = str(missing.value)
    assert "embeddings of site 'docs.example.com'" in line
    assert store.path(EMBEDDINGS, "docs.example.com") in line
    assert "qindex ingest" in line


def test_a_table_of_another_schema_version_is_refused_by_name(store: ParquetStore) -> None:
    store.write(Table("chunks", 7, CHUNKS.schema), "docs", OLD)
    with pytest.raises(SchemaError, match="has schema version 7") as refused:
        store.read(CHUNKS, "docs")
    assert store.path(CHUNKS, "docs") in str(refused.value)
    assert "materialise chunks" in str(refused.value)


@pytest.fixture
def random_file(store: ParquetStore) -> Path:
    """A table of random texts: what compresses well leaves nothing to damage."""
    rows = [candidate_row(OLD[0], uuid.uuid4().hex) for _ in range(300)]
    store.write(CANDIDATE_QUESTIONS, "docs", rows)
    return Path(store.path(CANDIDATE_QUESTIONS, "docs"))


def assert_refused(reading: Callable[[], Any], file: Path) -> None:
    with pytest.raises(WorkError) as refused:
        reading()
    line = str(refused.value)
    assert str(file) in line
    assert "materialise candidate_questions for site 'docs' again" in line
    assert "\n" not in line


CUTS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "half": lambda whole: whole[: len(whole) // 2],
    "no end": lambda whole: whole[:-3],
    "another format": lambda _: b"site,url\n" * 100,
}


@pytest.mark.parametrize("cut", CUTS)
def test_a_truncated_table_is_told_in_one_line(
    cut: str, store: ParquetStore, random_file: Path
) -> None:
    random_file.write_bytes(CUTS[cut](random_file.read_bytes()))
    assert_refused(lambda: store.read(CANDIDATE_QUESTIONS, "docs"), random_file)
    assert_refused(lambda: store.first(CANDIDATE_QUESTIONS, "docs", "question"), random_file)


def test_a_table_damaged_inside_is_told_in_one_line(store: ParquetStore, random_file: Path) -> None:
    whole = random_file.read_bytes()
    half = len(whole) // 2
    random_file.write_bytes(whole[:4] + bytes(half - 4) + whole[half:])
    assert_refused(lambda: store.read(CANDIDATE_QUESTIONS, "docs"), random_file)


def test_a_data_root_may_be_any_filesystem_that_fsspec_knows() -> None:
    store = ParquetStore(f"memory://{uuid.uuid4().hex}/data")
    with pytest.raises(MissingTableError):
        store.read(CHUNKS, "docs.example.com")
    store.write(CHUNKS, "docs.example.com", OLD)
    store.write(CHUNKS, "docs.example.com", NEW)
    assert read(store, "docs.example.com") == NEW
    assert store.first(CHUNKS, "docs.example.com", "text") == "New text 0."
    store.delete(CHUNKS, "docs.example.com")
    assert not store.exists(CHUNKS, "docs.example.com")

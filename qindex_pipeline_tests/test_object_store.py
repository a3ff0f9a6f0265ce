"""A data root on an S3-compatible server: what machines that share nothing else share there.

Each "machine" below is a state folder of its own. What a run paid for must be found by the next
one although the folder is gone, and two runs at once must need no file lock.
"""

import os
import threading
import uuid
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import dagster as dg
import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline import object_store
from qindex_pipeline.build import build_definitions
from qindex_pipeline.doctor import examine
from qindex_pipeline.embedding.cache import BATCH, VectorCache
from qindex_pipeline.errors import TransientError, UsageError, WorkError
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.object_store import MANY, Lines, Objects
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.progress import Silent
from qindex_pipeline.query import QIndex
from qindex_pipeline.questions.asking.ledger import Ledger
from qindex_pipeline.questions.asking.notes import Notes
from qindex_pipeline.questions.asking.pending import Pending
from qindex_pipeline.questions.asking.recorder import Call
from qindex_pipeline.questions.generators.generator import Task
from qindex_pipeline.rebuild import rebuild
from qindex_pipeline.removal import purge_site
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site, add_site
from qindex_pipeline.store import MissingTableError, ParquetStore
from qindex_pipeline.tables import CHUNKS, RAW_PAGES, to_rows
from qindex_pipeline_tests.chain import failure, metadata
from qindex_pipeline_tests.command import CLOSED, write_site
from qindex_pipeline_tests.conftest import chunk_row
from qindex_pipeline_tests.fakes.qdrant_server import QdrantServer
from qindex_pipeline_tests.fakes.s3_server import s3_server
from qindex_pipeline_tests.questions.test_ledger import PLACE, entry

REAL_URL = os.environ.get("QDRANT_TEST_URL")
REAL_KEY = os.environ.get("QDRANT_TEST_API_KEY", "")


@pytest.fixture(scope="module")
def bucket() -> Generator[str]:
    with s3_server() as url:
        yield url


@pytest.fixture
def root(bucket: str, request: pytest.FixtureRequest) -> str:
    """A data root of the test's own."""
    return f"{bucket}/{request.node.name[:60]}"


# --- tables ---------------------------------------------------------------------------------


def test_a_table_is_replaced_as_a_whole_and_read_by_others_at_once(root: str) -> None:
    writer, reader = ParquetStore(root), ParquetStore(root)
    assert not reader.exists(CHUNKS, "docs.example.com")
    with pytest.raises(MissingTableError, match=r"chunks of site 'docs.example.com' has not been"):
        reader.read(CHUNKS, "docs.example.com")
    for rows in ([chunk_row("Old.")], [chunk_row("New."), chunk_row("Newer.")]):
        writer.write(CHUNKS, "docs.example.com", rows)
        assert to_rows(CHUNKS, reader.read(CHUNKS, "docs.example.com")) == rows
    assert reader.first(CHUNKS, "docs.example.com", "text") == "New."
    writer.delete(CHUNKS, "docs.example.com")
    writer.delete(CHUNKS, "docs.example.com")
    assert not reader.exists(CHUNKS, "docs.example.com")


def test_a_bucket_that_is_not_there_is_named(bucket: str) -> None:
    store = ParquetStore("s3://elsewhere")
    assert not store.exists(CHUNKS, "docs")
    with pytest.raises(WorkError, match=r"elsewhere/chunks/docs\.parquet cannot be written: "):
        store.write(CHUNKS, "docs", [])


def test_a_store_that_does_not_answer_is_not_taken_for_an_empty_one(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, path = object_store.open_root(bucket)
    closed = type(files)(
        client_kwargs={"endpoint_url": CLOSED},
        config_kwargs={"retries": {"max_attempts": 0}},
        skip_instance_cache=True,
    )
    monkeypatch.setattr(type(closed), "retries", 1)
    monkeypatch.setattr(object_store.fsspec.core, "url_to_fs", lambda *_, **__: (closed, path))
    store = ParquetStore(bucket)
    for use in (
        lambda: store.exists(CHUNKS, "docs"),
        lambda: store.read(CHUNKS, "docs"),
        lambda: store.write(CHUNKS, "docs", []),
    ):
        with pytest.raises(TransientError, match=r"docs/chunks/docs\.parquet cannot be reached"):
            use()


def test_a_driver_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"^QINDEX_DATA=nowhere://docs: .*qindex_pipeline\[s3\]"):
        ParquetStore("nowhere://docs")


# --- lines ----------------------------------------------------------------------------------


def objects_in(folder: str) -> Objects:
    """Objects in memory: the same calls, without a server."""
    return Objects.under(f"memory://{folder}", "lines")


def lines_in(folder: str) -> Lines:
    return Lines(objects_in(folder))


@pytest.fixture
def folder() -> str:
    return uuid.uuid4().hex


def read(lines: Lines) -> list[bytes]:
    return sorted(set(lines.unseen(set())))


@hypothesis.settings(max_examples=30)
@given(
    st.lists(
        st.lists(st.binary(min_size=1).filter(lambda line: b"\n" not in line), min_size=1),
        max_size=8,
    )
)
def test_merging_loses_no_line_and_makes_no_line_up(additions: list[list[bytes]]) -> None:
    folder = uuid.uuid4().hex
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(object_store, "MANY", 3)
        patch.setattr(object_store, "SMALL", 20)
        expected: set[bytes] = set()
        for added in additions:
            whole = [line + b"\n" for line in added]
            lines_in(folder).add(b"".join(whole))
            expected |= set(whole)
            lines_in(folder).merge()
            assert read(lines_in(folder)) == sorted(expected)


def test_many_small_objects_become_few_and_large_ones_stay(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "SMALL", 100)
    lines = lines_in(folder)
    large = lines.add(b"l" * 200 + b"\n")
    for number in range(MANY):
        lines.add(f"line {number:02}\n".encode())
    lines.merge()
    sizes = objects_in(folder).sizes()
    assert sizes[large] == 201
    assert len(sizes) == 1 + 3  # 256 bytes, in parts of a hundred
    assert len(read(lines)) == MANY + 1


def test_two_that_merge_at_once_lose_nothing_and_a_reader_misses_nothing(folder: str) -> None:
    class Overtaken(Lines):
        """Between its reading and its deleting another writer merges the same."""

        def add(self, lines: bytes) -> str:
            name = super().add(lines)
            lines_in(folder).merge()
            return name

    wanted = {f"line {number}\n".encode() for number in range(MANY)}
    for line in wanted:
        lines_in(folder).add(line)
    reading = lines_in(folder).unseen(set())
    found = {next(reading)}
    Overtaken(objects_in(folder)).merge()
    assert found | set(reading) == wanted
    assert set(read(lines_in(folder))) == wanted


# --- what was paid for ----------------------------------------------------------------------


def ledger_of(machine: Path, root: str) -> Ledger:
    return Ledger(machine / "ledger", durable=Objects.under(root, "state/ledger"))


def test_an_answer_outlives_the_disk_of_the_run_that_asked(root: str, tmp_path: Path) -> None:
    # No end, no compact: a killed run, of which nothing but the bucket is left.
    killed = ledger_of(tmp_path / "a", root)
    killed.put("one", entry(1, failure="refused", tries=1))
    killed.put("one", entry(1))
    killed.put("two", entry(2))
    found = ledger_of(tmp_path / "b", root)
    assert (found.get("one"), found.get("two"), found.get("three")) == (entry(1), entry(2), None)
    assert found.answers_at(entry(2).source.place)  # what an edited chunk is held against


def test_a_data_root_in_a_bucket_is_all_that_a_run_needs_to_share_its_answers(
    root: str, tmp_path: Path, settings: Any
) -> None:
    def run_on(machine: str) -> Pipeline:
        return Pipeline(
            settings(QINDEX_DATA=root, QINDEX_STATE=tmp_path / machine, QDRANT_URL=CLOSED), {}
        )

    run_on("a").ledger.put("one", entry(1))
    assert run_on("b").ledger.get("one") == entry(1)


def test_an_answer_that_could_not_be_sent_goes_with_the_next(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = ledger_of(tmp_path / "a", root)

    def down(*_: Any) -> None:
        raise TransientError("the bucket does not answer")

    with monkeypatch.context() as outage:
        outage.setattr(Objects, "put", down)
        with pytest.raises(TransientError):
            ledger.put("one", entry(1))
    assert ledger_of(tmp_path / "b", root).get("one") is None
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: ledger.put(f"key-{n}", entry(n)), range(8)))
    found = ledger_of(tmp_path / "c", root)
    assert found.get("one") == entry(1)
    assert [found.get(f"key-{n}") for n in range(8)] == [entry(n) for n in range(8)]


def test_a_night_of_many_answers_leaves_few_objects(root: str, tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path / "a", root)
    for number in range(MANY):
        ledger.put(f"key-{number}", entry(number))
    ledger.compact()
    assert len(Objects.under(root, "state/ledger").sizes()) == 1
    next_night = ledger_of(tmp_path / "b", root)
    assert [next_night.get(f"key-{n}") for n in range(MANY)] == [entry(n) for n in range(MANY)]


def test_a_batch_that_was_handed_over_is_picked_up_on_another_machine(
    root: str, tmp_path: Path
) -> None:
    durable = Objects.under(root, "state/ledger/batches")
    source = entry(1).source
    call = Call(Pending("key", source, Task(chunk_row("Text number 1."))))
    note = Notes(tmp_path / "a", durable).begin(source.spec, [call])
    killed = Notes(tmp_path / "a2", durable)
    Notes(tmp_path / "a", durable).submitted(note, "batch-7")
    assert [n.batch_id for n in killed.left_behind(source.spec)] == ["batch-7"]
    other = Notes(tmp_path / "b", durable)
    (found,) = other.left_behind(source.spec)
    assert (found.batch_id, list(found.calls)) == ("batch-7", ["key"])
    other.end(found)
    assert list(Notes(tmp_path / "c", durable).left_behind(PLACE.spec)) == []


def vectors_of(texts: list[str]) -> Any:
    return np.array([[len(text), 1.5] for text in texts], dtype=np.float32)


def test_a_vector_outlives_the_disk_of_the_run_that_embedded(root: str, tmp_path: Path) -> None:
    texts = {f"hash-{number}": "x" * number for number in range(BATCH + 5)}
    asked: list[int] = []

    def killed_in_the_second_batch(batch: Any) -> Any:
        asked.append(len(batch))
        if len(asked) == 2:
            raise KeyboardInterrupt
        return vectors_of(batch)

    def cache(machine: str, site: str) -> VectorCache:
        durable = Objects.under(root, "state/vectors")
        return VectorCache(tmp_path / machine / "vectors.sqlite", durable, site)

    with pytest.raises(KeyboardInterrupt):
        cache("a", "docs").embed("f", texts, killed_in_the_second_batch, lambda *_: None)
    rest = [f"hash-{number}" for number in range(BATCH, BATCH + 5)]
    assert cache("plan", "").missing("f", texts) == rest
    assert not (tmp_path / "plan").exists()
    found, embedded = cache("b", "docs").embed("f", texts, vectors_of, lambda *_: None)
    assert embedded == 5
    assert {key: list(vector) for key, vector in found.items()} == {
        key: [len(text), 1.5] for key, text in texts.items()
    }
    assert cache("c", "docs").embed("f", texts, vectors_of, lambda *_: None)[1] == 0
    assert cache("d", "other").missing("f", texts) == list(texts)


# --- two runs at once -----------------------------------------------------------------------

SITES = {
    "lantern": "<h1>Lantern</h1><p>To install Lantern, run the installer in a terminal.</p>",
    "gadget": "<h1>Gadget</h1><p>To remove the gadget, call its uninstall command twice.</p>",
}


class Together(Silent):
    """Lets a run go on from its first stage only when the other one is in it too."""

    def __init__(self, barrier: threading.Barrier) -> None:
        self._barrier: threading.Barrier | None = barrier

    def __call__(self, *_: Any, **__: Any) -> None:
        if self._barrier is not None:
            barrier, self._barrier = self._barrier, None
            barrier.wait(timeout=60)


def job_of(settings: Settings, progress: Silent) -> dg.JobDefinition:
    return build_definitions(settings, progress=progress).resolve_job_def("site_refresh")


def run(job: dg.JobDefinition, key: str) -> dg.ExecuteInProcessResult:
    with dg.DagsterInstance.ephemeral() as instance:
        return job.execute_in_process(
            partition_key=key,
            raise_on_error=False,
            instance=instance,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )


@pytest.mark.slow
def test_two_machines_refresh_two_sites_at_once_with_nothing_but_settings(
    root: str, tmp_path: Path, settings: Any
) -> None:
    with ExitStack() as stack:
        url = REAL_URL or stack.enter_context(QdrantServer()).url
        machines = {
            key: settings(
                QINDEX_PROFILE="offline",
                QINDEX_DATA=root,
                QINDEX_STATE=tmp_path / key,
                QINDEX_SITES=tmp_path / "sites.yaml",
                QINDEX_COLLECTION_NAME=f"qindex_test_s3_{os.getpid()}",
                QDRANT_URL=url,
                QDRANT_API_KEY=REAL_KEY,
            )
            for key in SITES
        }
        for key, page in SITES.items():
            folder = write_site(tmp_path / f"{key}-site", index=page)
            add_site(tmp_path / "sites.yaml", Site(key=key, folder=folder))
        barrier = threading.Barrier(len(SITES))
        jobs = {key: job_of(machine, Together(barrier)) for key, machine in machines.items()}
        with ThreadPoolExecutor(len(SITES)) as pool:
            started = {key: pool.submit(run, job, key) for key, job in jobs.items()}
            done = {key: future.result() for key, future in started.items()}
        for result in done.values():
            assert result.success, failure(result)
        try:
            _check_what_is_shared(machines["lantern"], done["lantern"], tmp_path)
        finally:
            for key, machine in machines.items():
                purge_site(machine, key, lambda _: None)
            assert not ParquetStore(root).exists(RAW_PAGES, "gadget")


def _check_what_is_shared(
    machine: Settings, first: dg.ExecuteInProcessResult, tmp_path: Path
) -> None:
    collection = open_engine(machine).open(f"qindex_test_s3_{os.getpid()}")
    assert collection is not None
    assert set(collection.sites()) == set(SITES)
    answer = QIndex(machine).ask("How do I remove the gadget?", site="gadget")
    assert answer.results[0].title == "Gadget"
    assert metadata(first)["grounded_questions"]["texts_embedded"] > 0
    # The next night, on a third machine: nothing is embedded and nothing is written again.
    third = machine.model_copy(update={"state": tmp_path / "third"})
    night = run(job_of(third, Silent()), "lantern")
    assert night.success, failure(night)
    assert metadata(night)["grounded_questions"]["texts_embedded"] == 0
    assert metadata(night)["embeddings"]["texts_embedded"] == 0
    assert metadata(night)["question_index"]["points_written"] == 0
    assert [done.report.written for done in rebuild(third, None, lambda _: None)] == [0, 0]
    findings = {finding.what: finding for finding in examine(tmp_path)}
    assert findings["data root"].good, findings["data root"].detail

"""The embedded engine's files: a kill never shows to readers, and little is left behind."""

import hashlib
import multiprocessing
import signal
import subprocess
import sys
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event as EventType
from pathlib import Path

import pytest

from qindex_pipeline.errors import WorkError
from qindex_pipeline.index import edge
from qindex_pipeline.index.edge import EdgeCollection, EdgeEngine
from qindex_pipeline.index.engine import Diff, QueryRequest, physical_name
from qindex_pipeline_tests.conftest import DIMENSION, made_manifest, made_points

ALIAS = "docs"
MANIFEST = made_manifest()
NAME = physical_name(ALIAS, MANIFEST)
OLD = ["Installing takes one command.", "Themes change the colours."]
NEW = ["Installing takes two commands.", "Themes change the fonts.", "Rotation is in degrees."]
PASSAGES = QueryRequest([1.0] * DIMENSION, "passage", limit=50)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "index"


def publish(root: Path, texts: list[str]) -> None:
    EdgeEngine(root).sync(ALIAS, MANIFEST, "a", made_points("a", texts))


def texts_of(root: Path) -> list[str]:
    """The passages that a new reader finds."""
    collection = EdgeEngine(root).open(ALIAS)
    assert collection is not None
    (hits,) = collection.query_batch([PASSAGES])
    collection.close()
    return sorted(hit.payload["text"] for hit in hits)


def names(root: Path) -> set[str]:
    return {path.name for path in (root / NAME).iterdir()}


KILLED_SYNC = """
import os, signal, sys
from pathlib import Path
from qindex_pipeline.index import edge
from qindex_pipeline_tests.index.test_edge import NEW, publish

def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)

setattr(edge, sys.argv[2], kill)
publish(Path(sys.argv[1]), NEW)
"""


@pytest.mark.parametrize(
    "step", ["_apply", "_write_atomically"], ids=["half built", "built but not published"]
)
def test_a_killed_sync_leaves_the_old_generation_and_a_new_run_finishes(
    step: str, root: Path
) -> None:
    publish(root, OLD)
    command = [sys.executable, "-c", KILLED_SYNC, str(root), step]
    killed = subprocess.run(command, cwd=Path(__file__).parents[2], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(names(root)) > len({"CURRENT", "gen-1"})
    assert texts_of(root) == sorted(OLD)
    publish(root, NEW)
    assert texts_of(root) == sorted(NEW)
    assert names(root) == {"CURRENT", "gen-1", "gen-2"}


def test_two_generations_stay_and_unchanged_syncs_make_none(root: Path) -> None:
    for texts in (OLD, NEW, NEW, OLD):
        publish(root, texts)
    assert names(root) == {"CURRENT", "gen-2", "gen-3"}
    assert texts_of(root) == sorted(OLD)


def contents(folder: Path) -> dict[str, str]:
    """Checksum by file."""
    found: dict[str, str] = {}
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                found[str(path.relative_to(folder))] = hashlib.file_digest(file, "md5").hexdigest()
    return found


def test_reading_changes_nothing_in_a_generation(root: Path) -> None:
    publish(root, OLD)
    before = contents(root)
    texts_of(root)
    assert contents(root) == before


def test_a_generation_that_lost_points_is_not_published(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(root, OLD)
    stray = edge.EdgePoint(1, {}, {"site": "b"})
    monkeypatch.setattr(edge, "_edge_point", lambda _: stray)
    with pytest.raises(WorkError, match=r"site 'a': the new generation .* nothing was published"):
        publish(root, NEW)
    monkeypatch.undo()
    assert texts_of(root) == sorted(OLD)


def test_a_pointer_without_its_collection_says_what_to_do(root: Path) -> None:
    root.mkdir()
    (root / f"{ALIAS}.json").write_text('{"collection": "docs__00000000"}')
    with pytest.raises(WorkError, match=r"docs\.json names a collection .*run `qindex ingest`"):
        EdgeEngine(root).open(ALIAS)


def test_more_sites_than_a_facet_lists_by_itself_are_all_seen(root: Path) -> None:
    sites = {f"site-{number}": 2 for number in range(12)}
    points = [point for site in sites for point in made_points(site, OLD[:1])]
    generation = root / "gen-1"
    # Twelve publications would copy the shard twelve times.
    edge._build(generation, None, MANIFEST)
    edge._apply(generation / "shard", "site-0", Diff(points, [], 0), expected=2)
    collection = EdgeCollection(NAME, generation)
    assert collection.sites() == sites
    collection.close()


def read_on_demand(root: Path, asked: Connection) -> None:
    """A reader's process: for each word on the pipe, what it finds; an empty one ends it."""
    while asked.recv():
        asked.send(texts_of(root))


def test_other_processes_read_while_the_next_generation_is_published(root: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    publish(root, OLD)
    readers = []
    for _ in range(2):
        ours, theirs = spawn.Pipe()
        process = spawn.Process(target=read_on_demand, args=(root, theirs))
        process.start()
        theirs.close()
        readers.append((process, ours))

    def all_find() -> list[list[str]]:
        for _, pipe in readers:
            pipe.send("read")
        return [pipe.recv() for _, pipe in readers]

    assert all_find() == [sorted(OLD)] * 2
    for _, pipe in readers:
        pipe.send("read")
    publish(root, NEW)  # while both read
    assert all(pipe.recv() in (sorted(OLD), sorted(NEW)) for _, pipe in readers)
    assert all_find() == [sorted(NEW)] * 2
    for process, pipe in readers:
        pipe.send("")
        process.join()
        assert process.exitcode == 0


def open_and_close_until(root: Path, stop: EventType) -> None:
    while not stop.is_set():
        collection = EdgeEngine(root).open(ALIAS)
        assert collection is not None
        collection.close()


def test_a_reader_that_opens_all_the_time_never_disturbs_a_publication(root: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    publish(root, OLD)
    stop = spawn.Event()
    reader = spawn.Process(target=open_and_close_until, args=(root, stop))
    reader.start()
    for number in range(6):
        publish(root, NEW if number % 2 else OLD)
    stop.set()
    reader.join()
    assert reader.exitcode == 0

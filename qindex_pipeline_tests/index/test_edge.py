"""The embedded engine's files: a kill never shows to readers, and little is left behind."""

import hashlib
import multiprocessing
import shutil
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event as EventType
from pathlib import Path

import pytest

from qindex_pipeline.errors import WorkError
from qindex_pipeline.index import edge_shard
from qindex_pipeline.index.difference import Diff
from qindex_pipeline.index.edge import EdgeEngine
from qindex_pipeline.index.edge_collection import EdgeCollection
from qindex_pipeline.index.engine import QueryRequest, physical_name
from qindex_pipeline.index.generations import Published
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


def test_two_generations_stay_and_unchanged_syncs_make_none(root: Path) -> None:
    for texts in (OLD, NEW, NEW, OLD):
        publish(root, texts)
    assert names(root) == {"gen-2", "gen-3"}
    assert texts_of(root) == sorted(OLD)


def test_a_rollback_goes_one_generation_back_and_the_next_run_publishes_anew(root: Path) -> None:
    engine = EdgeEngine(root)
    publish(root, OLD)
    publish(root, NEW)
    done = engine.rollback(ALIAS)
    assert (done.before, done.now) == (f"{NAME}/gen-2", f"{NAME}/gen-1")
    assert texts_of(root) == sorted(OLD)
    # Another site's run leaves the rolled-back site as readers see it.
    engine.sync(ALIAS, MANIFEST, "b", made_points("b", ["Of another site."]))
    assert texts_of(root) == sorted([*OLD, "Of another site."])
    assert names(root) == {"gen-1", "gen-3"}
    publish(root, NEW)
    assert texts_of(root) == sorted([*NEW, "Of another site."])


def test_a_generation_whose_number_comes_again_has_another_name(root: Path) -> None:
    engine = EdgeEngine(root)
    publish(root, OLD)
    publish(root, NEW)
    engine.sync(ALIAS, MANIFEST, "b", made_points("b", OLD))
    seen = engine.live(ALIAS)
    engine.rollback(ALIAS)
    engine.remove(ALIAS, "a")  # gives up what was rolled back, and its number
    assert names(root) == {"gen-3"}
    assert engine.live(ALIAS) != seen


def test_a_model_change_leaves_the_live_generation_and_the_one_before(root: Path) -> None:
    engine, following = EdgeEngine(root), [made_manifest(name) for name in ("second", "third")]
    publish(root, OLD)
    publish(root, NEW)
    for manifest in following:
        engine.sync(ALIAS, manifest, "a", made_points("a", NEW))
    folders = {path.name for path in root.iterdir() if path.is_dir()}
    assert folders == {physical_name(ALIAS, manifest) for manifest in following}


def contents(folder: Path) -> dict[str, str]:
    """Checksum by file."""
    found: dict[str, str] = {}
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                found[str(path.relative_to(folder))] = hashlib.file_digest(file, "md5").hexdigest()
    return found


@pytest.mark.parametrize("above", [1000, 1], ids=["plain", "with a vector index"])
def test_reading_changes_nothing_in_a_generation(above: int, root: Path) -> None:
    EdgeEngine(root, above).sync(ALIAS, MANIFEST, "a", made_points("a", OLD))
    before = contents(root)
    texts_of(root)
    assert contents(root) == before


def test_a_generation_that_lost_points_is_not_published(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(root, OLD)
    stray = edge_shard.EdgePoint(1, {}, {"site": "b"})
    monkeypatch.setattr(edge_shard, "_edge_point", lambda _: stray)
    with pytest.raises(WorkError, match=r"site 'a': the new generation .* nothing was published"):
        publish(root, NEW)
    monkeypatch.undo()
    assert texts_of(root) == sorted(OLD)


@pytest.mark.parametrize(
    "pointer",
    ['{"live": {"collection": "docs__00000000", "generation": "gen-1"}}', "{}"],
    ids=["gone", "of another layout"],
)
def test_a_pointer_without_its_collection_says_what_to_do(pointer: str, root: Path) -> None:
    root.mkdir()
    (root / f"{ALIAS}.json").write_text(pointer)
    with pytest.raises(WorkError, match=r"docs\.json names a collection .*run `qindex rebuild`"):
        EdgeEngine(root).open(ALIAS)
    publish(root, OLD)
    assert texts_of(root) == sorted(OLD)


def test_a_broken_shard_says_what_to_do_and_a_rollback_answers(root: Path) -> None:
    publish(root, OLD)
    publish(root, NEW)
    shutil.rmtree(root / NAME / "gen-2" / "shard" / "segments")
    (root / NAME / "gen-2" / "shard" / "edge_config.json").write_text("torn")
    with pytest.raises(WorkError, match=r"gen-2 cannot be opened .*`qindex rebuild`") as broken:
        EdgeEngine(root).open(ALIAS)
    assert "\n" not in str(broken.value)
    EdgeEngine(root).rollback(ALIAS)
    assert texts_of(root) == sorted(OLD)


def test_more_sites_than_a_facet_lists_by_itself_are_all_seen(root: Path) -> None:
    sites = {f"site-{number}": 2 for number in range(12)}
    points = [point for site in sites for point in made_points(site, OLD[:1])]
    generation = root / "gen-1"
    # Twelve publications would copy the shard twelve times.
    edge_shard._create(generation, MANIFEST)
    for number, site in enumerate(sites):
        edge_shard._apply(generation, site, Diff(points[2 * number :][:2], [], 0))
    edge_shard._finish(generation, MANIFEST, 0)
    collection = EdgeCollection(Published(NAME, "gen-1"), generation)
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

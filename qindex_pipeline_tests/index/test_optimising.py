"""Vector indexes of the embedded engine: built after publication, in a generation of its own."""

import logging
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from qindex_pipeline.index import optimising
from qindex_pipeline.index.edge import EdgeEngine
from qindex_pipeline.index.edge_collection import EdgeCollection
from qindex_pipeline.index.edge_shard import build_optimised
from qindex_pipeline.index.engine import QueryRequest, physical_name
from qindex_pipeline.index.sparse import Bm25Model
from qindex_pipeline_tests.conftest import DIMENSION, made_manifest, made_points
from qindex_pipeline_tests.fakes.hashed_embedding import embed

ALIAS = "docs"
MANIFEST = made_manifest()
NAME = physical_name(ALIAS, MANIFEST)
OLD = [f"Page {number} as it was." for number in range(6)]
NEW = [*OLD[:1], *(f"Page {number} as it is now." for number in range(6))]
LIMIT = 10


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "index"


def publish(root: Path, texts: list[str], above: int = LIMIT, site: str = "a") -> None:
    EdgeEngine(root, above).sync(ALIAS, MANIFEST, site, made_points(site, texts))


def opened(root: Path) -> EdgeCollection:
    collection = EdgeEngine(root).open(ALIAS)
    assert collection is not None
    return collection


def texts_of(root: Path) -> list[str]:
    with closing(opened(root)) as collection:
        (hits,) = collection.query_batch([QueryRequest([1.0] * DIMENSION, "passage", 1000)])
    return sorted(hit.payload["text"] for hit in hits)


def dense_indexed(root: Path) -> int:
    """Dense vectors in an index; the engine counts the sparse ones, of passages, among all."""
    with closing(opened(root)) as collection:
        info = collection.shard.info()
    return info.indexed_vectors_count - info.points_count // 2


def names(root: Path) -> set[str]:
    return {path.name for path in (root / NAME).iterdir()}


def test_above_the_limit_what_is_live_gets_a_vector_index(root: Path) -> None:
    publish(root, OLD, above=2 * len(OLD))
    assert (names(root), dense_indexed(root)) == ({"gen-1"}, 0)
    publish(root, OLD, above=2 * len(OLD) - 1)
    assert (names(root), dense_indexed(root)) == ({"gen-2"}, 2 * len(OLD))
    assert texts_of(root) == sorted(OLD)


def test_an_indexed_generation_finds_what_comparing_every_point_finds(root: Path) -> None:
    texts = [f"Page {number} tells of the number {number * number}." for number in range(100)]
    bm25 = Bm25Model()

    def found() -> list[list[tuple[str, float]]]:
        vectors = [embed(text, DIMENSION).tolist() for text in texts[:20]]
        requests = [QueryRequest(vector, "question", 10, "a") for vector in vectors]
        requests += [QueryRequest(vector, "passage", 10) for vector in vectors]
        requests += [QueryRequest(bm25.query(text), "passage", 10) for text in texts[:20]]
        with closing(opened(root)) as collection:
            replies = collection.query_batch(requests)
        return [sorted((hit.id, round(hit.score, 4)) for hit in hits[:1]) for hits in replies]

    publish(root, texts, above=10_000)
    every = found()
    publish(root, texts)
    assert dense_indexed(root) == 2 * len(texts)
    assert found() == every


def test_a_rollback_passes_the_generation_over_that_had_no_index(root: Path) -> None:
    publish(root, OLD, above=1000)
    publish(root, NEW)
    assert names(root) == {"gen-1", "gen-3"}
    engine = EdgeEngine(root)
    engine.rollback(ALIAS)
    assert texts_of(root) == sorted(OLD)
    engine.rollback(ALIAS)
    assert texts_of(root) == sorted(NEW)
    assert dense_indexed(root) == 2 * len(NEW)


def test_a_model_change_is_rolled_back_past_the_index_too(root: Path) -> None:
    publish(root, OLD)
    engine, following = EdgeEngine(root, LIMIT), made_manifest("next")
    engine.sync(ALIAS, following, "a", made_points("a", NEW))
    engine.rollback(ALIAS)
    with closing(opened(root)) as collection:
        assert collection.manifest == MANIFEST
    assert texts_of(root) == sorted(OLD)


def test_readers_have_the_new_content_before_it_is_indexed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(root, OLD)
    seen: list[list[str]] = []

    def look(building: Path, base: Path) -> None:
        seen.append(texts_of(root))
        build_optimised(building, base)

    monkeypatch.setattr(optimising, "build_optimised", look)
    publish(root, NEW)
    assert seen == [sorted(NEW)]
    assert dense_indexed(root) == 2 * len(NEW)


def test_only_what_came_since_counts_towards_the_next_index(root: Path) -> None:
    publish(root, OLD)
    generation = EdgeEngine(root).live(ALIAS)
    publish(root, OLD)
    assert EdgeEngine(root).live(ALIAS) == generation
    for night in range(LIMIT // 4):
        # Two changed pages a night: their passages and questions.
        publish(root, [*OLD[:-1], f"Night {night} was calm.", f"Night {night} was dark."])
        assert names(root) == {f"gen-{2 + night}", f"gen-{3 + night}"}
    publish(root, NEW)
    assert dense_indexed(root) == 2 * len(NEW)
    assert texts_of(root) == sorted(NEW)


def torn(shard: Path) -> None:
    shutil.rmtree(shard / "segments")
    (shard / "edge_config.json").write_text("torn")


def no_space(_: Path) -> None:
    raise OSError("no space left on device")


@pytest.mark.parametrize("break_it", [torn, no_space])
def test_what_cannot_be_indexed_is_told_and_answers_on_until_the_next_run(
    break_it: Callable[[Path], None],
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    publish(root, OLD)

    def build_badly(building: Path, base: Path) -> None:
        build_optimised(building, base)
        break_it(building / "shard")

    monkeypatch.setattr(optimising, "build_optimised", build_badly)
    with caplog.at_level(logging.WARNING):
        publish(root, NEW)
    assert "gen-3 stays without a vector index" in caplog.text
    assert texts_of(root) == sorted(NEW)
    assert names(root) == {"gen-2", "gen-3"}
    monkeypatch.undo()
    publish(root, NEW)  # nothing changed, and still
    assert dense_indexed(root) == 2 * len(NEW)
    assert names(root) == {"gen-2", "gen-4"}


def test_an_engine_that_fails_to_index_is_named(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    publish(root, OLD, above=1000)
    (root / NAME / "gen-1" / "shard" / "segments").rename(root / "elsewhere")
    (root / NAME / "gen-1" / "shard" / "segments").write_text("not a folder")
    with caplog.at_level(logging.WARNING):
        optimising.optimise_live(optimising.Generations(root, ALIAS), LIMIT)
    assert "Qdrant Edge: " in caplog.text

"""Runs that die while they publish: readers never see it, and a new run ends as if nothing was."""

import random
import shutil
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from qdrant_client import QdrantClient

from qindex_pipeline.errors import WorkError
from qindex_pipeline.index.edge import EdgeEngine
from qindex_pipeline.index.engine import physical_name
from qindex_pipeline.index.sparse_copy import copy_sparse
from qindex_pipeline_tests.conftest import made_manifest, made_points
from qindex_pipeline_tests.fakes.qdrant_server import DIED, QdrantServer
from qindex_pipeline_tests.fakes.standalone import standalone
from qindex_pipeline_tests.index.reading import (
    ALIAS,
    MANIFEST,
    engine_at,
    found_in,
    publish,
    publish_counted,
    publish_killed,
    run,
)
from qindex_pipeline_tests.processes import forkserver

pytestmark = pytest.mark.slow

OLD = [f"Page {number} as it was." for number in range(150)]
NEW = [*OLD[:50], *(f"Page {number} as it is now." for number in range(300))]


def whole(texts: list[str]) -> tuple[list[str], list[str]]:
    return sorted(texts), sorted(f"What about {text}?" for text in texts)


def state_of(root: Path) -> dict[str, Any]:
    """The index as files are named, and all that its points hold."""
    collection = EdgeEngine(root).open(ALIAS)
    assert collection is not None
    payloads = collection.retrieve([point.id for point in made_points("a", OLD + NEW)])
    sites = collection.sites()
    collection.close()
    folder = root / physical_name(ALIAS, MANIFEST)
    names = sorted(path.name for path in folder.iterdir())
    return {"payloads": payloads, "sites": sites, "files": names}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index that holds OLD."""
    root = tmp_path_factory.mktemp("published") / "index"
    publish(str(root), OLD)
    return root


@pytest.fixture(scope="module")
def undisturbed(published: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Any]:
    """How many calls a publication of NEW takes, and what it leaves."""
    root = tmp_path_factory.mktemp("undisturbed") / "index"
    shutil.copytree(published, root, copy_function=copy_sparse)
    ours, theirs = forkserver.Pipe()
    assert run(forkserver, publish_counted, str(root), NEW, theirs) == 0
    return ours.recv(), state_of(root)


@pytest.mark.parametrize("seed", range(10))
def test_a_sync_that_is_killed_at_any_moment_is_not_seen_and_is_finished_by_the_next(
    seed: int, published: Path, undisturbed: tuple[int, Any], tmp_path: Path
) -> None:
    calls, wanted = undisturbed
    root = tmp_path / "index"
    shutil.copytree(published, root, copy_function=copy_sparse)
    moment = random.Random(seed).randrange(1, int(0.95 * calls))
    assert run(forkserver, publish_killed, str(root), NEW, moment) == -signal.SIGKILL
    assert found_in(EdgeEngine(root)) in (whole(OLD), whole(NEW))
    publish(str(root), NEW)
    assert state_of(root) == wanted


def points_of(server: QdrantServer) -> tuple[dict[str, Any], Any]:
    """Payload by id, and all vectors in the order of the ids."""
    client = QdrantClient(url=server.url, check_compatibility=False)
    records: Any = client.scroll(ALIAS, limit=10_000, with_vectors=True)[0]
    client.close()
    records.sort(key=lambda record: record.id)
    vectors = np.array([record.vector["dense"] for record in records])
    return {record.id: record.payload for record in records}, vectors


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a server wrote down that holds OLD."""
    path = tmp_path_factory.mktemp("server") / "journal"
    with QdrantServer(persist_path=path) as server:
        publish(server.url, OLD)
    return path


@pytest.fixture(scope="module")
def undisturbed_points(journal: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    copy = shutil.copy(journal, tmp_path_factory.mktemp("undisturbed") / "journal")
    with QdrantServer(persist_path=Path(copy)) as server:
        publish(server.url, NEW)
        return points_of(server)


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_a_server_that_dies_in_mid_batch_is_brought_to_the_same_end_by_the_next_run(
    batch: int, journal: Path, undisturbed_points: Any, tmp_path: Path
) -> None:
    copy = tmp_path / "journal"
    shutil.copy(journal, copy)
    options = ("--persist", str(copy), "--die-after-upserts", str(batch))
    with standalone("qdrant_server", *options) as dying:
        with pytest.raises(WorkError, match="Qdrant"):
            publish(dying.url, NEW)
        assert dying.process.wait(timeout=10) == DIED
    with QdrantServer(persist_path=copy) as server:
        texts, questions = found_in(engine_at(server.url))
        # Nothing is deleted before everything is written, and no question is without its text.
        assert set(OLD) < set(texts)
        assert {f"What about {text}?" for text in texts} >= set(questions)
        publish(server.url, NEW)
        payloads, vectors = points_of(server)
    assert payloads == undisturbed_points[0]
    # A unit vector differs in its last digit with the batch that it was normalised in.
    np.testing.assert_allclose(vectors, undisturbed_points[1], atol=1e-6)


@pytest.fixture(scope="module")
def calls_to_a_server(journal: Path, tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many calls a publication of NEW to a server takes in its own process."""
    copy = shutil.copy(journal, tmp_path_factory.mktemp("counted") / "journal")
    ours, theirs = forkserver.Pipe()
    with QdrantServer(persist_path=Path(copy)) as server:
        assert run(forkserver, publish_counted, server.url, NEW, theirs) == 0
    return ours.recv()


@pytest.mark.parametrize("seed", range(10))
def test_a_sync_to_a_server_that_is_killed_at_any_moment_is_finished_by_the_next(
    seed: int, journal: Path, calls_to_a_server: int, undisturbed_points: Any, tmp_path: Path
) -> None:
    copy = tmp_path / "journal"
    shutil.copy(journal, copy)
    moment = random.Random(seed).randrange(1, int(0.9 * calls_to_a_server))
    with QdrantServer(persist_path=copy) as server:
        killed = run(forkserver, publish_killed, server.url, NEW, moment)
        assert killed == -signal.SIGKILL
        texts, questions = found_in(engine_at(server.url))
        assert set(OLD) <= set(texts) or set(NEW) <= set(texts)
        assert {f"What about {text}?" for text in texts} >= set(questions)
        publish(server.url, NEW)
        payloads, vectors = points_of(server)
    assert payloads == undisturbed_points[0]
    np.testing.assert_allclose(vectors, undisturbed_points[1], atol=1e-6)


def test_a_server_that_dies_while_a_new_model_is_filled_shows_readers_the_old_one(
    journal: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "journal"
    shutil.copy(journal, copy)
    options = ("--persist", str(copy), "--die-after-upserts", "2")
    following = made_manifest("next")
    with standalone("qdrant_server", *options) as dying:
        engine = engine_at(dying.url)
        with pytest.raises(WorkError, match="Qdrant"):
            engine.sync(ALIAS, following, "a", made_points("a", NEW))
    with QdrantServer(persist_path=copy) as server:
        engine = engine_at(server.url)
        assert found_in(engine) == whole(OLD)
        assert engine.sync(ALIAS, following, "a", made_points("a", NEW)).live
        assert found_in(engine) == whole(NEW)

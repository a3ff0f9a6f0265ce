"""Publications and model changes under readers that ask all the time."""

import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from qindex_pipeline.index.edge import EdgeEngine
from qindex_pipeline.index.engine import Engine, Manifest, QueryRequest, physical_name
from qindex_pipeline.index.points import Point
from qindex_pipeline_tests.conftest import made_manifest, made_points
from qindex_pipeline_tests.fakes.hashed_embedding import embed
from qindex_pipeline_tests.fakes.qdrant_server import QdrantServer
from qindex_pipeline_tests.index.reading import ALIAS, engine_at, publish, publish_until, read_many
from qindex_pipeline_tests.processes import forkserver

pytestmark = pytest.mark.slow

STATES = [
    [f"Page {number} as it {word}." for number in range(20)]
    for word in ("was", "is now", "will be")
]
PROCESSES, QUERIES = 4, 250


def test_a_thousand_queries_of_four_processes_meet_no_error_while_syncs_run(
    tmp_path: Path,
) -> None:
    root = str(tmp_path / "index")
    publish(root, STATES[0])
    stop = forkserver.Event()
    writer = forkserver.Process(target=publish_until, args=(root, STATES, stop))
    writer.start()
    readers = []
    for _ in range(PROCESSES):
        ours, theirs = forkserver.Pipe()
        reader = forkserver.Process(target=read_many, args=(root, QUERIES, STATES, theirs))
        reader.start()
        readers.append((reader, ours))
    for reader, _ in readers:
        reader.join()
    stop.set()
    writer.join()
    assert [process.exitcode for process in (writer, *(reader for reader, _ in readers))] == [0] * 5
    assert [answers.recv() for _, answers in readers] == [0] * PROCESSES


def test_queries_meet_no_error_while_a_server_is_written_to() -> None:
    with QdrantServer() as server:
        publish(server.url, STATES[0])
        asker = Asker(lambda: engine_at(server.url), {"hashed": 32})
        with asker:
            for number in range(1, 6):
                publish(server.url, STATES[number % len(STATES)])
    assert asker.problems == []
    assert asker.asked


OLD, NEXT = made_manifest("old"), made_manifest("next")
NEXT = replace(NEXT, fingerprint=replace(NEXT.fingerprint, dimension=48))
SITES = ("a", "b")
TEXTS = ["Installing takes one command.", "Themes change the colours."]


def points_by(manifest: Manifest, site: str) -> list[Point]:
    """Points that say who made their vectors; the two models differ in dimension too."""
    made = []
    for point in made_points(site, TEXTS):
        text = point.payload.get("text") or point.payload["question"]
        vector = embed(text, manifest.fingerprint.dimension).tolist()
        by = manifest.fingerprint.embedder
        payload = point.payload | {"made_by": by, "content_hash": point.content_hash + by}
        made.append(Point(point.id, vector, point.sparse, payload))
    return made


@dataclass
class Asker:
    """A thread that opens the index and asks each site, on and on, as a web app's requests do."""

    engine: Callable[[], Engine]
    dimensions: dict[str, int]
    sites: tuple[str, ...] = ("a",)
    asked: dict[str, int] = field(default_factory=dict)
    """Good answers by the embedder that made the index."""
    problems: list[str] = field(default_factory=list)

    def ask(self, engine: Engine) -> None:
        collection = engine.open(ALIAS)
        assert collection is not None
        by = collection.manifest.fingerprint.embedder
        vector = embed(TEXTS[0], self.dimensions[by]).tolist()
        requests = [QueryRequest(vector, "passage", 10, site) for site in self.sites]
        for site, hits in zip(self.sites, collection.query_batch(requests), strict=True):
            if not hits:
                self.problems.append(f"nothing found in {site}")
            others = {hit.payload.get("made_by", by) for hit in hits} - {by}
            if others:
                self.problems.append(f"vectors of {others} in an index of {by}")
        if isinstance(engine, EdgeEngine):
            collection.close()
        self.asked[by] = self.asked.get(by, 0) + 1

    def __enter__(self) -> "Asker":
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def _run(self) -> None:
        engine = self.engine()
        while not self._stop.is_set():
            try:
                self.ask(engine)
            except Exception as error:  # whatever it is, the test reports it
                self.problems.append(repr(error))
            time.sleep(0.005)  # a breath for the thread that publishes

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


@pytest.fixture(params=["edge", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Any]:
    """Where an index is, and the server that has it."""
    if request.param == "edge":
        yield str(tmp_path / "index"), None
        return
    with QdrantServer() as server:
        yield server.url, server


def test_a_model_change_of_two_sites_is_not_noticed_by_who_asks(place: Any) -> None:
    where, server = place
    engine = engine_at(where)
    for site in SITES:
        engine.sync(ALIAS, OLD, site, points_by(OLD, site))
    first = len(server.requests) if server else 0
    asker = Asker(lambda: engine_at(where), {"old": 32, "next": 48}, SITES)
    with asker:
        wait_for(asker, "old")
        assert not engine.sync(ALIAS, NEXT, "a", points_by(NEXT, "a")).live
        wait_for(asker, "old")
        assert engine.sync(ALIAS, NEXT, "b", points_by(NEXT, "b")).live
        wait_for(asker, "next")
    assert asker.problems == []
    if server:
        assert_order(server, first)


def wait_for(asker: Asker, by: str) -> None:
    """Until one more question was answered by an index of that model."""
    before = asker.asked.get(by, 0)
    while asker.asked.get(by, 0) == before and not asker.problems:
        time.sleep(0.01)


def assert_order(server: QdrantServer, first: int) -> None:
    name = physical_name(ALIAS, NEXT)
    calls = [(request.method, request.path) for request in server.requests[first:]]
    switch = ("POST", "/collections/aliases")
    assert calls.count(switch) == 1
    before = calls[: calls.index(switch)]
    steps = [
        ("PUT", f"/collections/{name}"),
        ("PUT", f"/collections/{name}/index"),
        ("PUT", f"/collections/{name}/points"),
        ("POST", f"/collections/{name}/points/query/batch"),
    ]
    # Readers saw the old collection until then: the queries of the new one are the smoke queries.
    spans = [[at for at, call in enumerate(before) if call == step] for step in steps]
    assert [len(span) for span in spans] == [1, 3, 2, 1]
    assert [max(span) for span in spans[:-1]] < [min(span) for span in spans[1:]]
    assert max(spans[0]) < min(spans[1])
    assert max(spans[1]) < min(spans[2])
    assert max(spans[2]) < min(spans[3])
    smoke = server.requests[first:][spans[3][0]].body["searches"]
    asked = [
        condition["match"]["value"] for query in smoke for condition in query["filter"]["must"]
    ]
    assert [value for value in asked if value in SITES] == list(SITES)

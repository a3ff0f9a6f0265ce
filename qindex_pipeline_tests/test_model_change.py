"""A change of the embedding model of two sites, as whoever asks through QIndex sees it."""

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field

import pytest

from qindex_pipeline.embedding.fingerprint import fingerprint
from qindex_pipeline.embedding.opening import open_embedder
from qindex_pipeline.index.engine import SCHEMA_VERSION, Manifest
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.index.points import build_points
from qindex_pipeline.index.sparse import SPARSE_MODEL
from qindex_pipeline.query import QIndex
from qindex_pipeline.settings import Settings
from qindex_pipeline_tests.conftest import MakeSettings, chunk_row, embedding_row, question_row
from qindex_pipeline_tests.fakes.ollama_server import OllamaServer
from qindex_pipeline_tests.fakes.qdrant_server import QdrantServer

ALIAS = "lantern"
OLD, NEXT = "ollama:nomic-embed-text", "ollama:all-minilm"
DIMENSIONS = {"nomic-embed-text:latest": 768, "all-minilm:latest": 384}
TEXTS = {
    "wicks": "The wick is trimmed with scissors every evening.",
    "oils": "The oil lamp is filled to the brim before sunset.",
}
QUESTIONS = {"wicks": "How is the wick trimmed?", "oils": "How is the oil lamp filled?"}


@pytest.fixture(params=["edge", "server"])
def made(request: pytest.FixtureRequest, settings: MakeSettings) -> Iterator[Settings]:
    """Settings that leave the embedder to the index."""
    with OllamaServer(embedding_models=DIMENSIONS) as ollama, QdrantServer() as qdrant:
        server = {"QDRANT_URL": qdrant.url} if request.param == "server" else {}
        yield settings(QINDEX_OLLAMA_URL=ollama.url, QINDEX_COLLECTION_NAME=ALIAS, **server)


def publish(settings: Settings, spec: str, site: str) -> str:
    """Publish the site's text and its question by one model; the fingerprint."""
    embedder = open_embedder(spec, settings, None)
    chunk = chunk_row(TEXTS[site], site=site)
    question = question_row(chunk, f"What about this: {TEXTS[site]}")
    rows = [embedding_row(chunk), embedding_row(chunk, question)]
    vectors = embedder.embed([row["text"] for row in rows])
    rows = [row | {"vector": vec.tolist()} for row, vec in zip(rows, vectors, strict=True)]
    manifest = Manifest(SCHEMA_VERSION, fingerprint(embedder, SPARSE_MODEL))
    points = build_points([chunk], [question], rows)
    open_engine(settings).sync(ALIAS, manifest, site, points)
    return manifest.fingerprint.digest


@dataclass
class Asker:
    """A thread that asks both sites through an index held open, again and again."""

    index: QIndex
    confidences: dict[str, set[tuple[str, float]]] = field(default_factory=lambda: defaultdict(set))
    """What each site's best result scored, by the fingerprint of the answer."""
    asked: int = 0
    problems: list[str] = field(default_factory=list)

    def run(self, stop: threading.Event) -> None:
        while not stop.is_set():
            for site, question in QUESTIONS.items():
                try:
                    answer = self.index.ask(question, site, write_answer=False)
                    texts = [result.text for result in answer.results]
                    if texts != [TEXTS[site]]:
                        self.problems.append(f"{site}: {texts}")
                    best = round(answer.results[0].confidence, 4)
                    self.confidences[answer.fingerprint].add((site, best))
                except Exception as error:  # whatever it is, the test reports it
                    self.problems.append(repr(error))
            self.asked += 1
            time.sleep(0.01)  # a breath for the thread that publishes

    def wait(self, rounds: int = 2) -> None:
        """Until all was asked anew."""
        until = self.asked + rounds
        while self.asked < until and not self.problems:
            time.sleep(0.01)


def test_a_model_change_of_two_sites_is_not_noticed_by_who_asks_qindex(made: Settings) -> None:
    old, _ = (publish(made, OLD, site) for site in TEXTS)
    stop = threading.Event()
    with closing(QIndex(made, refresh_seconds=0)) as index:
        asker = Asker(index)
        thread = threading.Thread(target=asker.run, args=(stop,))
        thread.start()
        try:
            asker.wait()
            new = publish(made, NEXT, "wicks")
            asker.wait()
            assert list(asker.confidences) == [old]
            publish(made, NEXT, "oils")
            asker.wait()
        finally:
            stop.set()
            thread.join()
    assert asker.problems == []
    assert list(asker.confidences) == [old, new]
    # One value a site and model: no result mixes the vectors of two models.
    assert [len(found) for found in asker.confidences.values()] == [len(TEXTS)] * 2

"""What tests do in other processes: read an index on and on, write to it, die while writing."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event as EventType
from pathlib import Path
from typing import Any

from qdrant_client import QdrantClient

from qindex_pipeline.index.edge import EdgeEngine
from qindex_pipeline.index.engine import Collection, Engine, QueryRequest
from qindex_pipeline.index.server import ServerEngine
from qindex_pipeline.index.server_calls import Retry
from qindex_pipeline_tests.conftest import DIMENSION, made_manifest, made_points

ALIAS = "docs"
MANIFEST = made_manifest()
QUERIES_AN_OPENING = 5
OPTIMISE_ABOVE = 20
"""So few points that every publication is followed by one with a vector index."""
PASSAGES = QueryRequest([1.0] * DIMENSION, "passage", limit=1000)
QUESTIONS = QueryRequest([1.0] * DIMENSION, "question", limit=1000)


def engine_at(place: str) -> Engine:
    """The server's engine for an address, the embedded one for a folder."""
    if place.startswith("http://"):
        client = QdrantClient(url=place, check_compatibility=False)
        return ServerEngine(client, retry=Retry(retries=1, pause=0.01))
    return EdgeEngine(Path(place), OPTIMISE_ABOVE)


def publish(place: str, texts: Sequence[str], site: str = "a") -> None:
    engine_at(place).sync(ALIAS, MANIFEST, site, made_points(site, texts))


def found_in(engine: Engine) -> tuple[list[str], list[str]]:
    """The texts of the passages, and the questions, that a new reader finds."""
    collection = engine.open(ALIAS)
    assert collection is not None
    found = ask(collection)
    if isinstance(engine, EdgeEngine):
        collection.close()
    return found


def ask(collection: Collection) -> tuple[list[str], list[str]]:
    """Passages and questions of an open collection."""
    questions, passages = collection.query_batch([QUESTIONS, PASSAGES])
    return (
        sorted(hit.payload["text"] for hit in passages),
        sorted(hit.payload["question"] for hit in questions),
    )


def read_many(place: str, times: int, states: Sequence[Sequence[str]], answers: Connection) -> None:
    """Ask `times` questions, some of an index held open; tell how many gave none of the states."""
    engine = engine_at(place)
    whole = [sorted(state) for state in states]
    mixed = 0
    for _ in range(times // QUERIES_AN_OPENING):
        collection = engine.open(ALIAS)
        assert collection is not None
        for _ in range(QUERIES_AN_OPENING):
            texts, questions = ask(collection)
            mixed += texts not in whole or questions != [f"What about {text}?" for text in texts]
        collection.close()
    answers.send(mixed)


def publish_until(place: str, states: Sequence[Sequence[str]], stop: EventType) -> None:
    number = 0
    while not stop.is_set():
        number += 1
        publish(place, states[number % len(states)])


def publish_counted(place: str, texts: Sequence[str], answers: Connection) -> None:
    """Publish, and tell how many calls into Python and C functions it took."""
    count = 0

    def see(*_: Any) -> None:
        nonlocal count
        count += 1

    sys.setprofile(see)
    publish(place, texts)
    sys.setprofile(None)
    answers.send(count)


def publish_killed(place: str, texts: Sequence[str], moment: int) -> None:
    """Publish until the profiler has seen `moment` calls and returns; there the process is shot."""
    count = 0

    def see(*_: Any) -> None:
        nonlocal count
        count += 1
        if count == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(see)
    publish(place, texts)


def run(context: Any, target: Callable[..., None], *arguments: Any) -> int | None:
    """Run `target` in a process; its exit code."""
    process = context.Process(target=target, args=arguments)
    process.start()
    process.join()
    return process.exitcode

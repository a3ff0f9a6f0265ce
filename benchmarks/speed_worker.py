"""One system of the speed benchmark in a process of its own: QIndex or qdrant-client's local mode.

    python speed_worker.py build|optimise|ask qindex|local REQUEST_JSON

Prints its figures as JSON. Both are asked the same three legs by the same code.
"""

import json
import sqlite3
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from qdrant_client import QdrantClient
from speed_asking import Clock, asked
from speed_points import speed_points

from qindex_pipeline.embedding.fingerprint import fingerprint
from qindex_pipeline.embedding.opening import open_embedder
from qindex_pipeline.index.edge import EdgeEngine
from qindex_pipeline.index.engine import SCHEMA_VERSION, Manifest
from qindex_pipeline.index.server import ServerEngine
from qindex_pipeline.index.sparse import SPARSE_MODEL
from qindex_pipeline.profiles import resolve_models
from qindex_pipeline.query import QIndex
from qindex_pipeline.retrieval.fusion import fuse
from qindex_pipeline.retrieval.legs import LEGS
from qindex_pipeline.retrieval.search import find
from qindex_pipeline.settings import Settings

Request = dict[str, Any]
NEVER = 10**9


def build_qindex(request: Request) -> Request:
    """Publish all sites; no vector index is built."""
    settings = settings_of(request)
    publish(request, EdgeEngine(settings.state_dir / "index", NEVER), settings)
    return {}


def optimise_qindex(request: Request) -> Request:
    """Publish one site as it is: what is live gets its vector index."""
    settings = settings_of(request)
    started, cpu = time.perf_counter(), time.process_time()
    engine = EdgeEngine(settings.state_dir / "index", 0)
    name = resolve_models(settings).collection_name
    site, points = next(iter(speed_points(Path(request["data"]), request["count"]).items()))
    prepared = time.perf_counter() - started, time.process_time() - cpu
    engine.sync(name, manifest_of(settings), site, points)
    return {
        "seconds": time.perf_counter() - started - prepared[0],
        "cpu_seconds": time.process_time() - cpu - prepared[1],
    }


def ask_qindex(request: Request) -> Request:
    """`ask --no-answer` through QIndex, held open."""
    index = QIndex(settings_of(request), refresh_seconds=NEVER)
    started = time.perf_counter()
    held = index._held.current()  # the benchmark looks inside for the parts
    opened = time.perf_counter() - started
    embed, search = Clock(), Clock()
    collection: Any = held.collection
    embedder: Any = held.embedder
    embedder.embed_queries = embed.wrap(embedder.embed_queries)
    collection.query_batch = search.wrap(collection.query_batch)
    collection.retrieve = search.wrap(collection.retrieve)
    site = request.get("site")

    def ask(question: str) -> Sequence[str]:
        answer = index.ask(question, site, write_answer=False)
        return [result.chunk_id for result in answer.results]

    return {"open": opened} | asked(request["questions"], ask, embed, search)


def build_local(request: Request) -> Request:
    """The same collection in local mode's file."""
    settings = settings_of(request)
    connect = sqlite3.connect

    def connect_unsynced(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        connection = connect(*args, **kwargs)
        # It commits each point by itself, with an fsync: minutes that are not measured here.
        connection.execute("PRAGMA synchronous=OFF")
        return connection

    sqlite3.connect = connect_unsynced
    client = QdrantClient(path=str(local_folder(request)))
    publish(request, ServerEngine(client), settings)
    client.close()
    return {}


def ask_local(request: Request) -> Request:
    """The same legs and fusion on local mode."""
    settings = settings_of(request)
    embedder = open_embedder("minilm", settings, None)
    started = time.perf_counter()
    client = QdrantClient(path=str(local_folder(request)))
    collection: Any = ServerEngine(client).open(resolve_models(settings).collection_name)
    opened = time.perf_counter() - started
    embed, search = Clock(), Clock()
    embed_queries = embed.wrap(embedder.embed_queries)
    collection.query_batch = search.wrap(collection.query_batch)

    def ask(question: str) -> Sequence[str]:
        hits = find(collection, LEGS, [question], embed_queries([question]), None)
        return [item.chunk_id for item in fuse(hits, LEGS)[:3]]

    return {"open": opened} | asked(request["questions"], ask, embed, search)


def publish(request: Request, engine: EdgeEngine | ServerEngine, settings: Settings) -> None:
    """Sync every site of the request."""
    alias, manifest = resolve_models(settings).collection_name, manifest_of(settings)
    for site, points in speed_points(Path(request["data"]), request["count"]).items():
        engine.sync(alias, manifest, site, points)


def settings_of(request: Request) -> Settings:
    """The offline profile in the request's folder."""
    return Settings(profile="offline", data=request["folder"])


def manifest_of(settings: Settings) -> Manifest:
    """What the collection says of itself."""
    embedder = open_embedder("minilm", settings, None)
    return Manifest(SCHEMA_VERSION, fingerprint(embedder, SPARSE_MODEL))


def local_folder(request: Request) -> Path:
    """Where local mode keeps its file."""
    return Path(request["folder"]) / "local"


STEPS = {
    ("build", "qindex"): build_qindex,
    ("optimise", "qindex"): optimise_qindex,
    ("ask", "qindex"): ask_qindex,
    ("build", "local"): build_local,
    ("ask", "local"): ask_local,
}

if __name__ == "__main__":
    given = json.loads(Path(sys.argv[3]).read_text(encoding="utf-8"))
    print(json.dumps(STEPS[sys.argv[1], sys.argv[2]](given)))

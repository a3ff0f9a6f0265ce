"""The points that the speed benchmark asks: a real site, and copies of it as further sites.

The first site's points are git's manual as the pipeline makes them: texts, questions, vectors and
sparse vectors are real. To embed ten times as many texts would take most of an hour, so further
sites hold the same payloads under other ids, with each vector moved a little (seeded) and a tenth
of the sparse vector's words dropped. Their vectors lie in clusters, as those of many
versions of one manual do: harder to search than vectors that lie apart.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import numpy as np

from qindex_pipeline.ids import content_hash, point_id
from qindex_pipeline.index.points import HASH_KEY, Point, build_points
from qindex_pipeline.index.sparse import SparseVector
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import CHUNKS, EMBEDDINGS, GROUNDED_QUESTIONS

SITE = "git"
MOVED = 0.35
"""Length of the random step that moves a unit vector: its cosine with itself is then about .94."""
WORDS_KEPT = 0.9
SEED = 1


def speed_points(data: Path, count: int) -> dict[str, list[Point]]:
    """`count` points by site, as many sites as that takes."""
    store = ParquetStore(str(data))
    tables = [
        store.read(table, SITE).to_pylist() for table in (CHUNKS, GROUNDED_QUESTIONS, EMBEDDINGS)
    ]
    real = build_points(*tables)
    by_site: dict[str, list[Point]] = {}
    for point in islice(chain(real, _copies(real)), count):
        by_site.setdefault(point.payload["site"], []).append(point)
    return by_site


def _copies(real: Sequence[Point]) -> Iterator[Point]:
    rng = np.random.default_rng(SEED)
    vectors = np.array([point.vector for point in real], dtype=np.float32)
    number = 1
    while True:
        number += 1
        step = rng.normal(size=vectors.shape) * MOVED / np.sqrt(vectors.shape[1])
        moved = vectors + step
        moved /= np.linalg.norm(moved, axis=1, keepdims=True)
        for point, vector in zip(real, moved, strict=True):
            yield _copy(point, f"{SITE}-{number}", vector.tolist(), rng)


def _copy(point: Point, site: str, vector: list[float], rng: np.random.Generator) -> Point:
    chunk = content_hash(site, point.payload["chunk_id"])
    first = point.id == point_id(point.payload["chunk_id"])
    payload = point.payload | {
        "site": site,
        "chunk_id": chunk,
        HASH_KEY: content_hash(site, point.content_hash),
    }
    identity = point_id(chunk if first else content_hash(site, point.id))
    return Point(identity, vector, _thinned(point.sparse, rng), payload)


def _thinned(sparse: SparseVector | None, rng: np.random.Generator) -> SparseVector | None:
    if sparse is None:
        return None
    kept = np.flatnonzero(rng.random(len(sparse.indices)) < WORDS_KEPT)
    return SparseVector(
        [sparse.indices[index] for index in kept], [sparse.values[index] for index in kept]
    )

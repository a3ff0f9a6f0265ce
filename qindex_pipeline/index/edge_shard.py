"""A generation's shard: created or copied, changed or indexed once, and never written again."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from qdrant_edge import (
    CountRequest,
    Distance,
    EdgeConfig,
    EdgeOptimizersConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    EdgeVectorParams,
    FieldCondition,
    Filter,
    HnswIndexConfig,
    KeywordIndexParams,
    MatchAny,
    MatchValue,
    Modifier,
    PayloadSelector,
    ScrollRequest,
    UpdateOperation,
)
from qdrant_edge import Point as EdgePoint
from qdrant_edge import SparseVector as EdgeSparse

from qindex_pipeline.errors import WorkError
from qindex_pipeline.index.difference import Diff
from qindex_pipeline.index.engine import DENSE, PAYLOAD_INDEXES, SPARSE, UPSERT_BATCH, Manifest
from qindex_pipeline.index.manifest_file import read_manifest, read_unindexed, write_manifest
from qindex_pipeline.index.points import Point
from qindex_pipeline.index.sparse_copy import copy_sparse

SCROLL_PAGE = 1000

HNSW = HnswIndexConfig(m=16, ef_construct=100, full_scan_threshold=2000)
"""The vector index: Qdrant's own values but for the threshold. `ef_construct` is also the number of
candidates of a search.

Of 100,000 points it finds 99.1 % of the true 50 nearest and the same first three chunks; with 128
candidates 99.5 %, in 0.4 ms more. The threshold, in KB of vectors, is where a filter leaves so few
points that all are compared: with Qdrant's 10,000 a search in one site of nine takes 6 ms, not 4.
"""


def load(generation: Path) -> EdgeShard:
    """The shard of a complete generation. Raises WorkError where its files are broken."""
    try:
        return EdgeShard.load(str(generation / "shard"))
    except Exception as error:  # qdrant_edge raises bare Exceptions
        raise WorkError(
            f"the index in {generation} cannot be opened ({str(error).splitlines()[0][:150]}): "
            f"delete {generation.parent} and run `qindex rebuild`, or `qindex rollback`"
        ) from error


def build(building: Path, base: Path | None, manifest: Manifest, site: str, change: Diff) -> None:
    """Make a generation from `base`, or from nothing, with `change` applied to `site`.

    Raises WorkError when the shard does not hold what was written.
    """
    unindexed = len(change.upsert)
    if base is None:
        _create(building, manifest)
    else:
        _copy(base, building)
        unindexed += read_unindexed(base)
    _apply(building, site, change)
    _finish(building, manifest, unindexed)


def build_optimised(building: Path, base: Path) -> None:
    """Make a generation that holds what `base` holds, with a vector index over all of it.

    Raises WorkError when the engine cannot.
    """
    _copy(base, building)
    manifest = read_manifest(base)
    try:
        # An older release may have made the shard: it is opened with what this one wants.
        shard = EdgeShard.load(str(building / "shard"), _config(manifest))
        shard.optimize()
        shard.flush()
        shard.close()
    except Exception as error:  # qdrant_edge raises bare Exceptions
        raise WorkError(f"Qdrant Edge: {str(error).splitlines()[0][:150]}") from error
    _finish(building, manifest, 0)


def payloads(shard: EdgeShard, site: str, keys: Sequence[str] = ()) -> dict[str, Mapping[str, Any]]:
    """Payload by id of a site's points, whole or only the given keys."""
    selected = PayloadSelector.Include(list(keys)) if keys else True
    found: dict[str, Mapping[str, Any]] = {}
    for record in _scroll(shard, site, selected):
        found[str(record.id)] = record.payload or {}
    return found


def matching(**values: str | tuple[str, ...] | None) -> Filter:
    """A filter on payload keys, by a value or by any of several; without one it does not filter."""
    conditions: list[Any] = [
        FieldCondition(
            key, match=MatchValue(value) if isinstance(value, str) else MatchAny(list(value))
        )
        for key, value in values.items()
        if value
    ]
    return Filter(must=conditions)


def _scroll(shard: EdgeShard, site: str, payload: Any) -> Iterator[Any]:
    offset = None
    while True:
        records, offset = shard.scroll(
            ScrollRequest(
                offset=offset,
                limit=SCROLL_PAGE,
                filter=matching(site=site),
                with_payload=payload,
            )
        )
        yield from records
        if offset is None:
            return


def _config(manifest: Manifest) -> EdgeConfig:
    vectors = EdgeVectorParams(manifest.fingerprint.dimension, Distance.Cosine)
    return EdgeConfig(
        vectors={DENSE: vectors},
        sparse_vectors={SPARSE: EdgeSparseVectorParams(modifier=Modifier.Idf)},
        hnsw_config=HNSW,
        # We decide when to index; then whatever is there, in KB, is enough.
        optimizers=EdgeOptimizersConfig(indexing_threshold=1),
        # With the write-ahead log on, only one process may open a shard, readers included.
        wal_enabled=False,
    )


def _copy(base: Path, building: Path) -> None:
    # Opening a shard writes its small configuration files anew, through temporaries that
    # vanish while a reader opens the generation that is being copied.
    ignore = shutil.ignore_patterns(".atomicwrite*")
    shutil.copytree(base, building, copy_function=copy_sparse, ignore=ignore)


def _finish(building: Path, manifest: Manifest, unindexed: int) -> None:
    # The first opening writes a configuration file; a published generation must not change.
    load(building).close()
    write_manifest(building, manifest, unindexed)


def _create(building: Path, manifest: Manifest) -> None:
    folder = building / "shard"
    folder.mkdir(parents=True)
    shard = EdgeShard.create(str(folder), _config(manifest))
    for key in PAYLOAD_INDEXES:
        params = KeywordIndexParams(is_tenant=key == "site")
        shard.update(UpdateOperation.create_field_index(key, params))
    shard.flush()
    shard.close()


def _apply(building: Path, site: str, change: Diff) -> None:
    shard = load(building)
    for start in range(0, len(change.upsert), UPSERT_BATCH):
        batch = [_edge_point(point) for point in change.upsert[start : start + UPSERT_BATCH]]
        shard.update(UpdateOperation.upsert_points(batch))
    if change.delete:
        shard.update(UpdateOperation.delete_points(list(change.delete)))
    count = shard.count(CountRequest(filter=matching(site=site)))
    shard.flush()
    shard.close()
    expected = len(change.upsert) + change.unchanged
    if count != expected:
        raise WorkError(
            f"site {site!r}: the new generation holds {count} points, the table {expected}; "
            "nothing was published, the old index answers on"
        )


def _edge_point(point: Point) -> EdgePoint:
    vector: dict[str, Any] = {DENSE: point.vector}
    if point.sparse is not None:
        vector[SPARSE] = EdgeSparse(point.sparse.indices, point.sparse.values)
    return EdgePoint(point.id, vector, point.payload)

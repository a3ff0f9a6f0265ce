"""The embedded engine: Qdrant Edge shards, published copy-on-write.

    <root>/<alias>.json                 which collection readers of the alias see
    <root>/<collection>/CURRENT         the generation that is published
    <root>/<collection>/gen-N/          a shard that nobody writes any more, and its manifest

The holder of the lock copies the published generation, applies the difference, closes, renames
and flips the pointer. Any number of processes read a published generation meanwhile; the last
two stay. A killed run leaves a `.tmp` folder that the next one removes.
"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from filelock import FileLock
from qdrant_edge import (
    CountRequest,
    Distance,
    EdgeConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    EdgeVectorParams,
    FacetRequest,
    FieldCondition,
    Filter,
    KeywordIndexParams,
    MatchValue,
    Modifier,
    PayloadSelector,
    Query,
    QueryBatchRequest,
    ScrollRequest,
    UpdateOperation,
)
from qdrant_edge import Point as EdgePoint
from qdrant_edge import QueryRequest as EdgeQuery
from qdrant_edge import SparseVector as EdgeSparse

from qindex_pipeline.embedding.fingerprint import Fingerprint
from qindex_pipeline.errors import WorkError
from qindex_pipeline.index.engine import (
    DENSE,
    PAYLOAD_INDEXES,
    SITES_LISTED,
    SPARSE,
    UPSERT_BATCH,
    Diff,
    Manifest,
    QueryRequest,
    ScoredPoint,
    SyncReport,
    diff,
    physical_name,
)
from qindex_pipeline.index.points import HASH_KEY, Point
from qindex_pipeline.index.sparse import SparseVector
from qindex_pipeline.index.sparse_copy import copy_sparse

GENERATIONS_KEPT = 2


class EdgeEngine:
    """Collections under a local folder."""

    def __init__(self, root: Path) -> None:
        """Keep collections under `root`; nothing is created before the first sync."""
        self._root = root

    def open(self, alias: str) -> "EdgeCollection | None":
        """The published generation behind `alias`, or None."""
        pointer = self._root / f"{alias}.json"
        # A publication between reading the pointer and opening what it names may have removed
        # the generation; the next reading finds its successor.
        for _ in range(3):
            if not pointer.exists():
                return None
            name = json.loads(pointer.read_text())["collection"]
            folder = _current(self._root / name)
            if folder is not None:
                return EdgeCollection(name, folder)
        raise WorkError(f"{pointer} names a collection that is not there: run `qindex ingest`")

    def sync(
        self, alias: str, manifest: Manifest, site: str, points: Sequence[Point]
    ) -> SyncReport:
        """Publish `points` as the points of `site`, in a new generation if anything changed."""
        name = physical_name(alias, manifest)
        with self._lock(alias):
            change = self._change(name, manifest, site, points)
            live = self._switch(alias, name)
        return SyncReport(
            written=len(change.upsert),
            unchanged=change.unchanged,
            deleted=len(change.delete),
            count=len(points),
            collection=name,
            live=live,
        )

    def remove(self, alias: str, site: str) -> int:
        """Delete the points of `site` from the collection behind `alias`."""
        with self._lock(alias):
            collection = self.open(alias)
            if collection is None:
                return 0
            manifest, name = collection.manifest, collection.name
            collection.close()
            return len(self._change(name, manifest, site, []).delete)

    def _lock(self, alias: str) -> FileLock:
        self._root.mkdir(parents=True, exist_ok=True)
        return FileLock(self._root / f"{alias}.lock")

    def _change(self, name: str, manifest: Manifest, site: str, points: Sequence[Point]) -> Diff:
        folder = self._root / name
        current = _current(folder)
        stored = _stored_hashes(current, site) if current else {}
        change = diff(stored, points)
        if current and not change.upsert and not change.delete:
            return change
        number = 1 + (int(current.name.removeprefix("gen-")) if current else 0)
        new = folder / f"gen-{number}"
        building = folder / f"{new.name}.tmp"
        for leftover in (building, new):
            shutil.rmtree(leftover, ignore_errors=True)
        _build(building, current, manifest)
        _apply(building / "shard", site, change, len(points))
        building.replace(new)
        _write_atomically(folder / "CURRENT", new.name)
        _forget_old(folder, number)
        return change

    def _switch(self, alias: str, name: str) -> bool:
        """Point the alias at `name` once it holds every site that readers see now."""
        pointer = self._root / f"{alias}.json"
        seen = self.open(alias)
        if seen is not None and seen.name != name:
            before = set(seen.sites())
            seen.close()
            folder = _current(self._root / name)
            assert folder is not None
            new = EdgeCollection(name, folder)
            missing = before - set(new.sites())
            new.close()
            if missing:
                return False
        elif seen is not None:
            seen.close()
            return True
        _write_atomically(pointer, json.dumps({"collection": name}))
        return True


class EdgeCollection:
    """A published generation, open for reading."""

    def __init__(self, name: str, folder: Path) -> None:
        """Open the generation in `folder` of the collection `name`."""
        self.name = name
        self.manifest = _read_manifest(folder)
        self._shard = EdgeShard.load(str(folder / "shard"))

    def query_batch(self, requests: Sequence[QueryRequest]) -> list[list[ScoredPoint]]:
        """The hits of each request, best first."""
        batch = self._shard.query_batch(QueryBatchRequest([_query(item) for item in requests]))
        return [
            [ScoredPoint(str(hit.id), hit.score, dict(hit.payload or {})) for hit in hits]
            for hits in batch
        ]

    def retrieve(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Payload by point id."""
        records = self._shard.retrieve(list(ids), with_payload=True, with_vector=False)
        return {str(record.id): dict(record.payload or {}) for record in records}

    def sites(self) -> dict[str, int]:
        """Points by site."""
        return _sites(self._shard)

    def close(self) -> None:
        """Release the shard's files."""
        self._shard.close()


def _query(request: QueryRequest) -> EdgeQuery:
    if isinstance(request.vector, SparseVector):
        vector: Any = EdgeSparse(request.vector.indices, request.vector.values)
        using = SPARSE
    else:
        vector, using = request.vector, DENSE
    return EdgeQuery(
        limit=request.limit,
        query=Query.Nearest(vector, using=using),
        filter=_filter(site=request.site, kind=request.kind),
        with_payload=True,
    )


def _filter(**values: str | None) -> Filter:
    conditions: list[Any] = [
        FieldCondition(key, match=MatchValue(value)) for key, value in values.items() if value
    ]
    return Filter(must=conditions)


def _sites(shard: EdgeShard) -> dict[str, int]:
    facet = shard.facet(FacetRequest("site", limit=SITES_LISTED, exact=True))
    return {str(hit.value): hit.count for hit in facet.hits}


def _current(folder: Path) -> Path | None:
    pointer = folder / "CURRENT"
    if not pointer.exists():
        return None
    generation = folder / pointer.read_text().strip()
    return generation if generation.is_dir() else None


def _stored_hashes(generation: Path, site: str) -> dict[str, str]:
    shard = EdgeShard.load(str(generation / "shard"))
    hashes: dict[str, str] = {}
    offset = None
    while True:
        records, offset = shard.scroll(
            ScrollRequest(
                offset=offset,
                limit=1000,
                filter=_filter(site=site),
                with_payload=PayloadSelector.Include([HASH_KEY]),
            )
        )
        for record in records:
            hashes[str(record.id)] = str((record.payload or {}).get(HASH_KEY))
        if offset is None:
            shard.close()
            return hashes


def _build(building: Path, current: Path | None, manifest: Manifest) -> None:
    """A copy of the published generation, or an empty shard with its indexes."""
    if current is not None:
        # Opening a shard writes its small configuration files anew, through temporaries that
        # vanish while a reader opens the generation that is being copied.
        ignore = shutil.ignore_patterns(".atomicwrite*")
        shutil.copytree(current, building, copy_function=copy_sparse, ignore=ignore)
        return
    shard_folder = building / "shard"
    shard_folder.mkdir(parents=True)
    vectors = EdgeVectorParams(manifest.fingerprint.dimension, Distance.Cosine)
    config = EdgeConfig(
        vectors={DENSE: vectors},
        sparse_vectors={SPARSE: EdgeSparseVectorParams(modifier=Modifier.Idf)},
        # With the write-ahead log on, only one process may open a shard, readers included.
        wal_enabled=False,
    )
    shard = EdgeShard.create(str(shard_folder), config)
    for key in PAYLOAD_INDEXES:
        params = KeywordIndexParams(is_tenant=key == "site")
        shard.update(UpdateOperation.create_field_index(key, params))
    shard.flush()
    shard.close()
    (building / "manifest.json").write_text(json.dumps(asdict(manifest), indent=2))


def _apply(shard_folder: Path, site: str, change: Diff, expected: int) -> None:
    shard = EdgeShard.load(str(shard_folder))
    for start in range(0, len(change.upsert), UPSERT_BATCH):
        batch = [_edge_point(point) for point in change.upsert[start : start + UPSERT_BATCH]]
        shard.update(UpdateOperation.upsert_points(batch))
    if change.delete:
        shard.update(UpdateOperation.delete_points(list(change.delete)))
    count = shard.count(CountRequest(filter=_filter(site=site)))
    shard.flush()
    shard.close()
    if count != expected:
        raise WorkError(
            f"site {site!r}: the new generation holds {count} points, the table {expected}; "
            "nothing was published, the old index answers on"
        )
    # The first opening writes a configuration file; a published generation must not change.
    EdgeShard.load(str(shard_folder)).close()


def _edge_point(point: Point) -> EdgePoint:
    vector: dict[str, Any] = {DENSE: point.vector}
    if point.sparse is not None:
        vector[SPARSE] = EdgeSparse(point.sparse.indices, point.sparse.values)
    return EdgePoint(point.id, vector, point.payload)


def _read_manifest(generation: Path) -> Manifest:
    values = json.loads((generation / "manifest.json").read_text())
    return Manifest(values["schema_version"], Fingerprint(**values["fingerprint"]))


def _write_atomically(file: Path, text: str) -> None:
    temporary = file.with_name(file.name + ".tmp")
    temporary.write_text(text)
    temporary.replace(file)


def _forget_old(folder: Path, newest: int) -> None:
    for generation in folder.glob("gen-*"):
        number = generation.name.removeprefix("gen-").removesuffix(".tmp")
        if int(number) <= newest - GENERATIONS_KEPT:
            shutil.rmtree(generation, ignore_errors=True)

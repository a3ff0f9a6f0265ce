"""A published generation of the embedded engine, open for reading."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from qdrant_edge import (
    FacetRequest,
    PayloadSelector,
    Query,
    QueryBatchRequest,
    ScrollRequest,
    SearchParams,
)
from qdrant_edge import QueryRequest as EdgeQuery
from qdrant_edge import SparseVector as EdgeSparse

from qindex_pipeline.index.edge_shard import load, matching
from qindex_pipeline.index.engine import (
    DENSE,
    SITES_LISTED,
    SPARSE,
    QueryRequest,
    ScoredPoint,
)
from qindex_pipeline.index.generations import Published
from qindex_pipeline.index.manifest_file import read_manifest, stamp
from qindex_pipeline.index.smoke import Probe
from qindex_pipeline.index.sparse import SparseVector


class EdgeCollection:
    """What a generation holds."""

    def __init__(self, generation: Published, folder: Path) -> None:
        """Open the `generation` that lies in `folder`."""
        self.name = generation.collection
        self.state = state_of(generation, folder)
        self.manifest = read_manifest(folder)
        self.shard = load(folder)

    def query_batch(self, requests: Sequence[QueryRequest]) -> list[list[ScoredPoint]]:
        """The hits of each request, best first."""
        batch = self.shard.query_batch(QueryBatchRequest([_query(item) for item in requests]))
        return [
            [ScoredPoint(hit.id, hit.score, hit.payload or {}) for hit in hits] for hits in batch
        ]

    def retrieve(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Payload by point id."""
        records = self.shard.retrieve(list(ids), with_payload=True, with_vector=False)
        return {str(record.id): dict(record.payload or {}) for record in records}

    def sites(self) -> dict[str, int]:
        """Points by site."""
        facet = self.shard.facet(FacetRequest("site", limit=SITES_LISTED, exact=True))
        return {str(hit.value): hit.count for hit in facet.hits}

    def probes(self) -> Iterator[Probe]:
        """One stored passage of each site."""
        for site in self.sites():
            request = ScrollRequest(
                limit=1,
                filter=matching(site=site, kind="passage"),
                with_payload=False,
                with_vector=True,
            )
            for record in self.shard.scroll(request)[0]:
                vectors: Any = record.vector
                yield Probe(site, "passage", vectors[DENSE])

    def close(self) -> None:
        """Release the shard's files."""
        self.shard.close()


def state_of(generation: Published, folder: Path) -> str:
    """What tells this generation from every other that was ever live."""
    return f"{generation} {stamp(folder)}"


def _query(request: QueryRequest) -> EdgeQuery:
    if isinstance(request.vector, SparseVector):
        vector: Any = EdgeSparse(request.vector.indices, request.vector.values)
        using = SPARSE
    else:
        vector, using = request.vector, DENSE
    return EdgeQuery(
        limit=request.limit,
        query=Query.Nearest(vector, using=using),
        filter=matching(site=request.site, kind=request.kind, chunk_id=request.chunks),
        params=SearchParams(exact=True) if request.exact else None,
        with_payload=PayloadSelector.Include(list(request.payload)) if request.payload else True,
    )

"""A collection on a Qdrant server, open for reading."""

from collections.abc import Iterator, Sequence
from typing import Any

from qdrant_client import QdrantClient, models

from qindex_pipeline.embedding.fingerprint import Fingerprint
from qindex_pipeline.errors import WorkError
from qindex_pipeline.index.engine import (
    DENSE,
    SITES_LISTED,
    SPARSE,
    Manifest,
    QueryRequest,
    ScoredPoint,
)
from qindex_pipeline.index.server_calls import Retry, server_errors
from qindex_pipeline.index.server_schema import matching, search_params, whole_sites
from qindex_pipeline.index.smoke import Probe
from qindex_pipeline.index.sparse import SparseVector


class ServerCollection:
    """What a physical collection holds."""

    def __init__(self, client: QdrantClient, name: str, retry: Retry) -> None:
        """Read the physical collection `name` through `client`."""
        self.name = self.state = name
        self._client, self._retry = client, retry
        with server_errors(name):
            info = retry(client.get_collection, name)
        metadata = info.config.metadata or {}
        if "qindex" not in metadata:
            raise WorkError(f"collection {name} was not made by qindex: name another alias")
        values: Any = metadata["qindex"]
        self.manifest = Manifest(values["schema_version"], Fingerprint(**values["fingerprint"]))
        self.whole_sites = whole_sites(info)
        self._params = search_params(info)

    def query_batch(self, requests: Sequence[QueryRequest]) -> list[list[ScoredPoint]]:
        """The hits of each request, best first, in one request."""
        with server_errors(self.name):
            replies = self._retry(
                self._client.query_batch_points,
                self.name,
                [self._query(request) for request in requests],
            )
        return [
            [ScoredPoint(hit.id, hit.score, hit.payload or {}) for hit in reply.points]
            for reply in replies
        ]

    def retrieve(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Payload by point id."""
        with server_errors(self.name):
            records = self._retry(self._client.retrieve, self.name, list(ids), with_payload=True)
        return {str(record.id): dict(record.payload or {}) for record in records}

    def sites(self) -> dict[str, int]:
        """Points by site."""
        with server_errors(self.name):
            facet = self._retry(
                self._client.facet, self.name, "site", limit=SITES_LISTED, exact=True
            )
        return {str(hit.value): hit.count for hit in facet.hits}

    def probes(self) -> Iterator[Probe]:
        """One stored passage of each site."""
        for site in self.sites():
            records, _ = self._retry(
                self._client.scroll,
                self.name,
                scroll_filter=matching(site=site, kind="passage"),
                limit=1,
                with_payload=False,
                with_vectors=[DENSE],
            )
            for record in records:
                vectors: Any = record.vector
                yield Probe(site, "passage", vectors[DENSE])

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _query(self, request: QueryRequest) -> models.QueryRequest:
        vector: Any = request.vector
        using, params = DENSE, self._params
        if request.exact:
            params = models.SearchParams(exact=True)
        if isinstance(request.vector, SparseVector):
            using, params = SPARSE, None
            vector = models.SparseVector(
                indices=request.vector.indices, values=request.vector.values
            )
        return models.QueryRequest(
            query=vector,
            using=using,
            filter=matching(site=request.site, kind=request.kind, chunk_id=request.chunks),
            params=params,
            limit=request.limit,
            with_payload=list(request.payload) or True,
        )

"""The points of one collection on a Qdrant server: what a publication reads, writes and deletes."""

from collections.abc import Mapping, Sequence
from typing import Any

from qdrant_client import QdrantClient, models

from qindex_pipeline.index.difference import Comparison
from qindex_pipeline.index.engine import DENSE, SPARSE, UPSERT_BATCH
from qindex_pipeline.index.points import Point
from qindex_pipeline.index.server_calls import Retry
from qindex_pipeline.index.server_schema import matching

DELETE_BATCH = 1000
SCROLL_PAGE = 1000


class ServerPoints:
    """Calls that may be made twice: each is tried again when the server fails for a moment."""

    def __init__(self, client: QdrantClient, retry: Retry, name: str) -> None:
        """Work on the physical collection `name`."""
        self._client, self._retry, self._name = client, retry, name

    def payloads(self, site: str, comparison: Comparison) -> dict[str, Mapping[str, Any]]:
        """Payload by id of a site's points, as much of it as the comparison needs."""
        found: dict[str, Mapping[str, Any]] = {}
        offset: Any = None
        while True:
            records, offset = self._retry(
                self._client.scroll,
                self._name,
                scroll_filter=matching(site=site),
                limit=SCROLL_PAGE,
                offset=offset,
                with_payload=list(comparison.keys) or True,
                with_vectors=False,
            )
            found |= {str(record.id): record.payload or {} for record in records}
            if offset is None:
                return found

    def upsert(self, points: Sequence[Point]) -> None:
        """Write points; they can be read when this returns."""
        for start in range(0, len(points), UPSERT_BATCH):
            batch = [_struct(point) for point in points[start : start + UPSERT_BATCH]]
            self._retry(self._client.upsert, self._name, batch, wait=True)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points by id, never by a filter: a filter would also take what came since."""
        for start in range(0, len(ids), DELETE_BATCH):
            selector = models.PointIdsList(points=list(ids[start : start + DELETE_BATCH]))
            self._retry(self._client.delete, self._name, selector, wait=True)

    def count(self, site: str) -> int:
        """Points of a site."""
        only = matching(site=site)
        return self._retry(self._client.count, self._name, count_filter=only, exact=True).count


def _struct(point: Point) -> models.PointStruct:
    vector: dict[str, Any] = {DENSE: point.vector}
    if point.sparse is not None:
        vector[SPARSE] = models.SparseVector(
            indices=point.sparse.indices, values=point.sparse.values
        )
    return models.PointStruct(id=point.id, vector=vector, payload=point.payload)

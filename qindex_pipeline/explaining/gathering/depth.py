"""The collection as a search sees it that reaches further: same requests, more of each.

`find` asks through it and so merges, filters and scores as for `ask`; only how many points a leg
may return changes, or whose.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from qindex_pipeline.index.engine import SITES_LISTED, Collection, QueryRequest, ScoredPoint

DEEP_LIMIT = SITES_LISTED
"""Points a leg returns here. A server in strict mode refuses more."""


class Deep:
    """A collection whose legs return up to DEEP_LIMIT points, each compared."""

    def __init__(self, collection: Collection, chunks: Sequence[str] = ()) -> None:
        """Ask `collection`, of which only `chunks` where given; whoever opened it closes it."""
        self.manifest, self.name, self.state = (
            collection.manifest,
            collection.name,
            collection.state,
        )
        self._collection, self._chunks = collection, tuple(chunks)

    def query_batch(self, requests: Sequence[QueryRequest]) -> list[list[ScoredPoint]]:
        """The hits of each request, as far as they go."""
        return self._collection.query_batch(
            [
                replace(request, limit=DEEP_LIMIT, chunks=self._chunks, exact=True)
                for request in requests
            ]
        )

    def retrieve(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Payload by point id."""
        return self._collection.retrieve(ids)

    def sites(self) -> dict[str, int]:
        """Points by site."""
        return self._collection.sites()

    def close(self) -> None:
        """Leave the collection open: it is its opener's."""

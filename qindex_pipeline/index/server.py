"""The server engine: a Qdrant server or cluster through qdrant-client."""

import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException

from qindex_pipeline.embedding.fingerprint import Fingerprint
from qindex_pipeline.errors import UsageError, WorkError
from qindex_pipeline.index.engine import (
    DENSE,
    PAYLOAD_INDEXES,
    SITES_LISTED,
    SPARSE,
    UPSERT_BATCH,
    Manifest,
    QueryRequest,
    ScoredPoint,
    SyncReport,
    diff,
    physical_name,
)
from qindex_pipeline.index.points import HASH_KEY, Point
from qindex_pipeline.index.sparse import SparseVector
from qindex_pipeline.settings import Settings

TIMEOUT_SECONDS = 60
"""The client's own 5 s end while the server is still working on a large upsert."""

DELETE_BATCH = 1000


def open_client(settings: Settings) -> QdrantClient:
    """A client for QDRANT_URL. Raises WorkError naming the address when it does not answer."""
    key = settings.qdrant_api_key
    with _server_errors(settings.qdrant_url), warnings.catch_warnings():
        # Inside a private network (the compose file's) plain HTTP is meant.
        warnings.filterwarnings("ignore", message="Api key is used with an insecure connection")
        try:
            client = QdrantClient(
                url=settings.qdrant_url,
                api_key=key.get_secret_value() if key else None,
                timeout=TIMEOUT_SECONDS,
                check_compatibility=False,
            )
            client.get_collections()
        except ValueError:
            raise UsageError(
                f"QDRANT_URL={settings.qdrant_url!r} is not an address: it looks like "
                "http://127.0.0.1:6333"
            ) from None
    return client


class ServerEngine:
    """Collections on a server."""

    def __init__(self, client: QdrantClient) -> None:
        """Work through `client`; tests pass one with `location=":memory:"`."""
        self._client = client

    def open(self, alias: str) -> "ServerCollection | None":
        """The collection behind `alias`, or None."""
        name = self._target(alias)
        return None if name is None else ServerCollection(self._client, name)

    def sync(
        self, alias: str, manifest: Manifest, site: str, points: Sequence[Point]
    ) -> SyncReport:
        """Upsert, verify, delete last; then let the alias follow when no site would vanish."""
        name = physical_name(alias, manifest)
        with _server_errors(name):
            self._ensure(name, manifest)
            change = diff(self._stored_hashes(name, site), points)
            for start in range(0, len(change.upsert), UPSERT_BATCH):
                batch = change.upsert[start : start + UPSERT_BATCH]
                self._client.upsert(name, [_struct(point) for point in batch], wait=True)
            self._verify(name, site, len(points) + len(change.delete))
            self._delete(name, change.delete)
            count = self._count(name, site)
            live = self._switch(alias, name)
        return SyncReport(
            written=len(change.upsert),
            unchanged=change.unchanged,
            deleted=len(change.delete),
            count=count,
            collection=name,
            live=live,
        )

    def remove(self, alias: str, site: str) -> int:
        """Delete the points of `site` from the collection behind `alias`."""
        name = self._target(alias)
        if name is None:
            return 0
        with _server_errors(name):
            gone = list(self._stored_hashes(name, site))
            self._delete(name, gone)
        return len(gone)

    def _target(self, alias: str) -> str | None:
        with _server_errors(alias):
            aliases = self._client.get_aliases().aliases
        return next((item.collection_name for item in aliases if item.alias_name == alias), None)

    def _ensure(self, name: str, manifest: Manifest) -> None:
        """Create the collection and its payload indexes, before any data."""
        if not self._client.collection_exists(name):
            self._client.create_collection(
                name,
                vectors_config={
                    DENSE: models.VectorParams(
                        size=manifest.fingerprint.dimension, distance=models.Distance.COSINE
                    )
                },
                sparse_vectors_config={
                    SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)
                },
                metadata={"qindex": asdict(manifest)},
            )
        indexed = self._client.get_collection(name).payload_schema
        for key in PAYLOAD_INDEXES:
            if key not in indexed:
                schema = models.KeywordIndexParams(
                    type=models.KeywordIndexType.KEYWORD, is_tenant=key == "site"
                )
                self._client.create_payload_index(name, key, field_schema=schema, wait=True)

    def _stored_hashes(self, name: str, site: str) -> dict[str, str]:
        hashes: dict[str, str] = {}
        offset: Any = None
        while True:
            records, offset = self._client.scroll(
                name,
                scroll_filter=_filter(site=site),
                limit=1000,
                offset=offset,
                with_payload=[HASH_KEY],
                with_vectors=False,
            )
            for record in records:
                hashes[str(record.id)] = str((record.payload or {}).get(HASH_KEY))
            if offset is None:
                return hashes

    def _delete(self, name: str, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), DELETE_BATCH):
            selector = models.PointIdsList(points=list(ids[start : start + DELETE_BATCH]))
            self._client.delete(name, selector, wait=True)

    def _count(self, name: str, site: str) -> int:
        return self._client.count(name, count_filter=_filter(site=site), exact=True).count

    def _verify(self, name: str, site: str, expected: int) -> None:
        count = self._count(name, site)
        if count != expected:
            raise WorkError(
                f"site {site!r}: collection {name} holds {count} points instead of {expected}; "
                "nothing was deleted, materialise question_index again"
            )

    def _switch(self, alias: str, name: str) -> bool:
        """Point the alias at `name` once it holds every site that readers see now."""
        seen = self._target(alias)
        if seen == name:
            return True
        operations: list[Any] = []
        if seen is not None:
            missing = set(_sites(self._client, seen)) - set(_sites(self._client, name))
            if missing:
                return False
            gone = models.DeleteAlias(alias_name=alias)
            operations.append(models.DeleteAliasOperation(delete_alias=gone))
        new = models.CreateAlias(collection_name=name, alias_name=alias)
        operations.append(models.CreateAliasOperation(create_alias=new))
        self._client.update_collection_aliases(operations)
        return True


class ServerCollection:
    """A collection on a server, open for reading."""

    def __init__(self, client: QdrantClient, name: str) -> None:
        """Read the physical collection `name` through `client`."""
        self.name, self._client = name, client
        with _server_errors(name):
            metadata = client.get_collection(name).config.metadata or {}
        if "qindex" not in metadata:
            raise WorkError(f"collection {name} was not made by qindex: name another alias")
        values: Any = metadata["qindex"]
        self.manifest = Manifest(values["schema_version"], Fingerprint(**values["fingerprint"]))

    def query_batch(self, requests: Sequence[QueryRequest]) -> list[list[ScoredPoint]]:
        """The hits of each request, best first, in one request."""
        with _server_errors(self.name):
            replies = self._client.query_batch_points(
                self.name, [_query(request) for request in requests]
            )
        return [
            [ScoredPoint(str(hit.id), hit.score, dict(hit.payload or {})) for hit in reply.points]
            for reply in replies
        ]

    def retrieve(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Payload by point id."""
        with _server_errors(self.name):
            records = self._client.retrieve(self.name, list(ids), with_payload=True)
        return {str(record.id): dict(record.payload or {}) for record in records}

    def sites(self) -> dict[str, int]:
        """Points by site."""
        with _server_errors(self.name):
            return _sites(self._client, self.name)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def _query(request: QueryRequest) -> models.QueryRequest:
    vector: Any = request.vector
    using = DENSE
    if isinstance(request.vector, SparseVector):
        using = SPARSE
        vector = models.SparseVector(indices=request.vector.indices, values=request.vector.values)
    return models.QueryRequest(
        query=vector,
        using=using,
        filter=_filter(site=request.site, kind=request.kind),
        limit=request.limit,
        with_payload=True,
    )


def _filter(**values: str | None) -> models.Filter:
    return models.Filter(
        must=[
            models.FieldCondition(key=key, match=models.MatchValue(value=value))
            for key, value in values.items()
            if value
        ]
    )


def _sites(client: QdrantClient, name: str) -> dict[str, int]:
    facet = client.facet(name, "site", limit=SITES_LISTED, exact=True)
    return {str(hit.value): hit.count for hit in facet.hits}


def _struct(point: Point) -> models.PointStruct:
    vector: dict[str, Any] = {DENSE: point.vector}
    if point.sparse is not None:
        vector[SPARSE] = models.SparseVector(
            indices=point.sparse.indices, values=point.sparse.values
        )
    return models.PointStruct(id=point.id, vector=vector, payload=point.payload)


@contextmanager
def _server_errors(what: str | None) -> Generator[None]:
    try:
        yield
    except (ApiException, QdrantException) as error:
        status = getattr(error, "status_code", None)
        if status in {401, 403}:
            raise WorkError(f"Qdrant refused the key for {what}: check QDRANT_API_KEY") from error
        lines = str(error).splitlines()
        raise WorkError(
            f"Qdrant ({what}): {lines[0][:200] if lines else type(error).__name__}; is QDRANT_URL "
            "right and the server up?"
        ) from error

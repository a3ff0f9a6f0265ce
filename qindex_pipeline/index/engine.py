"""What an index engine is, in qdrant-client's words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from qindex_pipeline.embedding.fingerprint import Fingerprint
from qindex_pipeline.index.difference import Verification
from qindex_pipeline.index.points import Point
from qindex_pipeline.index.sparse import SparseVector

SCHEMA_VERSION = 1
"""Version of the points' layout; the query module refuses another one."""

DENSE, SPARSE = "dense", "bm25"
"""Names of the collection's vectors."""

PAYLOAD_INDEXES = ("site", "chunk_id", "kind")
"""Indexed payload keys, created before data; `site` is the tenant."""

SITES_LISTED = 10_000
"""Facet hits asked for: Qdrant's own default of 10 would hide sites."""

UPSERT_BATCH = 256
"""Points a request: 1,000 points of 1,536 dimensions reach the server's limit of 32 MiB."""

Kind = Literal["question", "passage"]


@dataclass(frozen=True)
class Manifest:
    """What a collection says of itself."""

    schema_version: int
    fingerprint: Fingerprint


@dataclass(frozen=True)
class QueryRequest:
    """One leg's query: the nearest points of a kind, in one site or in all."""

    vector: list[float] | SparseVector
    kind: Kind
    limit: int
    site: str | None = None
    payload: tuple[str, ...] = ()
    """Payload keys to return; none: all. A leg's hits with their texts take twice the time."""
    chunks: tuple[str, ...] = ()
    """Only points of these chunks; none: of all."""
    exact: bool = False
    """Whether every point is compared, rather than those that a vector index leads to."""


class ScoredPoint(NamedTuple):
    """A point that a query found; a tuple, since a question makes 150 of them."""

    key: Any
    """The id as the engine has it."""
    score: float
    payload: dict[str, Any]

    @property
    def id(self) -> str:
        """The id as a UUID string; few are asked for theirs."""
        return str(self.key)


@dataclass(frozen=True)
class SyncReport:
    """What publishing a site did to the collection, in points; `count` is what it now holds."""

    written: int
    unchanged: int
    deleted: int
    count: int
    collection: str
    live: bool
    """Whether readers of the alias see this collection."""
    waiting_for: tuple[str, ...] = ()
    """Sites that readers see and this collection lacks: without them the alias stays."""


@dataclass(frozen=True)
class Rollback:
    """What readers of an alias saw before it was rolled back, and what they see now."""

    before: str
    now: str


class Collection(Protocol):
    """A published collection, open for reading; safe to hold while the next is published."""

    manifest: Manifest
    name: str
    state: str
    """What `Engine.live` says while this is what readers see."""

    def query_batch(self, requests: Sequence[QueryRequest]) -> list[list[ScoredPoint]]:
        """The hits of each request, best first, in one round trip."""
        ...

    def retrieve(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Payload by point id, for the ids that exist."""
        ...

    def sites(self) -> dict[str, int]:
        """Points by site."""
        ...

    def close(self) -> None:
        """Release files and connections."""
        ...


class Engine(Protocol):
    """Where collections live. The alias is COLLECTION_NAME, what it points to is physical.

    Each fingerprint has its own collection. A new one is filled beside the one that readers see;
    when it holds every site of that one, and each site's vector finds itself in it, the alias
    moves in one step and the old state is kept for `rollback`.
    """

    def open(self, alias: str) -> Collection | None:
        """The collection behind `alias`, or None when nothing was published under it."""
        ...

    def live(self, alias: str) -> str | None:
        """The name of what readers of `alias` see, None before the first publication.

        Cheap: who holds a collection open compares this with its `state` and opens anew only when
        they differ. On a server, points change under one name.
        """
        ...

    def sync(
        self, alias: str, manifest: Manifest, site: str, points: Sequence[Point]
    ) -> SyncReport:
        """Make `points` the only points of `site` in the collection of the manifest's fingerprint.

        Points are compared by their content hash. Order: upsert, verify, delete what is gone.
        Raises WorkError, with nothing deleted, when the collection does not hold what was written.
        """
        ...

    def verify(
        self, alias: str, manifest: Manifest, site: str, points: Sequence[Point]
    ) -> Verification:
        """Compare the payloads of `site` with `points`; without a collection, all are missing."""
        ...

    def repair(
        self, alias: str, manifest: Manifest, site: str, points: Sequence[Point]
    ) -> SyncReport:
        """`sync` of what `verify` finds, without trust in the stored content hashes."""
        ...

    def rollback(self, alias: str) -> Rollback:
        """Let readers see what was live before; a second call takes it back.

        Raises WorkError when nothing was kept.
        """
        ...

    def remove(self, alias: str, site: str) -> int:
        """Delete all points of `site`, also where they were kept; the number of points deleted."""
        ...


def physical_name(alias: str, manifest: Manifest) -> str:
    """The collection's own name: its alias and the digest of its fingerprint."""
    return f"{alias}__{manifest.fingerprint.digest}"

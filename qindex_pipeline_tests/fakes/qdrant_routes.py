"""Which REST call of Qdrant is which operation, and which of them change something."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from qindex_pipeline_tests.fakes import qdrant_points as points
from qindex_pipeline_tests.fakes.qdrant_store import QdrantStore

Operation = Callable[[QdrantStore, str, Any], object]


@dataclass(frozen=True)
class Route:
    """One call of the REST API."""

    method: str
    pattern: re.Pattern[str]
    operation: Operation
    writes: bool


def _route(method: str, path: str, operation: Operation, *, writes: bool = False) -> Route:
    pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path)
    return Route(method, re.compile(pattern), operation, writes)


_ROUTES = (
    _route("GET", "/collections", QdrantStore.collections),
    _route("GET", "/aliases", QdrantStore.aliases),
    _route("POST", "/collections/aliases", QdrantStore.change_aliases, writes=True),
    _route("GET", "/collections/{name}", QdrantStore.info),
    _route("PUT", "/collections/{name}", QdrantStore.create, writes=True),
    _route("PATCH", "/collections/{name}", QdrantStore.update, writes=True),
    _route("DELETE", "/collections/{name}", QdrantStore.delete, writes=True),
    _route("GET", "/collections/{name}/exists", QdrantStore.exists),
    _route("GET", "/collections/{name}/aliases", QdrantStore.collection_aliases),
    _route("PUT", "/collections/{name}/index", QdrantStore.create_index, writes=True),
    _route("DELETE", "/collections/{name}/index/{field}", QdrantStore.delete_index, writes=True),
    _route("PUT", "/collections/{name}/points", points.upsert, writes=True),
    _route("POST", "/collections/{name}/points/delete", points.delete, writes=True),
    _route("POST", "/collections/{name}/points", points.retrieve),
    _route("POST", "/collections/{name}/points/scroll", points.scroll),
    _route("POST", "/collections/{name}/points/count", points.count),
    _route("POST", "/collections/{name}/points/query", points.query),
    _route("POST", "/collections/{name}/points/query/batch", points.query_batch),
    _route("POST", "/collections/{name}/facet", points.facet),
)


def find(method: str, path: str) -> tuple[Route, dict[str, str]] | None:
    """The route of a call, with the names in its path; None when there is none."""
    for route in _ROUTES:
        match = route.pattern.fullmatch(path) if route.method == method else None
        if match:
            return route, match.groupdict()
    return None

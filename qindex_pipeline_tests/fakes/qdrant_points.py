"""Points of the Qdrant server: writing, reading, searching.

Each operation takes the store, a collection's name and the JSON body of its REST call, and
returns the `result` of the answer. A refused call raises ValueError.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter
from qdrant_client import models

from qindex_pipeline_tests.fakes.qdrant_store import QdrantStore, data_type

_POINTS: TypeAdapter[models.PointsBatch | models.PointsList] = TypeAdapter(
    models.PointInsertOperations
)
_SELECTOR: TypeAdapter[models.PointIdsList | models.FilterSelector] = TypeAdapter(
    models.PointsSelector
)
_DEFAULT_LIMIT = 10
_FACETED = ("keyword", "integer", "uuid", "bool")


def upsert(store: QdrantStore, name: str, body: Any) -> object:
    """PUT /collections/{name}/points, as a list or as a batch of columns."""
    request = _POINTS.validate_python(body)
    points = request.batch if isinstance(request, models.PointsBatch) else request.points
    store.client.upsert(
        name, points, update_filter=request.update_filter, update_mode=request.update_mode
    )
    return {}


def delete(store: QdrantStore, name: str, body: Any) -> object:
    """POST /collections/{name}/points/delete, by ids or by filter."""
    store.client.delete(name, _SELECTOR.validate_python(body))
    return {}


def retrieve(store: QdrantStore, name: str, body: Any) -> object:
    """POST /collections/{name}/points."""
    request = models.PointRequest.model_validate(body)
    return store.client.retrieve(
        name,
        request.ids,
        with_payload=True if request.with_payload is None else request.with_payload,
        with_vectors=request.with_vector or False,
    )


def scroll(store: QdrantStore, name: str, body: Any) -> object:
    """POST /collections/{name}/points/scroll."""
    request = models.ScrollRequest.model_validate(body)
    points, next_page = store.client.scroll(
        name,
        scroll_filter=request.filter,
        limit=_DEFAULT_LIMIT if request.limit is None else request.limit,
        order_by=request.order_by,
        offset=request.offset,
        with_payload=True if request.with_payload is None else request.with_payload,
        with_vectors=request.with_vector or False,
    )
    return {"points": points, "next_page_offset": next_page}


def count(store: QdrantStore, name: str, body: Any) -> object:
    """POST /collections/{name}/points/count."""
    return store.client.count(name, models.CountRequest.model_validate(body).filter)


def facet(store: QdrantStore, name: str, body: Any) -> object:
    """POST /collections/{name}/facet; the field needs an index, as on the server."""
    request = models.FacetRequest.model_validate(body)
    schema = store.indexes(name).get(request.key)
    if schema is None or data_type(schema) not in _FACETED:
        raise ValueError(
            f'Index required but not found for "{request.key}" of one of the following types: '
            f"[{', '.join(_FACETED)}]"
        )
    limit = _DEFAULT_LIMIT if request.limit is None else request.limit
    return store.client.facet(name, request.key, request.filter, limit=limit)


def query(store: QdrantStore, name: str, body: Any) -> object:
    """POST /collections/{name}/points/query."""
    return _answers(store, name, [models.QueryRequest.model_validate(body)])[0]


def query_batch(store: QdrantStore, name: str, body: Any) -> object:
    """POST /collections/{name}/points/query/batch."""
    return _answers(store, name, models.QueryRequestBatch.model_validate(body).searches)


def _answers(
    store: QdrantStore, name: str, requests: Sequence[models.QueryRequest]
) -> Sequence[object]:
    for request in requests:
        _drop_index_params(request)
    responses = store.client.query_batch_points(name, requests)
    for request, response in zip(requests, responses, strict=True):
        if _is_sparse(request.query):
            # The server finds only points that share a token; local mode adds others with 0.
            response.points = [point for point in response.points if point.score != 0]
    return responses


def _is_sparse(query: Any) -> bool:
    vector = query.nearest if isinstance(query, models.NearestQuery) else query
    return isinstance(vector, models.SparseVector)


def _drop_index_params(request: models.QueryRequest | models.Prefetch) -> None:
    """Forget parameters of an index that local mode doesn't have: it warns about them."""
    if request.params is not None:
        request.params = models.SearchParams(idf=request.params.idf)
    inner = request.prefetch or []
    for prefetch in inner if isinstance(inner, list) else [inner]:
        _drop_index_params(prefetch)

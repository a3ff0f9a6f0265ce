"""The Qdrant server, driven by qdrant-client."""

import urllib.error
import urllib.request
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from qindex_pipeline_tests.fakes.qdrant_server import DIED, QdrantServer
from qindex_pipeline_tests.fakes.standalone import free_port, standalone

IDS = [f"00000000-0000-0000-0000-00000000000{number}" for number in range(4)]
SITES = ["a", "a", "b", "b"]


def _create(client: QdrantClient, name: str = "docs__1") -> None:
    client.create_collection(
        name,
        vectors_config={"dense": models.VectorParams(size=4, distance=models.Distance.COSINE)},
        sparse_vectors_config={"bm25": models.SparseVectorParams(modifier=models.Modifier.IDF)},
        metadata={"fingerprint": "f1"},
        strict_mode_config=models.StrictModeConfig(enabled=True, max_query_limit=100),
    )
    tenant = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
    client.create_payload_index(name, "site", field_schema=tenant)
    client.create_payload_index(name, "kind", field_schema=models.PayloadSchemaType.KEYWORD)


def _points() -> list[models.PointStruct]:
    return [
        models.PointStruct(
            id=point_id,
            vector={
                "dense": [1.0, number, 0.0, 0.0],
                "bm25": models.SparseVector(indices=[7, 10 + number], values=[1.0, 2.0]),
            },
            payload={"site": site, "kind": "question", "title": None},
        )
        for number, (point_id, site) in enumerate(zip(IDS, SITES, strict=True))
    ]


def _only(site: str) -> models.Filter:
    condition = models.FieldCondition(key="site", match=models.MatchValue(value=site))
    return models.Filter(must=[condition])


@pytest.fixture
def qdrant() -> Iterator[QdrantServer]:
    with QdrantServer() as server:
        yield server


@pytest.fixture
def client(qdrant: QdrantServer) -> Iterator[QdrantClient]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        client = QdrantClient(url=qdrant.url, timeout=10, check_compatibility=False)
        yield client
        client.close()


def test_qdrant_a_collection_shows_what_it_was_created_with(client: QdrantClient) -> None:
    assert client.info().version == "1.20.0"
    assert not client.collection_exists("docs__1")
    _create(client)
    client.upsert("docs__1", _points(), wait=True)
    client.update_collection("docs__1", metadata={"generation": 2})
    info = client.get_collection("docs__1")
    assert info.points_count == 4
    assert info.config.metadata == {"fingerprint": "f1", "generation": 2}
    assert info.config.strict_mode_config is not None
    assert info.config.strict_mode_config.max_query_limit == 100
    assert isinstance(info.config.params.vectors, dict)
    assert info.config.params.vectors["dense"].size == 4
    assert info.config.params.sparse_vectors is not None
    assert info.config.params.sparse_vectors["bm25"].modifier == models.Modifier.IDF
    schema = info.payload_schema
    assert isinstance(schema["site"].params, models.KeywordIndexParams)
    assert schema["site"].params.is_tenant
    assert (schema["kind"].data_type, schema["kind"].points) == ("keyword", 4)


def test_qdrant_searches_dense_and_sparse_in_one_batch(client: QdrantClient) -> None:
    _create(client)
    client.upsert("docs__1", _points(), wait=True)
    dense, sparse, nothing = client.query_batch_points(
        "docs__1",
        [
            models.QueryRequest(
                query=[1.0, 2.0, 0.0, 0.0],
                using="dense",
                filter=_only("b"),
                limit=3,
                params=models.SearchParams(exact=True),
                with_payload=True,
            ),
            models.QueryRequest(
                query=models.SparseVector(indices=[11], values=[1.0]), using="bm25", limit=3
            ),
            models.QueryRequest(
                query=models.SparseVector(indices=[99], values=[1.0]), using="bm25", limit=3
            ),
        ],
    )
    assert [point.id for point in dense.points] == IDS[2:]
    assert dense.points[0].score == pytest.approx(1.0)
    assert dense.points[0].payload == {"site": "b", "kind": "question", "title": None}
    assert [point.id for point in sparse.points] == [IDS[1]]
    assert nothing.points == []
    one = client.query_points("docs__1", query=[1.0, 0.0, 0.0, 0.0], using="dense", limit=1)
    assert [point.id for point in one.points] == [IDS[0]]


def test_qdrant_scrolls_counts_facets_retrieves_and_deletes(client: QdrantClient) -> None:
    _create(client)
    client.upsert("docs__1", _points(), wait=True)
    first, following = client.scroll("docs__1", limit=3, with_payload=["site"])
    rest, end = client.scroll("docs__1", limit=3, offset=following)
    assert [row.id for row in first + rest] == IDS
    assert end is None
    assert client.count("docs__1", count_filter=_only("a")).count == 2
    hits = client.facet("docs__1", key="site", limit=100).hits
    assert {hit.value: hit.count for hit in hits} == {"a": 2, "b": 2}
    record = client.retrieve("docs__1", [IDS[3]], with_vectors=True)[0]
    assert isinstance(record.vector, dict)
    assert record.vector["bm25"] == models.SparseVector(indices=[7, 13], values=[1.0, 2.0])
    deleted = client.delete("docs__1", models.PointIdsList(points=[IDS[0], IDS[2]]), wait=True)
    assert deleted.status == models.UpdateStatus.COMPLETED
    client.delete("docs__1", models.FilterSelector(filter=_only("b")), wait=True)
    assert [row.id for row in client.scroll("docs__1")[0]] == [IDS[1]]


def test_qdrant_switches_an_alias_and_records_the_order_of_calls(
    qdrant: QdrantServer, client: QdrantClient
) -> None:
    def point_alias_at(name: str) -> None:
        client.update_collection_aliases(
            [
                models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name="docs")),
                models.CreateAliasOperation(
                    create_alias=models.CreateAlias(collection_name=name, alias_name="docs")
                ),
            ]
        )

    _create(client)
    client.upsert("docs__1", _points(), wait=True)
    client.delete("docs__1", [IDS[3]], wait=True)
    point_alias_at("docs__1")
    assert qdrant.writes == [
        ("PUT", "/collections/docs__1"),
        ("PUT", "/collections/docs__1/index"),
        ("PUT", "/collections/docs__1/index"),
        ("PUT", "/collections/docs__1/points"),
        ("POST", "/collections/docs__1/points/delete"),
        ("POST", "/collections/aliases"),
    ]
    assert client.count("docs").count == 3
    assert "site" in client.get_collection("docs").payload_schema
    _create(client, "docs__2")
    point_alias_at("docs__2")
    assert client.count("docs").count == 0
    assert [alias.collection_name for alias in client.get_aliases().aliases] == ["docs__2"]
    assert client.get_collection_aliases("docs__1").aliases == []
    assert client.delete_collection("docs__1")
    assert [row.name for row in client.get_collections().collections] == ["docs__2"]


def test_qdrant_refuses_as_the_server_does(client: QdrantClient) -> None:
    def status_of(call: Any) -> int | None:
        with pytest.raises(UnexpectedResponse) as refused:
            call()
        return refused.value.status_code

    _create(client)
    wrong = models.PointStruct(id=1, vector={"dense": [1.0]}, payload={})
    assert status_of(lambda: _create(client)) == 409
    assert status_of(lambda: client.count("none")) == 404
    assert status_of(lambda: client.upsert("docs__1", [wrong])) == 400
    assert status_of(lambda: client.facet("docs__1", key="title")) == 400
    assert status_of(lambda: client.query_points("docs__1", query=[1.0], using="dense")) == 400


def test_qdrant_checks_the_api_key() -> None:
    with QdrantServer(api_key="secret") as server:
        for key in (None, "other"):
            headers = {"api-key": key} if key else {}
            request = urllib.request.Request(f"{server.url}/collections", headers=headers)
            with pytest.raises(urllib.error.HTTPError, match="401"):
                urllib.request.urlopen(request, timeout=10)
        with pytest.warns(UserWarning, match="insecure"):
            client = QdrantClient(url=server.url, api_key="secret", check_compatibility=False)
        assert client.get_collections().collections == []
        client.close()


def test_qdrant_a_killed_process_goes_on_with_what_it_acknowledged(tmp_path: Path) -> None:
    port, journal = free_port(), tmp_path / "journal"
    options = ("--persist", str(journal), "--die-after-upserts", "2")
    with standalone("qdrant_server", *options, port=port) as server:
        client = QdrantClient(url=server.url, check_compatibility=False)
        _create(client)
        client.upsert("docs__1", _points()[:2], wait=True)
        with pytest.raises(ResponseHandlingException):
            client.upsert("docs__1", _points()[2:3], wait=True)
        assert server.process.wait(timeout=10) == DIED
        client.close()
    with journal.open("a") as torn:
        torn.write('["PUT", "/collections/docs__1/poi')
    for _ in range(2):  # the second start shows that the torn line is gone
        with QdrantServer(port=port, persist_path=journal) as restarted:
            client = QdrantClient(url=restarted.url, check_compatibility=False)
            client.upsert("docs__1", _points()[3:], wait=True)
            assert [row.id for row in client.scroll("docs__1")[0]] == [*IDS[:3], IDS[3]]
            assert "site" in client.get_collection("docs__1").payload_schema
            client.close()

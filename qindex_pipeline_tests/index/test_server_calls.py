"""What the server engine sends, in which order, and what it says when the server refuses."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pytest import MonkeyPatch
from qdrant_client import QdrantClient, models

from qindex_pipeline.errors import UsageError, WorkError
from qindex_pipeline.index.engine import UPSERT_BATCH, QueryRequest, physical_name
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.index.server import ServerEngine, open_client
from qindex_pipeline.index.server_calls import Retry
from qindex_pipeline.index.server_schema import ServerOptions
from qindex_pipeline.index.sparse import SparseVector
from qindex_pipeline_tests.conftest import (
    CLOSED,
    DIMENSION,
    MakeSettings,
    made_manifest,
    made_points,
)
from qindex_pipeline_tests.fakes.loopback import Reply, Request
from qindex_pipeline_tests.fakes.qdrant_server import QdrantServer

ALIAS = "docs"
MANIFEST = made_manifest()
NAME = physical_name(ALIAS, MANIFEST)
TEXTS = ["Installing takes one command.", "Themes change the colours."]

CREATE = ("PUT", f"/collections/{NAME}")
INDEX = ("PUT", f"/collections/{NAME}/index")
UPSERT = ("PUT", f"/collections/{NAME}/points")
DELETE = ("POST", f"/collections/{NAME}/points/delete")
MARK = ("PATCH", f"/collections/{NAME}")
"""Notes in the collection that a site is whole."""
SWITCH = ("POST", "/collections/aliases")


RETRY = Retry(retries=2, pause=0.001)


@pytest.fixture
def server() -> Iterator[QdrantServer]:
    with QdrantServer() as running:
        yield running


@pytest.fixture
def client(server: QdrantServer) -> Iterator[QdrantClient]:
    client = QdrantClient(url=server.url, check_compatibility=False)
    yield client
    client.close()


@pytest.fixture
def engine(client: QdrantClient) -> ServerEngine:
    return ServerEngine(client, retry=RETRY)


def bodies(server: QdrantServer, call: tuple[str, str]) -> list[Request]:
    return [request for request in server.requests if (request.method, request.path) == call]


def test_a_first_sync_creates_indexes_writes_and_only_then_goes_live(
    server: QdrantServer, engine: ServerEngine
) -> None:
    engine.sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS))
    assert server.writes == [CREATE, INDEX, INDEX, INDEX, UPSERT, MARK, SWITCH]


def test_a_later_sync_deletes_last(server: QdrantServer, engine: ServerEngine) -> None:
    engine.sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS))
    before = len(server.writes)
    engine.sync(ALIAS, MANIFEST, "a", made_points("a", [TEXTS[0], "New."]))
    assert server.writes[before:] == [UPSERT, DELETE]


def test_an_unchanged_sync_writes_nothing(server: QdrantServer, engine: ServerEngine) -> None:
    engine.sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS))
    before = len(server.writes)
    engine.sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS))
    assert server.writes[before:] == []


def test_a_new_fingerprint_switches_the_alias_in_one_call(
    server: QdrantServer, engine: ServerEngine, client: QdrantClient
) -> None:
    engine.sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS))
    engine.sync(ALIAS, made_manifest("next"), "a", made_points("a", TEXTS))
    actions = bodies(server, SWITCH)[-1].body["actions"]
    assert [list(action) for action in actions] == [
        ["delete_alias"],
        ["create_alias"],
        ["create_alias"],
    ]
    assert len(bodies(server, SWITCH)) == 2
    kept = {item.alias_name: item.collection_name for item in client.get_aliases().aliases}
    assert kept["docs__previous"] == NAME


def test_the_old_collection_is_kept_until_the_next_switch(
    engine: ServerEngine, client: QdrantClient
) -> None:
    manifests = [made_manifest(name) for name in ("first", "second", "third")]
    names = [physical_name(ALIAS, manifest) for manifest in manifests]
    client.create_collection("docs__not_ours", vectors_config={})
    for number, manifest in enumerate(manifests):
        engine.sync(ALIAS, manifest, "a", made_points("a", TEXTS))
        found = {item.name for item in client.get_collections().collections}
        assert found == {"docs__not_ours", *names[max(0, number - 1) : number + 1]}


def test_what_a_killed_run_left_of_a_site_does_not_count_as_that_site(
    engine: ServerEngine, client: QdrantClient, server: QdrantServer
) -> None:
    following = made_manifest("next")
    for site in ("a", "b"):
        engine.sync(ALIAS, MANIFEST, site, made_points(site, TEXTS))
    engine.sync(ALIAS, following, "a", made_points("a", TEXTS))
    name = physical_name(ALIAS, following)
    point = made_points("b", TEXTS)[0]
    left = models.PointStruct(id=point.id, vector={"dense": point.vector}, payload=point.payload)
    client.upsert(name, [left])
    assert engine.sync(ALIAS, following, "a", made_points("a", TEXTS)).waiting_for == ("b",)
    assert engine.sync(ALIAS, following, "b", made_points("b", TEXTS)).live


def test_points_go_in_batches_that_the_server_has_applied_when_it_answers(
    server: QdrantServer, engine: ServerEngine
) -> None:
    texts = [f"Passage number {number}." for number in range(200)]
    engine.sync(ALIAS, MANIFEST, "a", made_points("a", texts))
    requests = bodies(server, UPSERT)
    sizes = [len(request.body["points"]) for request in requests]
    assert sizes == [UPSERT_BATCH, 400 - UPSERT_BATCH]
    assert {request.query["wait"] for request in requests} == {"true"}


def test_the_collection_says_what_it_is(client: QdrantClient, engine: ServerEngine) -> None:
    engine.sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS))
    info = client.get_collection(ALIAS)
    assert info.config.metadata is not None
    assert info.config.metadata["qindex"]["fingerprint"] == vars(MANIFEST.fingerprint)
    assert info.config.metadata["qindex"]["schema_version"] == MANIFEST.schema_version
    assert set(info.payload_schema) == {"site", "chunk_id", "kind"}
    tenants = {
        key: field.params.is_tenant
        for key, field in info.payload_schema.items()
        if isinstance(field.params, models.KeywordIndexParams)
    }
    assert tenants == {"site": True, "chunk_id": False, "kind": False}
    sparse = info.config.params.sparse_vectors
    assert sparse is not None
    assert sparse["bm25"].modifier == models.Modifier.IDF


def test_a_sync_that_was_killed_before_its_indexes_is_finished_by_the_next(
    server: QdrantServer, engine: ServerEngine, client: QdrantClient
) -> None:
    engine.sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS))
    client.delete_payload_index(NAME, "site")
    engine.sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS))
    assert "site" in client.get_collection(NAME).payload_schema


def test_more_sites_than_a_facet_lists_by_itself_are_all_seen(engine: ServerEngine) -> None:
    sites = {f"site-{number}": 2 for number in range(12)}
    for site in sites:
        engine.sync(ALIAS, MANIFEST, site, made_points(site, TEXTS[:1]))
    collection = engine.open(ALIAS)
    assert collection is not None
    assert collection.sites() == sites


class ForgetfulServer(QdrantServer):
    """Acknowledges an upsert and keeps all but its last point."""

    def answer(self, request: Request) -> Reply:
        if (request.method, request.path) == UPSERT:
            points = request.body["points"][:-1]
            request = replace(request, body=request.body | {"points": points})
        return super().answer(request)


def test_a_collection_that_lacks_a_written_point_is_told_before_anything_is_deleted() -> None:
    with ForgetfulServer() as server:
        client = QdrantClient(url=server.url, check_compatibility=False)
        with pytest.raises(WorkError) as failed:
            ServerEngine(client).sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS))
        client.close()
    assert f"site 'a': collection {NAME} holds 3 points instead of 4" in str(failed.value)
    assert DELETE not in server.writes
    assert SWITCH not in server.writes


def test_a_server_that_fails_in_the_middle_keeps_what_it_has(
    server: QdrantServer, engine: ServerEngine
) -> None:
    engine.sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS))
    server.fail_next(500, times=1 + RETRY.retries, path=f"/collections/{NAME}/points")
    with pytest.raises(WorkError, match=r"Qdrant \(") as failed:
        engine.sync(ALIAS, MANIFEST, "a", made_points("a", ["All new."]))
    assert "\n" not in str(failed.value)
    collection = engine.open(ALIAS)
    assert collection is not None
    assert collection.sites() == {"a": 4}
    report = engine.sync(ALIAS, MANIFEST, "a", made_points("a", ["All new."]))
    assert (report.written, report.deleted, report.count) == (2, 4, 2)


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
@pytest.mark.parametrize("key", ["", "wrong"])
def test_a_refused_key_names_its_variable(key: str, settings: MakeSettings) -> None:
    with (
        QdrantServer(api_key="secret") as server,
        pytest.raises(WorkError, match=r"refused the key .*check QDRANT_API_KEY") as refused,
    ):
        open_client(settings(QDRANT_URL=server.url, QDRANT_API_KEY=key))
    assert server.url in str(refused.value)


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
def test_the_right_key_opens(settings: MakeSettings) -> None:
    with QdrantServer(api_key="secret") as server:
        made = settings(QDRANT_URL=server.url, QDRANT_API_KEY="secret")
        assert open_engine(made).open(ALIAS) is None


def test_a_server_that_is_not_there_is_named(settings: MakeSettings) -> None:
    with pytest.raises(WorkError, match=f"{CLOSED}.*is QDRANT_URL right and the server up") as gone:
        open_client(settings(QDRANT_URL=CLOSED))
    assert "\n" not in str(gone.value)


@pytest.mark.parametrize("url", ["qdrant:6333", "http://127.0.0.1:99999", "http://[qdrant"])
def test_an_address_that_is_none_is_named(url: str, settings: MakeSettings) -> None:
    with pytest.raises((UsageError, WorkError), match="QDRANT_URL"):
        open_client(settings(QDRANT_URL=url))


POINTS = f"/collections/{NAME}/points"
SAFE = [
    f"{POINTS}/scroll",
    f"{POINTS}/count",
    f"{POINTS}/delete",
    f"/collections/{NAME}/index",
    f"/collections/{NAME}/exists",
    POINTS,
    "/aliases",
]


@pytest.mark.parametrize("path", SAFE)
@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_call_that_may_be_made_twice_is_tried_again(
    status: int, path: str, server: QdrantServer, engine: ServerEngine
) -> None:
    engine.sync(ALIAS, made_manifest("other"), "a", made_points("a", TEXTS))
    engine.sync(ALIAS, MANIFEST, "b", made_points("b", ["A page that goes."]))
    server.fail_next(status, times=RETRY.retries, path=path, headers={"retry-after": "0"})
    report = engine.sync(ALIAS, MANIFEST, "b", made_points("b", TEXTS))
    assert (report.written, report.deleted, report.count) == (4, 2, 4)


@pytest.mark.parametrize("status", [400, 404, 413])
def test_a_call_that_is_wrong_is_not_tried_again(
    status: int, server: QdrantServer, engine: ServerEngine
) -> None:
    server.fail_next(status, path=POINTS)
    with pytest.raises(WorkError):
        engine.sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS))
    assert len([request for request in server.requests if POINTS in request.path]) == 1


def test_a_switch_of_the_alias_is_never_tried_again(
    server: QdrantServer, engine: ServerEngine
) -> None:
    server.fail_next(503, path="/collections/aliases")
    with pytest.raises(WorkError):
        engine.sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS))
    assert server.writes.count(SWITCH) == 1
    assert engine.sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS)).live


def test_a_collection_that_another_run_created_meanwhile_is_used(
    server: QdrantServer, engine: ServerEngine, client: QdrantClient, monkeypatch: MonkeyPatch
) -> None:
    engine.sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS))
    # The other run creates it right behind our look.
    monkeypatch.setattr(client, "collection_exists", lambda _: False)
    assert engine.sync(ALIAS, MANIFEST, "b", made_points("b", TEXTS)).count == 4
    assert server.writes.count(CREATE) == 2


def test_a_collection_is_created_with_what_the_settings_name(settings: MakeSettings) -> None:
    with QdrantServer() as server:
        made = settings(
            QDRANT_URL=server.url,
            QINDEX_QDRANT_STRICT_MODE="true",
            QINDEX_QDRANT_QUANTIZATION="int8",
            QINDEX_QDRANT_REPLICATION_FACTOR=2,
            QINDEX_QDRANT_SHARD_NUMBER=6,
        )
        engine = open_engine(made)
        engine.sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS))
        (create,) = bodies(server, CREATE)
        assert (create.body["replication_factor"], create.body["shard_number"]) == (2, 6)
        assert create.body["quantization_config"]["scalar"]["type"] == "int8"
        strict = create.body["strict_mode_config"]
        assert strict["enabled"] is True
        assert strict["unindexed_filtering_retrieve"] is False
        # What we ask ourselves has to fit.
        limits = [request.body.get("limit") or 0 for request in server.requests if request.body]
        assert max(limits) <= strict["max_query_limit"]
        assert strict["upsert_max_batchsize"] >= UPSERT_BATCH

        collection = engine.open(ALIAS)
        assert collection is not None
        words = SparseVector([1], [1.0])
        asked = [[1.0] * DIMENSION, words]
        collection.query_batch([QueryRequest(vector, "passage", 3, "a") for vector in asked])
        dense, sparse = server.requests[-1].body["searches"]
        assert dense["params"]["quantization"]["rescore"] is True
        assert (
            1 < dense["params"]["quantization"]["oversampling"] <= strict["search_max_oversampling"]
        )
        assert sparse.get("params") is None


def test_a_collection_has_the_servers_defaults_unless_settings_name_others(
    server: QdrantServer, engine: ServerEngine
) -> None:
    engine.sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS))
    (create,) = bodies(server, CREATE)
    named = ("quantization_config", "strict_mode_config", "replication_factor", "shard_number")
    assert not [option for option in named if create.body.get(option) is not None]
    assert ServerOptions() == ServerOptions(strict_mode=False, int8=False)

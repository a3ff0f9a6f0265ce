"""What the server engine sends, in which order, and what it says when the server refuses."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from qdrant_client import QdrantClient, models

from qindex_pipeline.errors import UsageError, WorkError
from qindex_pipeline.index.engine import UPSERT_BATCH, physical_name
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.index.server import ServerEngine, open_client
from qindex_pipeline_tests.conftest import CLOSED, MakeSettings, made_manifest, made_points
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
SWITCH = ("POST", "/collections/aliases")


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
    return ServerEngine(client)


def bodies(server: QdrantServer, call: tuple[str, str]) -> list[Request]:
    return [request for request in server.requests if (request.method, request.path) == call]


def test_a_first_sync_creates_indexes_writes_and_only_then_goes_live(
    server: QdrantServer, engine: ServerEngine
) -> None:
    engine.sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS))
    assert server.writes == [CREATE, INDEX, INDEX, INDEX, UPSERT, SWITCH]


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
    assert [list(action) for action in actions] == [["delete_alias"], ["create_alias"]]
    assert client.collection_exists(NAME)


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
    server.fail_next(500, path=f"/collections/{NAME}/points")
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

"""The contract of an index engine, held against all of them."""

import os
import uuid
from collections.abc import Generator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from qdrant_client import QdrantClient, models

from qindex_pipeline.errors import WorkError
from qindex_pipeline.index.difference import Verification
from qindex_pipeline.index.edge import EdgeEngine
from qindex_pipeline.index.edge_collection import EdgeCollection
from qindex_pipeline.index.engine import (
    UPSERT_BATCH,
    Collection,
    Engine,
    Kind,
    Manifest,
    QueryRequest,
    physical_name,
)
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.index.points import Point
from qindex_pipeline.index.server import ServerEngine
from qindex_pipeline.index.server_collection import ServerCollection
from qindex_pipeline.index.smoke import Probe
from qindex_pipeline.index.sparse import Bm25Model
from qindex_pipeline_tests.conftest import DIMENSION, MakeSettings, made_manifest, made_points
from qindex_pipeline_tests.fakes.hashed_embedding import embed
from qindex_pipeline_tests.fakes.qdrant_server import QdrantServer

ALIAS = "qindex_contract_test"
FILLED = "qindex_contract_filled"
"""Alias of the engine that tests share: on one real server the others must not touch it."""
MANIFEST = made_manifest()
NEXT_MANIFEST = made_manifest("another embedder")
THIRD_MANIFEST = made_manifest("a third embedder")

TEXTS = [
    "Installing the package takes one command.",
    "Themes change the colours of the viewer.",
    "Rotation is set in degrees around an axis.",
]
ABOUT_INSTALLING, ABOUT_THEMES, ABOUT_ROTATION = TEXTS


RARE = ["common common rare", "common alpha beta", "common gamma delta"]
PUBLISHED = {
    "a": made_points("a", TEXTS),
    "b": made_points("b", TEXTS),
    "words": made_points("words", RARE),
}


REAL_URL = os.environ.get("QDRANT_TEST_URL")
REAL_KEY = os.environ.get("QDRANT_TEST_API_KEY")


@contextmanager
def running(kind: str, folder: Path, alias: str = ALIAS) -> Generator[Engine]:
    """An engine without a collection."""
    if kind == "edge":
        yield EdgeEngine(folder / "index")
        return
    if kind == "real" and REAL_URL is None:
        pytest.skip("no real server: QDRANT_TEST_URL is not set")
    with QdrantServer() if kind == "server" else nullcontext() as server:
        client = QdrantClient(
            location=":memory:" if kind == "memory" else None,
            url=server.url if server else None if kind == "memory" else REAL_URL,
            api_key=REAL_KEY if kind == "real" else None,
            check_compatibility=False,
        )
        forget(client, alias)
        yield ServerEngine(client)
        forget(client, alias)
        client.close()


def forget(client: QdrantClient, alias: str) -> None:
    """Leave nothing of these tests on a server that others use too."""
    for collection in client.get_collections().collections:
        if collection.name.startswith(f"{alias}__"):
            client.delete_collection(collection.name)


ENGINES = ["edge", "memory", "server", "real"]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Engine]:
    """An engine of the test's own."""
    with running(request.param, tmp_path) as engine:
        yield engine


@pytest.fixture(params=ENGINES, scope="module")
def filled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[Engine]:
    """An engine with the sites of PUBLISHED, for tests that change nothing."""
    with running(request.param, tmp_path_factory.mktemp("filled"), FILLED) as engine:
        for site, points in PUBLISHED.items():
            engine.sync(FILLED, MANIFEST, site, points)
        yield engine


pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local")


def opened(engine: Engine, alias: str = ALIAS) -> Collection:
    collection = engine.open(alias)
    assert collection is not None
    return collection


def dense(text: str, kind: Kind, site: str | None = None, limit: int = 10) -> QueryRequest:
    return QueryRequest(embed(text, DIMENSION).tolist(), kind, limit, site)


def sparse(text: str, site: str | None = None) -> QueryRequest:
    return QueryRequest(Bm25Model().query(text), "passage", 10, site)


def ids(points: list[Point], kind: str) -> list[str]:
    return [point.id for point in points if point.payload["kind"] == kind]


def test_before_the_first_publication_there_is_nothing_to_open(engine: Engine) -> None:
    assert engine.open(ALIAS) is None
    assert engine.remove(ALIAS, "a") == 0
    assert engine.open(ALIAS) is None


def test_a_published_site_is_read_with_its_manifest(filled: Engine) -> None:
    collection = opened(filled, FILLED)
    assert collection.name == physical_name(FILLED, MANIFEST)
    assert collection.manifest == MANIFEST
    assert collection.sites() == {"a": 6, "b": 6, "words": 6}
    assert filled.open("another alias") is None


@pytest.mark.parametrize("kind", ["passage", "question"])
def test_a_dense_query_finds_the_nearest_of_its_kind(kind: Kind, filled: Engine) -> None:
    points = [point for point in PUBLISHED["a"] if point.payload["kind"] == kind]
    wanted = next(point for point in points if ABOUT_THEMES in repr(point.payload))
    (hits,) = opened(filled, FILLED).query_batch([QueryRequest(wanted.vector, kind, 10, "a")])
    assert (hits[0].id, hits[0].score) == (wanted.id, pytest.approx(1.0, abs=1e-4))
    assert hits[0].payload == wanted.payload
    assert sorted(hit.id for hit in hits) == sorted(point.id for point in points)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_query_returns_no_more_than_its_limit(filled: Engine) -> None:
    (hits,) = opened(filled, FILLED).query_batch([dense(ABOUT_THEMES, "passage", limit=2)])
    assert len(hits) == 2


def test_a_sparse_query_finds_the_passages_that_share_its_words(filled: Engine) -> None:
    hits, nothing = opened(filled, FILLED).query_batch(
        [sparse("degrees of rotation", "a"), sparse("zebra")]
    )
    # Local mode lists points that share no word, with a score of 0.
    assert [hit.payload["text"] for hit in hits if hit.score > 0] == [ABOUT_ROTATION]
    assert [hit for hit in nothing if hit.score > 0] == []


def test_a_rare_word_weighs_more_than_a_common_one(filled: Engine) -> None:
    alpha, rare = opened(filled, FILLED).query_batch(
        [sparse("common alpha"), sparse("common rare")]
    )
    assert (alpha[0].payload["text"], rare[0].payload["text"]) == (RARE[1], RARE[0])
    score = {hit.payload["text"]: hit.score for hit in alpha}
    # Both words stand once in texts of one length: without IDF this would be exactly double.
    assert score[RARE[1]] > 2.2 * score[RARE[2]]


def test_a_batch_answers_each_query_in_its_place(filled: Engine) -> None:
    questions, passages, words = opened(filled, FILLED).query_batch(
        [
            dense(ABOUT_THEMES, "question"),
            dense(ABOUT_THEMES, "passage"),
            sparse("themes"),
        ]
    )
    assert {hit.payload["kind"] for hit in questions} == {"question"}
    assert {hit.payload["kind"] for hit in passages + words} == {"passage"}


@pytest.mark.parametrize("site", ["a", "b"])
def test_a_site_never_returns_another_on_any_leg(site: str, filled: Engine) -> None:
    legs = opened(filled, FILLED).query_batch(
        [
            dense(ABOUT_THEMES, "question", site),
            dense(ABOUT_THEMES, "passage", site),
            sparse("themes colours viewer", site),
        ]
    )
    assert [{hit.payload["site"] for hit in hits} for hits in legs] == [{site}] * 3


def test_without_a_site_every_leg_returns_all(filled: Engine) -> None:
    legs = opened(filled, FILLED).query_batch(
        [
            dense(ABOUT_THEMES, "question", limit=2),
            dense(ABOUT_THEMES, "passage", limit=2),
            sparse("themes colours viewer"),
        ]
    )
    found = [{hit.payload["site"] for hit in hits if hit.score > 0} for hits in legs]
    assert found == [{"a", "b"}] * 3


def test_a_site_that_the_collection_does_not_have_gives_nothing(filled: Engine) -> None:
    legs = [dense(ABOUT_THEMES, "question", "none"), sparse("themes", "none")]
    assert opened(filled, FILLED).query_batch(legs) == [[], []]


def test_payloads_are_retrieved_by_id(filled: Engine) -> None:
    points = PUBLISHED["a"]
    unknown = "00000000-0000-0000-0000-000000000000"
    found = opened(filled, FILLED).retrieve([points[0].id, points[4].id, unknown])
    assert found == {points[0].id: points[0].payload, points[4].id: points[4].payload}
    assert opened(filled, FILLED).retrieve([]) == {}


def test_a_query_returns_only_the_payload_keys_that_it_names(filled: Engine) -> None:
    request = QueryRequest([1.0] * DIMENSION, "passage", 10, "a", payload=("chunk_id", "title"))
    (hits,) = opened(filled, FILLED).query_batch([request])
    assert [set(hit.payload) for hit in hits] == [{"chunk_id", "title"}] * len(TEXTS)


@pytest.mark.filterwarnings("ignore:Local mode performs exact")
@pytest.mark.parametrize("exact", [True, False])
def test_a_query_of_some_chunks_returns_their_points_with_the_scores_that_they_have_among_all(
    exact: bool, filled: Engine
) -> None:
    collection = opened(filled, FILLED)
    for request in (dense(ABOUT_THEMES, "passage", "a"), sparse(ABOUT_THEMES, "a")):
        (hits,) = collection.query_batch([request])
        chunks = tuple(hit.payload["chunk_id"] for hit in hits[:2])
        (some,) = collection.query_batch([replace(request, chunks=chunks, exact=exact)])
        assert [(hit.id, hit.score) for hit in some] == [(hit.id, hit.score) for hit in hits[:2]]


def test_an_unchanged_site_is_not_written(filled: Engine) -> None:
    report = filled.sync(FILLED, MANIFEST, "a", made_points("a", TEXTS))
    assert (report.written, report.unchanged, report.deleted) == (0, 6, 0)
    assert (report.count, report.live) == (6, True)


def test_sync_and_remove_touch_what_changed_in_their_site_alone(engine: Engine) -> None:
    first = engine.sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS))
    assert (first.written, first.unchanged, first.deleted) == (6, 0, 0)
    assert (first.count, first.live, first.collection) == (6, True, opened(engine).name)
    engine.sync(ALIAS, MANIFEST, "b", made_points("b", TEXTS))
    before = opened(engine)

    wanted = made_points("a", [ABOUT_INSTALLING, ABOUT_THEMES, "A page that is new."])
    payload = wanted[0].payload | {"anchor": "moved", "content_hash": "changed"}
    wanted[0] = Point(wanted[0].id, wanted[0].vector, wanted[0].sparse, payload)
    second = engine.sync(ALIAS, MANIFEST, "a", wanted)
    assert (second.written, second.unchanged, second.deleted, second.count) == (3, 3, 2, 6)
    after = opened(engine)
    assert after.sites() == {"a": 6, "b": 6}
    assert after.retrieve([wanted[0].id]) == {wanted[0].id: payload}
    (hits,) = after.query_batch([dense(ABOUT_ROTATION, "passage", "a")])
    assert sorted(hit.id for hit in hits) == sorted(ids(wanted, "passage"))
    # Who opened it before the sync can go on asking.
    (hits,) = before.query_batch([dense(ABOUT_THEMES, "passage", "b")])
    assert len(hits) == 3

    assert engine.remove(ALIAS, "a") == 6
    rest = opened(engine)
    assert rest.sites() == {"b": 6}
    (hits,) = rest.query_batch([dense(ABOUT_THEMES, "passage")])
    assert {hit.payload["site"] for hit in hits} == {"b"}
    assert engine.remove(ALIAS, "a") == 0


def test_more_points_than_one_batch_are_all_written(engine: Engine) -> None:
    points = made_points("a", [f"Passage number {n}." for n in range(UPSERT_BATCH)])
    assert engine.sync(ALIAS, MANIFEST, "a", points).count == 2 * UPSERT_BATCH
    assert opened(engine).sites() == {"a": 2 * UPSERT_BATCH}


def test_a_new_fingerprint_goes_live_when_it_holds_every_site(engine: Engine) -> None:
    for site in ("a", "b"):
        engine.sync(ALIAS, MANIFEST, site, made_points(site, TEXTS))
    first = engine.sync(ALIAS, NEXT_MANIFEST, "a", made_points("a", TEXTS))
    assert (first.collection, first.live) == (physical_name(ALIAS, NEXT_MANIFEST), False)
    assert (first.written, first.waiting_for) == (6, ("b",))
    assert opened(engine).manifest == MANIFEST
    assert opened(engine).sites() == {"a": 6, "b": 6}
    second = engine.sync(ALIAS, NEXT_MANIFEST, "b", made_points("b", TEXTS))
    assert (second.live, second.waiting_for) == (True, ())
    assert opened(engine).manifest == NEXT_MANIFEST
    assert opened(engine).name == physical_name(ALIAS, NEXT_MANIFEST)
    assert opened(engine).sites() == {"a": 6, "b": 6}


def publish(engine: Engine, manifest: Manifest, *sites: str, texts: list[str] = TEXTS) -> None:
    for site in sites:
        engine.sync(ALIAS, manifest, site, made_points(site, texts))


def test_a_model_change_is_rolled_back_and_forth(engine: Engine) -> None:
    publish(engine, MANIFEST, "a", "b")
    publish(engine, NEXT_MANIFEST, "a", "b")
    done = engine.rollback(ALIAS)
    assert opened(engine).manifest == MANIFEST
    assert opened(engine).sites() == {"a": 6, "b": 6}
    assert physical_name(ALIAS, MANIFEST) in done.now
    assert physical_name(ALIAS, NEXT_MANIFEST) in done.before
    assert (engine.rollback(ALIAS).now, opened(engine).manifest) == (done.before, NEXT_MANIFEST)
    engine.rollback(ALIAS)
    # The next run of the settings' model brings that model back.
    publish(engine, NEXT_MANIFEST, "a")
    assert opened(engine).manifest == NEXT_MANIFEST


def test_live_names_what_readers_see_without_opening_it(engine: Engine) -> None:
    assert engine.live(ALIAS) is None
    publish(engine, MANIFEST, "a")
    first = engine.live(ALIAS)
    assert first == opened(engine).state
    publish(engine, MANIFEST, "a")
    assert engine.live(ALIAS) == first
    publish(engine, MANIFEST, "b")
    second = engine.live(ALIAS)
    assert second == opened(engine).state
    # On a server, the points changed in their place.
    assert (second == first) == isinstance(engine, ServerEngine)
    publish(engine, NEXT_MANIFEST, "a")
    assert engine.live(ALIAS) == second
    publish(engine, NEXT_MANIFEST, "b")
    third = engine.live(ALIAS)
    assert third == opened(engine).state
    assert third not in (first, second)
    engine.rollback(ALIAS)
    assert engine.live(ALIAS) == opened(engine).state == second
    assert engine.live("another alias") is None


def test_without_an_earlier_state_there_is_nothing_to_roll_back_to(engine: Engine) -> None:
    with pytest.raises(WorkError, match=f"nothing was kept behind {ALIAS}"):
        engine.rollback(ALIAS)
    publish(engine, MANIFEST, "a")
    with pytest.raises(WorkError, match=f"nothing was kept behind {ALIAS}"):
        engine.rollback(ALIAS)


def test_a_removed_site_does_not_come_back(engine: Engine) -> None:
    publish(engine, MANIFEST, "a", "b")
    publish(engine, NEXT_MANIFEST, "a", "b")
    publish(engine, THIRD_MANIFEST, "a")
    assert engine.remove(ALIAS, "a") >= 12
    assert opened(engine).sites() == {"b": 6}
    with suppress(WorkError):  # what was kept may be given up for it
        engine.rollback(ALIAS)
    assert opened(engine).sites() == {"b": 6}
    publish(engine, THIRD_MANIFEST, "b")
    assert opened(engine).manifest == THIRD_MANIFEST
    assert opened(engine).sites() == {"b": 6}


def test_verify_names_what_is_missing_foreign_and_stale(engine: Engine) -> None:
    points = made_points("a", TEXTS)
    missing = engine.verify(ALIAS, MANIFEST, "a", points)
    assert missing == Verification([point.id for point in points], [], [])
    publish(engine, MANIFEST, "a", "b")
    assert engine.verify(ALIAS, MANIFEST, "a", points).passed
    # Somebody edits a text and leaves the hash, deletes a point and adds one.
    edited = Point(points[0].id, points[0].vector, None, points[0].payload | {"text": "edited"})
    added = made_points("a", ["An added page."])
    engine.sync(ALIAS, MANIFEST, "a", [*points[2:], *added])
    engine.sync(ALIAS, MANIFEST, "a", [edited, *points[2:], *added])
    found = engine.verify(ALIAS, MANIFEST, "a", points)
    assert found.missing == [points[1].id]
    assert sorted(found.foreign) == sorted(point.id for point in added)
    assert found.stale == [points[0].id]
    assert not found.passed

    # A sync believes the hash, a repair does not.
    assert engine.sync(ALIAS, MANIFEST, "a", [edited, *points[1:]]).written == 1
    assert engine.sync(ALIAS, MANIFEST, "a", points).written == 0
    report = engine.repair(ALIAS, MANIFEST, "a", points)
    assert (report.written, report.unchanged, report.deleted, report.count) == (1, 5, 0, 6)
    assert engine.verify(ALIAS, MANIFEST, "a", points).passed
    assert opened(engine).sites() == {"a": 6, "b": 6}


def test_a_point_without_an_anchor_is_the_same_after_a_round_trip(engine: Engine) -> None:
    (point,) = (item for item in made_points("a", TEXTS[:1]) if "anchor" in item.payload)
    bare = Point(point.id, point.vector, point.sparse, point.payload | {"anchor": None})
    engine.sync(ALIAS, MANIFEST, "a", [bare])
    assert engine.verify(ALIAS, MANIFEST, "a", [bare]).passed


def test_a_collection_that_does_not_find_its_vectors_does_not_go_live(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(engine, MANIFEST, "a")
    # Copies of the vectors that are no longer the vectors: what a broken graph would look like.
    turned = [-value for value in made_points("a", TEXTS)[0].vector]
    for kind in (EdgeCollection, ServerCollection):
        monkeypatch.setattr(kind, "probes", lambda _: [Probe("a", "passage", turned)])
    with pytest.raises(WorkError, match=r"does not find its own vectors of a; readers keep"):
        publish(engine, NEXT_MANIFEST, "a")
    assert opened(engine).manifest == MANIFEST
    monkeypatch.undo()
    publish(engine, NEXT_MANIFEST, "a")
    assert opened(engine).manifest == NEXT_MANIFEST


def test_settings_without_a_server_name_the_embedded_engine(settings: MakeSettings) -> None:
    made = settings()
    engine = open_engine(made)
    assert isinstance(engine, EdgeEngine)
    assert engine.remove(ALIAS, "a") == 0
    assert (made.state_dir / "index").is_dir()


def test_settings_with_an_address_name_the_server(settings: MakeSettings) -> None:
    with QdrantServer() as server:
        engine = open_engine(settings(QDRANT_URL=server.url))
        assert isinstance(engine, ServerEngine)
        engine.sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS))
        collection = opened(engine)
        assert collection.sites() == {"a": 6}
        collection.close()


def test_a_collection_that_somebody_else_made_is_refused() -> None:
    with QdrantServer() as server:
        client = QdrantClient(url=server.url, check_compatibility=False)
        client.create_collection("theirs", vectors_config={})
        engine = ServerEngine(client)
        client.update_collection_aliases(
            [
                models.CreateAliasOperation(
                    create_alias=models.CreateAlias(collection_name="theirs", alias_name=ALIAS)
                )
            ]
        )
        with pytest.raises(WorkError, match="collection theirs was not made by qindex"):
            engine.open(ALIAS)
        client.close()


@pytest.mark.parametrize("kind", ["memory", "server", "real"])
def test_plain_qdrant_client_reaches_every_questions_text_with_one_further_call(
    kind: str, tmp_path: Path
) -> None:
    points = made_points("a", TEXTS)
    only = models.FieldCondition(key="kind", match=models.MatchValue(value="question"))
    with running(kind, tmp_path) as engine:
        engine.sync(ALIAS, MANIFEST, "a", points)
        client = engine._client
        for asked in (point for point in points if point.payload["kind"] == "question"):
            (hit,) = client.query_points(
                ALIAS,
                query=asked.vector,
                using="dense",
                query_filter=models.Filter(must=[only]),
                limit=1,
            ).points
            assert hit.id == asked.id
            (passage,) = client.retrieve(ALIAS, [str(uuid.UUID(hit.payload["chunk_id"]))])
            assert hit.payload["question"] == f"What about {passage.payload['text']}?"
            assert passage.payload["url"]

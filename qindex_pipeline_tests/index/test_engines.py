"""The contract of an index engine, held against all of them."""

from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from qdrant_client import QdrantClient, models

from qindex_pipeline.errors import WorkError
from qindex_pipeline.index.edge import EdgeEngine
from qindex_pipeline.index.engine import (
    UPSERT_BATCH,
    Collection,
    Engine,
    Kind,
    QueryRequest,
    physical_name,
)
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.index.points import Point
from qindex_pipeline.index.server import ServerEngine
from qindex_pipeline.index.sparse import Bm25Model
from qindex_pipeline_tests.conftest import DIMENSION, MakeSettings, made_manifest, made_points
from qindex_pipeline_tests.fakes.hashed_embedding import embed
from qindex_pipeline_tests.fakes.qdrant_server import QdrantServer

ALIAS = "docs"
MANIFEST = made_manifest()
NEXT_MANIFEST = made_manifest("another embedder")

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


@contextmanager
def running(kind: str, folder: Path) -> Generator[Engine]:
    """An engine without a collection."""
    if kind == "edge":
        yield EdgeEngine(folder / "index")
        return
    with QdrantServer() if kind == "server" else nullcontext() as server:
        client = QdrantClient(
            location=None if server else ":memory:",
            url=server.url if server else None,
            check_compatibility=False,
        )
        yield ServerEngine(client)
        client.close()


ENGINES = ["edge", "memory", "server"]


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
    with running(request.param, tmp_path_factory.mktemp("filled")) as engine:
        for site, points in PUBLISHED.items():
            engine.sync(ALIAS, MANIFEST, site, points)
        yield engine


pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect in the local")


def opened(engine: Engine) -> Collection:
    collection = engine.open(ALIAS)
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
    collection = opened(filled)
    assert collection.name == physical_name(ALIAS, MANIFEST)
    assert collection.manifest == MANIFEST
    assert collection.sites() == {"a": 6, "b": 6, "words": 6}
    assert filled.open("another alias") is None


@pytest.mark.parametrize("kind", ["passage", "question"])
def test_a_dense_query_finds_the_nearest_of_its_kind(kind: Kind, filled: Engine) -> None:
    points = [point for point in PUBLISHED["a"] if point.payload["kind"] == kind]
    wanted = next(point for point in points if ABOUT_THEMES in repr(point.payload))
    (hits,) = opened(filled).query_batch([QueryRequest(wanted.vector, kind, 10, "a")])
    assert (hits[0].id, hits[0].score) == (wanted.id, pytest.approx(1.0, abs=1e-4))
    assert hits[0].payload == wanted.payload
    assert sorted(hit.id for hit in hits) == sorted(point.id for point in points)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_query_returns_no_more_than_its_limit(filled: Engine) -> None:
    (hits,) = opened(filled).query_batch([dense(ABOUT_THEMES, "passage", limit=2)])
    assert len(hits) == 2


def test_a_sparse_query_finds_the_passages_that_share_its_words(filled: Engine) -> None:
    hits, nothing = opened(filled).query_batch(
        [sparse("degrees of rotation", "a"), sparse("zebra")]
    )
    # Local mode lists points that share no word, with a score of 0.
    assert [hit.payload["text"] for hit in hits if hit.score > 0] == [ABOUT_ROTATION]
    assert [hit for hit in nothing if hit.score > 0] == []


def test_a_rare_word_weighs_more_than_a_common_one(filled: Engine) -> None:
    alpha, rare = opened(filled).query_batch([sparse("common alpha"), sparse("common rare")])
    assert (alpha[0].payload["text"], rare[0].payload["text"]) == (RARE[1], RARE[0])
    score = {hit.payload["text"]: hit.score for hit in alpha}
    # Both words stand once in texts of one length: without IDF this would be exactly double.
    assert score[RARE[1]] > 2.2 * score[RARE[2]]


def test_a_batch_answers_each_query_in_its_place(filled: Engine) -> None:
    questions, passages, words = opened(filled).query_batch(
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
    legs = opened(filled).query_batch(
        [
            dense(ABOUT_THEMES, "question", site),
            dense(ABOUT_THEMES, "passage", site),
            sparse("themes colours viewer", site),
        ]
    )
    assert [{hit.payload["site"] for hit in hits} for hits in legs] == [{site}] * 3


def test_without_a_site_every_leg_returns_all(filled: Engine) -> None:
    legs = opened(filled).query_batch(
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
    assert opened(filled).query_batch(legs) == [[], []]


def test_payloads_are_retrieved_by_id(filled: Engine) -> None:
    points = PUBLISHED["a"]
    unknown = "00000000-0000-0000-0000-000000000000"
    found = opened(filled).retrieve([points[0].id, points[4].id, unknown])
    assert found == {points[0].id: points[0].payload, points[4].id: points[4].payload}
    assert opened(filled).retrieve([]) == {}


def test_an_unchanged_site_is_not_written(filled: Engine) -> None:
    report = filled.sync(ALIAS, MANIFEST, "a", made_points("a", TEXTS))
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
    assert first.written == 6
    assert opened(engine).manifest == MANIFEST
    assert opened(engine).sites() == {"a": 6, "b": 6}
    second = engine.sync(ALIAS, NEXT_MANIFEST, "b", made_points("b", TEXTS))
    assert second.live
    assert opened(engine).manifest == NEXT_MANIFEST
    assert opened(engine).name == physical_name(ALIAS, NEXT_MANIFEST)
    assert opened(engine).sites() == {"a": 6, "b": 6}


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

"""The index as an application holds it: while it is published anew, from threads, from a loop."""

import asyncio
import logging
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass

import pytest

from qindex_pipeline.embedding.fingerprint import fingerprint
from qindex_pipeline.embedding.opening import open_embedder
from qindex_pipeline.errors import UsageError, WorkError
from qindex_pipeline.index.edge import EdgeEngine
from qindex_pipeline.index.edge_collection import EdgeCollection
from qindex_pipeline.index.engine import (
    SCHEMA_VERSION,
    Collection,
    Manifest,
    QueryRequest,
    ScoredPoint,
)
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.index.points import build_points
from qindex_pipeline.index.sparse import SPARSE_MODEL
from qindex_pipeline.query import QIndex
from qindex_pipeline.retrieval.answering.prompt import NO_ANSWER
from qindex_pipeline.retrieval.held import HeldIndex
from qindex_pipeline.retrieval.result import REFUSAL, Citation
from qindex_pipeline.settings import Settings
from qindex_pipeline_tests.conftest import MakeSettings, chunk_row, embedding_row, question_row
from qindex_pipeline_tests.fakes.ollama_server import OllamaServer
from qindex_pipeline_tests.fakes.qdrant_server import QdrantServer

ALIAS = "lantern"
WICK = "The wick is trimmed with scissors every evening."
OIL = "The oil lamp is filled to the brim before sunset."
NEW = "The mirror is polished with chalk and vinegar."
HOW_WICK, HOW_OIL, HOW_MIRROR = (
    "How is the wick trimmed?", "How is the oil lamp filled?", "How is the mirror polished?"
)  # fmt: skip


@dataclass
class Site:
    """An index of few sentences, and the model server behind it."""

    settings: Settings
    ollama: OllamaServer

    def publish(self, *texts: str, site: str = "docs") -> None:
        """Make the sentences the whole site; each is a chunk with one question."""
        embedder = open_embedder("ollama:nomic-embed-text", self.settings, None)
        chunks = [chunk_row(text, site=site, anchor=f"a{len(text)}") for text in texts]
        questions = [question_row(chunk, f"What about this: {chunk['text']}") for chunk in chunks]
        rows = [embedding_row(chunk) for chunk in chunks]
        rows += [embedding_row(*pair) for pair in zip(chunks, questions, strict=True)]
        vectors = embedder.embed([row["text"] for row in rows])
        rows = [row | {"vector": vec.tolist()} for row, vec in zip(rows, vectors, strict=True)]
        manifest = Manifest(SCHEMA_VERSION, fingerprint(embedder, SPARSE_MODEL))
        points = build_points(chunks, questions, rows)
        open_engine(self.settings).sync(ALIAS, manifest, site, points)


@pytest.fixture(params=["edge", "server"])
def site(request: pytest.FixtureRequest, settings: MakeSettings) -> Iterator[Site]:
    with OllamaServer() as ollama, QdrantServer() as qdrant:
        made = Site(
            settings(
                QINDEX_PROFILE="local",
                QINDEX_OLLAMA_URL=ollama.url,
                QINDEX_COLLECTION_NAME=ALIAS,
                QINDEX_CONFIDENCE_THRESHOLD=0.3,
                **({"QDRANT_URL": qdrant.url} if request.param == "server" else {}),
            ),
            ollama,
        )
        made.publish(WICK, OIL)
        yield made


@pytest.fixture
def index(site: Site) -> Iterator[QIndex]:
    with closing(QIndex(site.settings)) as opened:
        yield opened


def chats(site: Site) -> int:
    return sum("chat" in request.path for request in site.ollama.requests)


def test_an_answer_cites_its_source_and_says_what_it_is_made_of(index: QIndex) -> None:
    answer = index.ask(HOW_WICK)
    assert answer.answer == f"{WICK} [1]"
    best = answer.results[0]
    assert answer.citations == [Citation(best.citation, best.place)]
    assert (best.text, best.site, best.confident) == (WICK, "docs", True)
    assert (answer.refused, answer.reason) == (False, None)


def test_a_stream_gives_the_same_answer_in_pieces(index: QIndex) -> None:
    stream = index.stream(HOW_WICK)
    assert stream.results[0].text == WICK
    texts = list(stream)
    assert len(texts) > 3
    assert "".join(texts) == stream.answer.answer == index.ask(HOW_WICK).answer


def test_a_model_that_finds_no_answer_refuses_with_a_reason_of_its_own(
    site: Site, index: QIndex
) -> None:
    site.ollama.say(NO_ANSWER)
    answer = index.ask(HOW_WICK)
    assert (answer.refused, answer.answer, answer.citations) == (True, REFUSAL, [])
    assert answer.reason == "the passages do not answer it"


def test_without_a_passing_result_no_model_is_asked(site: Site, index: QIndex) -> None:
    answer = index.ask(HOW_WICK, threshold=1.0)
    assert (answer.refused, answer.answer, answer.citations) == (True, REFUSAL, [])
    assert answer.reason is not None
    assert answer.reason.endswith("the threshold is 1.00")
    assert "".join(index.stream(HOW_WICK, threshold=1.0)) == REFUSAL
    assert chats(site) == 0


def test_ranking_alone_asks_no_model(site: Site, index: QIndex) -> None:
    answer = index.ask(HOW_WICK, write_answer=False)
    assert (answer.answer, answer.refused) == (None, False)
    assert answer.results[0].text == WICK
    assert chats(site) == 0


@pytest.mark.parametrize("ask", [QIndex.ask, QIndex.stream])
def test_a_wrong_call_is_refused_before_anything_is_written(index: QIndex, ask) -> None:
    with pytest.raises(UsageError, match="the question is empty"):
        ask(index, "  \n ")
    with pytest.raises(UsageError, match="the index has no site 'other'; it has docs"):
        ask(index, HOW_WICK, "other")


def test_a_provider_that_fails_is_named_and_the_index_goes_on(site: Site, index: QIndex) -> None:
    site.ollama.fail_next(500, path="chat")
    with pytest.raises(WorkError, match=r"ollama:qwen2\.5:14b answered HTTP 500"):
        index.ask(HOW_WICK)
    assert index.ask(HOW_WICK).answer == f"{WICK} [1]"


def test_a_coroutine_answers_while_its_loop_goes_on(site: Site, index: QIndex) -> None:
    site.ollama.delay = 0.2

    async def both() -> tuple[Sequence[str | None], int]:
        turns = 0
        asked = asyncio.gather(index.aask(HOW_WICK), index.aask(HOW_OIL))
        while not asked.done():
            await asyncio.sleep(0.01)
            turns += 1
        return [answer.answer for answer in await asked], turns

    answers, turns = asyncio.run(both())
    assert answers == [f"{WICK} [1]", f"{OIL} [1]"]
    assert turns > 3
    assert site.ollama.peak_in_flight == 2


def test_threads_that_ask_at_once_get_their_own_answers(index: QIndex) -> None:
    asked = [(HOW_WICK, WICK), (HOW_OIL, OIL)] * 20
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda pair: index.ask(pair[0]).answer, asked))
    assert answers == [f"{text} [1]" for _, text in asked]


def test_a_held_index_sees_what_is_published_after_it_was_opened(site: Site) -> None:
    with closing(QIndex(site.settings, refresh_seconds=0)) as held:
        assert held.ask(HOW_MIRROR, write_answer=False).results[0].text != NEW
        site.publish(WICK, NEW)
        site.publish(OIL, site="lamps")
        assert held.ask(HOW_MIRROR).answer == f"{NEW} [1]"
        assert OIL not in [item.text for item in held.ask(HOW_OIL, "docs").results]
        assert held.ask(HOW_OIL, "lamps").answer == f"{OIL} [1]"


def test_a_held_index_answers_without_a_break_while_it_is_published_anew(site: Site) -> None:
    stop = threading.Event()
    seen: set[str | None] = set()

    def ask(held: QIndex) -> int:
        count = 0
        while not stop.is_set():
            result = held.ask(HOW_WICK, write_answer=False)
            seen.update(item.text for item in result.results[:1])
            count += 1
        return count

    with closing(QIndex(site.settings, refresh_seconds=0.1)) as held, ThreadPoolExecutor(2) as pool:
        askers = [pool.submit(ask, held) for _ in range(2)]
        try:
            for night in range(3):
                site.publish(WICK, f"Night number {night} was calm.")
        finally:
            stop.set()
        assert all(asker.result() > 0 for asker in askers)
        assert seen == {WICK}
    with closing(QIndex(site.settings)) as newest:
        best = newest.ask("Which night number was calm?", write_answer=False).results[0]
    assert best.text == "Night number 2 was calm."


class Clock:
    """A clock that a test sets."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_held_index_looks_for_a_newer_state_only_when_its_last_look_is_old(site: Site) -> None:
    clock = Clock()
    held = HeldIndex(site.settings, refresh_seconds=30, clock=clock)
    first = held.current()
    site.publish(NEW, site="more")
    clock.now += 29
    assert held.current() is first
    clock.now += 1
    assert held.current().sites == {"docs", "more"}
    held.close()


def test_a_held_index_opens_nothing_while_readers_see_the_same(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = HeldIndex(site.settings, refresh_seconds=0)
    first = held.current()
    opened: list[str] = []
    engine = held._engine
    assert engine is not None
    open_it = engine.open

    def count(alias: str) -> Collection | None:
        opened.append(alias)
        return open_it(alias)

    monkeypatch.setattr(engine, "open", count)
    site.publish(WICK, OIL)  # as it is
    assert held.current().collection is first.collection
    site.publish(OIL, site="lamps")
    assert held.current().sites == {"docs", "lamps"}
    # Points of a server's collection change in their place, a generation never.
    assert opened == ([ALIAS] if isinstance(engine, EdgeEngine) else [])
    held.close()


def test_a_chunk_that_goes_between_the_legs_and_its_text_is_left_out(
    site: Site, index: QIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection = index._held.current().collection
    find = collection.query_batch

    def find_and_lose(requests: Sequence[QueryRequest]) -> list[list[ScoredPoint]]:
        found = find(requests)
        site.publish(OIL)
        return found

    if isinstance(collection, EdgeCollection):
        pytest.skip("a generation does not change under its reader")
    monkeypatch.setattr(collection, "query_batch", find_and_lose)
    answer = index.ask(HOW_WICK, write_answer=False)
    assert [(item.rank, item.text) for item in answer.results] == [(1, OIL)]


def test_trouble_with_a_newer_state_is_logged_and_the_held_one_answers_on(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    held = HeldIndex(site.settings, refresh_seconds=0)
    first = held.current()

    def fail(alias: str) -> None:
        raise WorkError(f"{alias} cannot be read")

    engine = held._engine
    monkeypatch.setattr(engine, "live", fail)
    with caplog.at_level(logging.WARNING):
        assert held.current() is first
    assert "lantern cannot be read" in caplog.text
    monkeypatch.undo()
    held.close()


def test_a_closed_index_opens_again_with_the_next_question(index: QIndex) -> None:
    index.ask(HOW_WICK, write_answer=False)
    index.close()
    assert index.ask(HOW_WICK, write_answer=False).results[0].text == WICK

"""A real docs site, offline: the seed's ten queries, foreign questions, refusal, two sites.

The floors are the project's own acceptance; `benchmarks/seed_table.py` prints the table.
"""

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from qindex_pipeline.ingest import ingest
from qindex_pipeline.progress import silent
from qindex_pipeline.query import QIndex
from qindex_pipeline.retrieval.legs import LEGS, Leg
from qindex_pipeline.retrieval.result import REFUSAL
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import CALIBRATIONS, CHUNKS, GROUNDED_QUESTIONS, RAW_PAGES
from qindex_pipeline_tests.fakes.anthropic_server import AnthropicServer
from qindex_pipeline_tests.stl import serving_stl, shared, stl_site

pytestmark = pytest.mark.skipif(stl_site() is None, reason="QINDEX_SHARED holds no sites/stl")

FOREIGN = Path(__file__).parent / "data" / "foreign_questions.txt"


@dataclass(frozen=True)
class Built:
    """The STL site, ingested twice under two keys, as one index."""

    index: QIndex
    store: ParquetStore
    base: str


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    folder = tmp_path_factory.mktemp("stl")
    settings = Settings(profile="offline", data=str(folder / "data"), sites=folder / "sites.yaml")
    with serving_stl() as url:
        ingest(settings, Site(key="stl", start_url=url), silent)
        ingest(settings, Site(key="copy", start_url=url), silent)
        yield Built(QIndex(settings), ParquetStore(settings.data), url.removesuffix("docs/"))


def queries() -> list[dict]:
    file = shared("eval/stl_seed_queries.jsonl")
    if file is None:
        pytest.skip("QINDEX_SHARED holds no eval/stl_seed_queries.jsonl")
    return [json.loads(line) for line in file.read_text().splitlines() if line.strip()]


def path_of(url: str) -> str:
    path = urlsplit(url).path.strip("/")
    return path + "/" if path else ""


def test_the_19_linked_pages_are_stored_and_the_unlinked_version_is_not(built: Built):
    pages = built.store.read(RAW_PAGES, "stl").to_pylist()
    stored = {path_of(page["canonical_url"]) for page in pages if page["outcome"] == "ok"}
    assert len(stored) == 19
    assert {"", "playground/", "themes/", "docs/"} <= stored
    assert not any("v0.2.1" in path for path in stored)


def ranks(built: Built, legs: Sequence[Leg]) -> tuple[list[bool], list[bool], int]:
    first, top_three, refused = [], [], 0
    for row in queries():
        answer = built.index.ask(row["question"], "stl", 3, legs=legs, write_answer=False)
        right = [path_of(result.url) in {row["page"], *row["also"]} for result in answer.results]
        first.append(right[0])
        top_three.append(any(right))
        refused += answer.refused
    return first, top_three, refused


def test_the_seeds_queries_find_their_pages(built: Built):
    first, top_three, refused = ranks(built, LEGS)
    assert sum(first) >= 9
    assert all(top_three)
    assert refused == 0


def test_questions_alone_find_at_least_half_of_the_pages_first(built: Built):
    first, _, _ = ranks(built, ("question",))
    assert sum(first) >= 5


def test_an_install_question_is_answered_with_the_command(built: Built):
    asked = [row["question"] for row in queries() if "install" in row["question"]]
    assert len(asked) == 3
    for question in asked:
        answer = built.index.ask(question, "stl").answer or ""
        assert re.search(r"^npm (i|install) structured-table(?![\w-])", answer, re.MULTILINE), (
            question
        )


def test_what_is_quoted_stands_in_the_passages_word_for_word(built: Built):
    for row in queries():
        answer = built.index.ask(row["question"], "stl")
        given = "\n".join(result.text for result in answer.passing)
        lines = re.sub(r" ?\[\d\]$", "", answer.answer or "", flags=re.MULTILINE).split("\n")
        assert answer.refused or all(line in given for line in lines)


def test_a_matched_question_is_accepted_and_its_evidence_stands_in_its_chunk(built: Built):
    accepted = {
        (row["chunk_id"], row["question"]): row["evidence"]
        for row in built.store.read(GROUNDED_QUESTIONS, "stl").to_pylist()
        if row["accepted"]
    }
    texts = {row["chunk_id"]: row["text"] for row in built.store.read(CHUNKS, "stl").to_pylist()}
    matched = 0
    for row in queries():
        for result in built.index.ask(row["question"], "stl", 3, write_answer=False).results:
            if result.matched_question is not None:
                matched += 1
                assert accepted[result.chunk_id, result.matched_question] == result.evidence
                assert result.evidence in texts[result.chunk_id]
    assert matched > 10


def calibrated(built: Built) -> float:
    (row,) = built.store.read(CALIBRATIONS, "stl").to_pylist()
    return row["threshold"]


def test_foreign_questions_are_refused_at_the_same_threshold(built: Built):
    questions = FOREIGN.read_text().splitlines()
    assert len(questions) == 20
    answers = [built.index.ask(question, "stl") for question in questions]
    assert {answer.threshold for answer in answers} == {calibrated(built)}
    assert [answer.question for answer in answers if not answer.refused] == []
    assert {answer.answer for answer in answers} == {REFUSAL}


@pytest.mark.parametrize("legs", [("passage",), ("question",), ("bm25",), LEGS])
def test_a_site_never_returns_another_sites_chunks(built: Built, legs: Sequence[Leg]):
    question = "How do I install Structured Table?"
    for site in ("stl", "copy"):
        found = built.index.ask(question, site, 20, legs=legs, write_answer=False)
        assert {result.site for result in found.results} == {site}
    both = built.index.ask(question, None, 20, legs=legs, write_answer=False)
    assert {result.site for result in both.results} == {"stl", "copy"}


def test_the_answerer_sees_only_what_passes_and_nothing_asks_it_without(
    built: Built, tmp_path: Path
):
    data = tmp_path / "data"
    shutil.copytree(built.store.path(CHUNKS, "stl").rsplit("/", 2)[0], data)
    with AnthropicServer() as anthropic:
        settings = Settings(
            profile="offline",
            data=str(data),
            answerer="anthropic:claude-haiku-4-5-20251001",
            ANTHROPIC_API_KEY="key",
            anthropic_base_url=anthropic.url,
        )
        index = QIndex(settings)
        question = "how do I add a button in STL syntax"
        ranked = index.ask(question, "stl", 3, write_answer=False).results
        confidences = sorted(result.confidence for result in ranked)
        between = (confidences[0] + confidences[1]) / 2
        answer = index.ask(question, "stl", 3, threshold=between)
        prompt = anthropic.requests[-1].body["messages"][0]["content"]
        assert [result.confident for result in answer.results].count(False) == 1
        for result in answer.results:
            assert (result.text.strip() in prompt) is result.confident
        before = len(anthropic.requests)
        refused = index.ask("what is the capital of France", "stl")
        assert refused.answer == "I don't have enough information about that"
        assert refused.citations == []
        assert len(anthropic.requests) == before

"""Explaining a question on a small index: the search that `ask` makes, and every verdict."""

import json
from dataclasses import replace

import pytest

from qindex_pipeline.crawl.outcomes import Outcome
from qindex_pipeline.errors import UsageError
from qindex_pipeline.explaining.explain import Request, explain
from qindex_pipeline.explaining.model.explanation import Explanation
from qindex_pipeline.explaining.text.explain_text import explanation_lines
from qindex_pipeline.query import QIndex
from qindex_pipeline.settings import Settings
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import CHUNKS
from qindex_pipeline_tests.explaining.lantern import (
    QUESTION,
    ROOT,
    Asked,
    Entry,
    page,
    publish,
    write_tables,
)

WINNER = Entry(
    "mirror", "Chalk and vinegar clean it.", 0.3, [Asked("How is the mirror cleaned?", 0.9)]
)
OIL = Entry("oil", "It is filled to the brim.", 0.2, [Asked("How is the oil lamp filled?", 0.4)])
NEAR = replace(OIL, cosine=0.75)
FAR = replace(WINNER, questions=[Asked("How is the mirror cleaned?", 0.5)])
MANUAL = Entry("manual", "Rub it with a soft cloth.", 0.7)
REJECTED = replace(
    MANUAL, questions=[Asked(QUESTION, objections=["grounding", "duplicate"])], cosine=0.2
)


on_both_engines = pytest.mark.parametrize("settings_of", ["edge", "server"], indirect=True)


def explained(settings: Settings, page: str | None = None, **values: object) -> Explanation:
    return explain(settings, replace(Request(QUESTION, page=page), **values))


@on_both_engines
def test_the_results_are_those_of_ask(settings_of: Settings) -> None:
    publish(settings_of, WINNER, OIL, MANUAL)
    for top_k, threshold in ((None, None), (3, 0.8), (2, 1.0)):
        answer = QIndex(settings_of).ask(
            QUESTION, top_k=top_k, threshold=threshold, write_answer=False
        )
        found = explained(settings_of, top_k=top_k, threshold=threshold)
        assert [
            (shown.section.chunk_id, shown.confidence, shown.confident, shown.question)
            for shown in found.results
        ] == [
            (result.chunk_id, result.confidence, result.confident, result.matched_question)
            for result in answer.results
        ]
        assert (found.refused, found.threshold.value) == (answer.refused, answer.threshold)
        assert [row.score for row in found.fused[: len(answer.results)]] == [
            result.score for result in answer.results
        ]


@on_both_engines
def test_every_leg_shows_its_candidates_and_a_score_is_the_sum_of_its_parts(
    settings_of: Settings,
) -> None:
    publish(settings_of, WINNER, OIL, MANUAL)
    found = explained(settings_of)
    assert [hit.section.url for hit in found.legs["passage"]] == [
        f"{ROOT}{name}" for name in ("manual", "mirror", "oil")
    ]
    assert [hit.question for hit in found.legs["question"]] == [
        "How is the mirror cleaned?",
        "How is the oil lamp filled?",
    ]
    assert found.candidates == {
        "passage": 3, "question": 2, "bm25": len(found.legs["bm25"]), "fused": 3
    }  # fmt: skip
    for row in found.fused:
        weights = found.weights
        total = weights["dense"] * row.dense + weights["bm25"] * row.bm25
        assert row.score == pytest.approx(total)


@pytest.mark.parametrize(
    ("variables", "threshold", "source"),
    [({}, 0.7, "option"), ({}, None, "setting")],
)
def test_a_threshold_says_where_it_comes_from(
    settings_of: Settings, variables: dict[str, str], threshold: float | None, source: str
) -> None:
    publish(settings_of, WINNER)
    assert explained(settings_of, threshold=threshold).threshold.source == source


def test_the_threshold_of_a_site_without_calibration_is_the_embedders(
    settings_of: Settings,
) -> None:
    publish(settings_of, WINNER)
    bare = settings_of.model_copy(update={"confidence_threshold": None})
    found = explained(bare)
    assert (found.threshold.source, found.threshold.value) == ("embedder", 0.6)


def test_a_matched_question_says_how_it_came_to_be(settings_of: Settings) -> None:
    human = replace(WINNER, questions=[Asked("How is the mirror cleaned?", 0.9, origin="human")])
    publish(settings_of, human)
    assert explained(settings_of).results[0].made is None
    write_tables(settings_of, human)
    made = explained(settings_of).results[0].made
    assert made is not None
    assert (made.origin, made.generator) == ("human", "rules")


FOUND = {
    "won": (MANUAL, [MANUAL, OIL]),
    "below_threshold": (replace(MANUAL, cosine=0.45), [replace(MANUAL, cosine=0.45), OIL]),
    "no_question": (MANUAL, [WINNER, NEAR, MANUAL]),
    "question": (
        replace(MANUAL, questions=[Asked("What is the cloth?", 0.3)]),
        [WINNER, NEAR, replace(MANUAL, questions=[Asked("What is the cloth?", 0.3)])],
    ),
    "passage": (OIL, [MANUAL, OIL, FAR]),
    "filter": (REJECTED, [FAR, OIL, REJECTED]),
    "bm25": (
        replace(MANUAL, cosine=0.68),
        [
            replace(MANUAL, cosine=0.68),
            Entry("brass", "Polish the brass mirror, polish the brass.", 0.7),
            replace(OIL, cosine=0.8, questions=[]),
            Entry("zinc", "It does not rust.", 0.1),
        ],
    ),
    "fusion": (
        Entry("brass", "Polish the brass mirror, polish the brass.", 0.1),
        [
            Entry("brass", "Polish the brass mirror, polish the brass.", 0.1),
            WINNER,
            replace(OIL, cosine=0.8),
        ],
    ),
}


@on_both_engines
@pytest.mark.parametrize("kind", FOUND)
def test_a_page_of_the_index_gets_the_verdict_that_its_points_earn(
    settings_of: Settings, kind: str
) -> None:
    wanted, entries = FOUND[kind]
    publish(settings_of, *entries)
    write_tables(settings_of, *entries)
    found = explained(settings_of, wanted.name).page
    assert found is not None
    assert (found.verdict.kind, found.site) == (kind, "docs"), found.verdict.text


def test_the_filters_verdict_names_the_question_and_every_objection(settings_of: Settings) -> None:
    publish(settings_of, FAR, OIL, REJECTED)
    write_tables(settings_of, FAR, OIL, REJECTED)
    found = explained(settings_of, REJECTED.name).page
    assert found is not None
    assert QUESTION in found.verdict.text
    assert "(grounding and duplicate)" in found.verdict.text
    assert found.verdict.advice[0].startswith(f"Pin “{QUESTION}”")
    (asked,) = found.chunks[0].questions
    assert (asked.accepted, asked.objections, asked.fused_rank) == (
        False, ["grounding", "duplicate"], 1
    )  # fmt: skip


def test_a_question_of_peoples_own_would_win(settings_of: Settings) -> None:
    publish(settings_of, FAR, OIL, MANUAL)
    write_tables(settings_of, FAR, OIL, MANUAL)
    page = explained(settings_of, OIL.name).page
    assert page is not None
    advice = page.verdict.advice[0]
    assert advice.startswith("Add what was asked as a question in docs.yaml")
    promised = int(advice.rpartition("rank ")[2].rstrip("."))
    human = replace(OIL, questions=[Asked(QUESTION, 0.6, origin="human")])
    publish(settings_of, FAR, human, MANUAL)
    after = explained(settings_of, OIL.name).page
    assert after is not None
    assert after.rank is not None and after.rank <= promised


@on_both_engines
def test_a_page_that_no_leg_returned_has_its_rank_and_score_on_every_leg(
    settings_of: Settings,
) -> None:
    nearer = [Entry(f"lamp{number}", "A lamp.", 0.9 - number / 1000) for number in range(55)]
    publish(settings_of, *nearer, replace(OIL, questions=[]))
    found = explained(settings_of, OIL.name).page
    assert found is not None
    assert (found.verdict.kind, found.rank, found.page_rank) == ("not_returned", None, None)
    standing = found.chunks[0].standing
    assert standing is not None
    passage = standing.legs["passage"]
    assert (passage.rank, passage.returned) == (56, False)
    assert passage.score == pytest.approx(OIL.cosine, abs=1e-3)
    assert (standing.legs["question"].rank, standing.legs["question"].score) == (None, None)


LOST = {
    "gone": [page("lost", Outcome.HTTP_404, status=404)],
    "unknown": [page("lost", Outcome.READ_TIMEOUT, error="no answer")],
    "duplicate_page": [page("lost", Outcome.DUPLICATE_CONTENT)],
    "no_chunk": [page("lost")],
    "out_of_scope": [page("lost", Outcome.OUT_OF_SCOPE_REDIRECT)],
    "not_crawled": [],
}


@pytest.mark.parametrize("kind", LOST)
def test_a_page_that_is_not_in_the_index_gets_the_crawls_verdict(
    settings_of: Settings, kind: str
) -> None:
    publish(settings_of, WINNER)
    write_tables(settings_of, WINNER, pages=LOST[kind])
    found = explained(settings_of, "lost").page
    assert found is not None
    assert (found.verdict.kind, found.chunks) == (kind, []), found.verdict.text


def test_a_page_whose_text_stands_elsewhere_names_where(settings_of: Settings) -> None:
    copy = replace(WINNER, name="copy", questions=[], repeats="mirror")
    publish(settings_of, WINNER, OIL)
    write_tables(settings_of, WINNER, OIL, copy)
    found = explained(settings_of, "copy").page
    assert found is not None
    assert found.verdict.kind == "duplicate_chunk"
    assert f"{ROOT}mirror#use" in found.verdict.text


def test_a_page_that_repeats_the_winner_beside_a_text_of_its_own_says_so(
    settings_of: Settings,
) -> None:
    copy = replace(WINNER, name="copy", questions=[], repeats="mirror")
    publish(settings_of, WINNER, OIL)
    write_tables(settings_of, WINNER, OIL, copy)
    chunks = [copy.chunk, OIL.chunk | {"url": copy.chunk["url"]}, WINNER.chunk]
    ParquetStore(settings_of.data).write(CHUNKS, "docs", chunks)
    found = explained(settings_of, "copy").page
    assert found is not None
    assert found.verdict.kind == "duplicate_chunk"
    assert [chunk.standing is None for chunk in found.chunks] == [True, False]


def test_what_is_only_in_the_tables_was_not_published(settings_of: Settings) -> None:
    publish(settings_of, WINNER)
    write_tables(settings_of, WINNER, OIL)
    found = explained(settings_of, "oil").page
    assert found is not None
    assert found.verdict.kind == "not_published"


@on_both_engines
def test_without_tables_the_collection_alone_explains_and_says_what_is_missing(
    settings_of: Settings,
) -> None:
    publish(settings_of, WINNER, NEAR, MANUAL)
    found = explained(settings_of, f"{ROOT}manual#use")
    assert found.page is not None
    assert found.page.verdict.kind == "no_question"
    assert found.page.crawled is None
    assert len(found.notes) == 1
    assert found.notes[0].startswith("docs: no table raw_pages, chunks, grounded_questions under")


def test_of_several_sites_the_one_that_has_the_page_is_meant(settings_of: Settings) -> None:
    publish(settings_of, WINNER, MANUAL)
    publish(settings_of, replace(OIL, name="lamp"), site="lamps")
    page = explained(settings_of, "lamp").page
    assert page is not None
    assert (page.site, page.verdict.kind) == ("lamps", "question")
    with pytest.raises(UsageError, match="nowhere may be a page of docs, lamps: name one with"):
        explained(settings_of, "nowhere")
    page = explained(settings_of, "nowhere", site="lamps").page
    assert page is not None
    assert page.site == "lamps"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("manual#usage", "has no section #usage with a text of its own: did you mean #use"),
        ("manual#zzz", "it has use"),
    ],
)
def test_a_section_that_the_page_lacks_is_a_wrong_call(
    settings_of: Settings, asked: str, message: str
) -> None:
    publish(settings_of, WINNER, MANUAL)
    with pytest.raises(UsageError, match=message):
        explained(settings_of, asked)


@pytest.mark.parametrize(
    ("values", "message"),
    [({"site": "other"}, "the index has no site 'other'"), ({"question": " "}, "is empty")],
)
def test_a_wrong_call_is_refused(
    settings_of: Settings, values: dict[str, str], message: str
) -> None:
    publish(settings_of, WINNER)
    with pytest.raises(UsageError, match=message):
        explained(settings_of, **values)


def test_the_lines_fit_the_page_and_carry_no_control_characters(settings_of: Settings) -> None:
    loud = replace(MANUAL, text="Rub it.", questions=[Asked("What is \x1b[2J" + "x " * 90, 0.3)])
    publish(settings_of, WINNER, NEAR, loud)
    write_tables(settings_of, WINNER, NEAR, loud)
    lines = list(explanation_lines(explained(settings_of, loud.name)))
    assert [line for line in lines if len(line) > 100] == []
    assert not any(ord(character) < 32 for line in lines for character in line)
    text = "\n".join(lines)
    assert f"Question  {QUESTION}" in text
    assert "Verdict   The question leg lost it" in text
    assert "To do     Add what was asked" in text
    assert "Fused: score = 0.7 · dense + 0.3 · BM25" in text


def test_the_json_says_all_that_the_lines_say(settings_of: Settings) -> None:
    publish(settings_of, WINNER, NEAR, MANUAL)
    write_tables(settings_of, WINNER, NEAR, MANUAL)
    found = json.loads(json.dumps(explained(settings_of, MANUAL.name).to_json()))
    assert set(found) == {
        "question", "site", "forms", "threshold", "refused", "decision", "results", "fused",
        "legs", "candidates", "weights", "page", "notes",
    }  # fmt: skip
    assert set(found["page"]) == {
        "asked", "site", "crawled", "chunks", "rank", "page_rank", "verdict"
    }  # fmt: skip
    assert set(found["page"]["verdict"]) == {"kind", "leg", "text", "advice"}
    assert found["page"]["chunks"][0]["standing"]["legs"]["passage"]["rank"] == 2

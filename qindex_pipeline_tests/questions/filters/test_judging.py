"""The stage's filters together: the verdict on every candidate, and its reasons."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qindex_pipeline.questions.filters.judging import (
    BANNED,
    DUPLICATE,
    EVIDENCE,
    FILTERS,
    FORM,
    GROUNDING,
    LANGUAGE,
    ROUND_TRIP,
    STAND_ALONE,
    Tools,
    judge_questions,
)
from qindex_pipeline.tables import GROUNDED_QUESTIONS, to_arrow
from qindex_pipeline_tests.conftest import Row, candidate_row, chunk_row

TEXT = "To install the package,\nrun   `pip install`.\n\nThen restart the service."
CHUNK = chunk_row(TEXT)
GOOD = "How do I install the package?"


def verdicts(candidates: Sequence[Row], chunks: Sequence[Row]) -> list[tuple[bool, str | None]]:
    return [(row["accepted"], row["reject_reason"]) for row in judge_questions(candidates, chunks)]


class Vectors:
    """A tool that gives each question the vector of its own words, and notes what it was given."""

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed(self, questions: Sequence[Mapping[str, Any]]) -> np.ndarray:
        self.embedded += [row["question"] for row in questions]
        return np.eye(len(questions), dtype=np.float32)

    def rank(self, questions: Sequence[Mapping[str, Any]]) -> list[int]:
        return [len(row["question"]) for row in questions]


@pytest.mark.parametrize(
    ("evidence", "accepted"),
    [
        ("run   `pip install`", True),
        ("run `pip install`.\nThen restart", True),
        ("install the package, run", True),
        ("  run\t`pip install`  ", True),
        ("run pip install", False),
        ("Run `pip install`", False),
        ("restart the server", False),
        ("", False),
        ("  \n", False),
    ],
    ids=[
        "verbatim",
        "across paragraphs",
        "across a line",
        "other spaces",
        "without marks",
        "other case",
        "other word",
        "empty",
        "blank",
    ],
)
def test_evidence_stands_verbatim_in_the_chunk_but_for_spaces(
    evidence: str, accepted: bool
) -> None:
    expected = (True, None) if accepted else (False, EVIDENCE)
    assert verdicts([candidate_row(CHUNK, GOOD, evidence=evidence)], [CHUNK]) == [expected]


@pytest.mark.parametrize(
    ("question", "evidence", "objections"),
    [
        (GOOD, TEXT, []),
        ("Install the package.", TEXT, [FORM]),
        ("Wie bekomme ich die package mit pip?", TEXT, [LANGUAGE, GROUNDING]),
        ("How do I install it?", TEXT, [STAND_ALONE]),
        ("How do I install the package?", "not in the chunk", [EVIDENCE]),
        ("How do I bake bread?", TEXT, [GROUNDING]),
        ("What does this page say", "nothing", [STAND_ALONE, EVIDENCE, GROUNDING]),
        ("How do I restart the service?", TEXT, [BANNED]),
        ("- it", "", [FORM, STAND_ALONE, EVIDENCE, GROUNDING]),
    ],
)
def test_the_first_objection_is_the_reason_and_all_are_kept(
    question: str, evidence: str, objections: list[str]
) -> None:
    banned = "How do I restart the service?"
    tools = Tools(is_banned=lambda url, asked: (url, asked) == (CHUNK["url"], banned))
    (row,) = judge_questions([candidate_row(CHUNK, question, evidence=evidence)], [CHUNK], tools)
    assert row["objections"] == objections
    assert row["reject_reason"] == (objections[0] if objections else None)
    assert row["accepted"] is not bool(objections)


def test_of_what_people_ask_for_only_the_evidence_is_judged() -> None:
    asked = ["Unsinn", "This page?", "unsinn"]
    candidates = [candidate_row(CHUNK, question, origin="human") for question in asked]
    candidates += [candidate_row(CHUNK, "Why?", evidence="gone", origin="human")]
    tools = Tools(Vectors().embed, lambda rows: [99] * len(rows), lambda _url, _question: True)
    rows = judge_questions(candidates, [CHUNK], tools, round_trip_k=1)
    assert [row["objections"] for row in rows] == [[], [], [], [EVIDENCE]]
    assert rows[0]["round_trip_rank"] == 99


def test_a_question_whose_chunk_is_gone_has_no_evidence() -> None:
    candidate = candidate_row(CHUNK, GOOD, chunk_id="", origin="human")
    assert verdicts([candidate], [CHUNK]) == [(False, EVIDENCE)]


def test_the_first_of_equal_questions_stays_and_the_others_name_it() -> None:
    asked = [GOOD, "how do I  install the PACKAGE", "Restart the service?"]
    first, second, third = judge_questions([candidate_row(CHUNK, q) for q in asked], [CHUNK])
    assert (first["accepted"], first["duplicate_of"]) == (True, None)
    assert (second["accepted"], second["objections"]) == (False, [DUPLICATE])
    assert second["duplicate_of"] == first["question_id"]
    assert (third["accepted"], third["duplicate_of"]) == (True, None)


def test_a_rejected_question_makes_no_duplicates() -> None:
    candidates = [
        candidate_row(CHUNK, GOOD, evidence="not in the chunk", question_id="1" * 32),
        candidate_row(CHUNK, GOOD, question_id="2" * 32),
    ]
    assert verdicts(candidates, [CHUNK]) == [(False, EVIDENCE), (True, None)]


def test_the_same_question_of_several_chunks_is_kept_and_names_its_targets() -> None:
    chunks = [chunk_row(f"{TEXT} {number} times.") for number in range(4)]
    candidates = [candidate_row(chunk, GOOD) for chunk in chunks]
    two = judge_questions(candidates[:2], chunks)
    assert [(row["accepted"], row["ambiguous"]) for row in two] == [(True, False)] * 2
    assert two[0]["targets"] == [chunks[1]["chunk_id"]]
    four = judge_questions(candidates, chunks)
    assert [(row["accepted"], row["ambiguous"]) for row in four] == [(True, True)] * 4


def test_only_what_stands_is_embedded_and_once() -> None:
    vectors = Vectors()
    asked = [GOOD, GOOD, "Nonsense.", "Restart the service?"]
    rows = judge_questions(
        [candidate_row(CHUNK, q, question_id=f"{n:032}") for n, q in enumerate(asked)],
        [CHUNK],
        Tools(vectors.embed, vectors.rank),
    )
    assert vectors.embedded == [GOOD, "Restart the service?"]
    assert [row["round_trip_rank"] for row in rows] == [29, None, None, 20]
    assert judge_questions([], [], Tools(vectors.embed, vectors.rank)) == []


@pytest.mark.parametrize(
    ("k", "expected"), [(None, [None, None]), (29, [None, None]), (20, [ROUND_TRIP, None])]
)
def test_the_round_trip_rejects_only_where_it_is_set(
    k: int | None, expected: list[str | None]
) -> None:
    tools = Tools(Vectors().embed, Vectors().rank)
    candidates = [candidate_row(CHUNK, q) for q in (GOOD, "Restart the service?")]
    rows = judge_questions(candidates, [CHUNK], tools, k)
    assert [row["reject_reason"] for row in rows] == expected
    assert [row["round_trip_rank"] for row in rows] == [29, 20]


QUESTIONS = st.sampled_from([GOOD, "Restart the service?", "It?", "Package?", "service"]) | st.text(
    max_size=30
)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(QUESTIONS, st.sampled_from([TEXT, "", "pip"])), max_size=6))
def test_every_candidate_comes_back_in_its_order_with_its_columns(
    asked: list[tuple[str, str]],
) -> None:
    candidates = [
        candidate_row(CHUNK, question, evidence=evidence, question_id=f"{number:032}")
        for number, (question, evidence) in enumerate(asked)
    ]
    rows = judge_questions(candidates, [CHUNK], Tools(Vectors().embed, Vectors().rank))
    assert to_arrow(GROUNDED_QUESTIONS, rows).num_rows == len(candidates)
    for row, candidate in zip(rows, candidates, strict=True):
        assert {name: row[name] for name in candidate} == candidate
        assert row["accepted"] is (row["objections"] == [])
        assert row["reject_reason"] == next(iter(row["objections"]), None)
        assert row["objections"] == [name for name in FILTERS if name in row["objections"]]
        assert (row["round_trip_rank"] is not None) == row["accepted"]

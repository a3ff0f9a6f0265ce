"""Fusion: numbers worked out by hand from the formula, and what holds for any numbers."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.retrieval.fusion import Ranked, fuse, parts
from qindex_pipeline.retrieval.legs import LEGS, Hit, Hits, Leg

Scores = dict[Leg, dict[str, float]]

BOTH: tuple[Leg, ...] = ("passage", "question")


def hits_of(scores: Scores) -> Hits:
    return {
        leg: {chunk: Hit(score, {"leg": leg, "chunk_id": chunk}) for chunk, score in found.items()}
        for leg, found in scores.items()
    }


def table(ranked: Sequence[Ranked]) -> list[tuple[str, float, float]]:
    return [(item.chunk_id, item.score, item.confidence) for item in ranked]


CASES: dict[str, tuple[Scores, tuple[Leg, ...], list[tuple[str, float, float]]]] = {
    # dense: a .8, b .6, c .7, d .6 (the lowest passage, above the lowest question)
    # scaled dense: a 1, b 0, c .5, d 0; scaled bm25: b (10-4)/6=1, c (7-4)/6=.5, d 0
    "all legs, each missing some": (
        {
            "passage": {"a": 0.8, "b": 0.6},
            "question": {"a": 0.5, "c": 0.7},
            "bm25": {"b": 10.0, "c": 7.0, "d": 4.0},
        },
        LEGS,
        [("a", 0.7, 0.8), ("c", 0.5, 0.7), ("b", 0.3, 0.6), ("d", 0.0, 0.6)],
    ),
    # dense: a .6, b .5, c .4; scaled 1, .5, 0; bm25 scaled: a 0, c 1
    "dense decides where bm25 disagrees": (
        {
            "passage": {"a": 0.6, "b": 0.5, "c": 0.4},
            "question": {"a": 0.6, "b": 0.5, "c": 0.4},
            "bm25": {"a": 1.0, "c": 9.0},
        },
        LEGS,
        [("a", 0.7, 0.6), ("b", 0.35, 0.5), ("c", 0.3, 0.4)],
    ),
    # scaled dense: a 1, b 0; scaled bm25: b alone, all equal: 1
    "a single bm25 hit counts whole": (
        {"passage": {"a": 0.9, "b": 0.1}, "bm25": {"b": 3.0}},
        ("passage", "bm25"),
        [("a", 0.7, 0.9), ("b", 0.3, 0.1)],
    ),
    "one candidate is at the top of both": (
        {"passage": {"a": 0.3}, "question": {}, "bm25": {"a": 2.0}},
        LEGS,
        [("a", 1.0, 0.3)],
    ),
    "bm25 found nothing": (
        {"passage": {"a": 0.3, "b": 0.2}, "question": {"a": 0.4, "b": 0.3}, "bm25": {}},
        LEGS,
        [("a", 0.7, 0.4), ("b", 0.0, 0.3)],
    ),
    "only bm25 found something": (
        {"passage": {}, "question": {}, "bm25": {"a": 5.0, "b": 1.0}},
        LEGS,
        [("a", 1.0, 0.0), ("b", 0.7, 0.0)],
    ),
    "passage alone is its cosine": (
        {"passage": {"a": 0.3, "b": 0.7}},
        ("passage",),
        [("b", 0.7, 0.7), ("a", 0.3, 0.3)],
    ),
    "question alone is its cosine": (
        {"question": {"a": -0.1, "b": 0.2}},
        ("question",),
        [("b", 0.2, 0.2), ("a", -0.1, -0.1)],
    ),
    # b and c count with the lowest question, .5
    "the better of two dense legs counts": (
        {"passage": {"a": 0.3, "b": 0.4}, "question": {"a": 0.6, "c": 0.5}},
        BOTH,
        [("a", 0.6, 0.6), ("b", 0.5, 0.4), ("c", 0.5, 0.5)],
    ),
    "bm25 alone ranks, a dense leg beside it judges": (
        {"passage": {"a": 0.5, "c": 0.9}, "bm25": {"a": 3.0, "b": 4.0}},
        ("bm25",),
        [("b", 4.0, 0.5), ("a", 3.0, 0.5)],
    ),
    "ties stand in the order of their ids": (
        {"passage": {"b": 0.5, "c": 0.5, "a": 0.5}},
        ("passage",),
        [("a", 0.5, 0.5), ("b", 0.5, 0.5), ("c", 0.5, 0.5)],
    ),
    "nothing found": ({"passage": {}, "question": {}, "bm25": {}}, LEGS, []),
}


@pytest.mark.parametrize("case", CASES)
def test_chunks_are_scored_and_ordered_by_the_formula(case: str) -> None:
    scores, legs, expected = CASES[case]
    found = table(fuse(hits_of(scores), legs))
    assert [row[0] for row in found] == [row[0] for row in expected]
    assert [row[1] for row in found] == pytest.approx([row[1] for row in expected], abs=1e-9)
    assert [row[2] for row in found] == pytest.approx([row[2] for row in expected], abs=1e-9)


def test_each_leg_tells_its_own_score_and_the_question_its_payload() -> None:
    scores, legs, _ = CASES["all legs, each missing some"]
    ranked = {item.chunk_id: item for item in fuse(hits_of(scores), legs)}
    assert ranked["a"].legs == {"passage": 0.8, "question": 0.5, "bm25": None}
    assert ranked["d"].legs == {"passage": None, "question": None, "bm25": 4.0}
    assert ranked["a"].question == {"leg": "question", "chunk_id": "a"}
    assert ranked["b"].question is None


SCORES: st.SearchStrategy[Scores] = st.fixed_dictionaries(
    {
        "passage": st.dictionaries(st.sampled_from("abcdef"), st.floats(-1, 1)),
        "question": st.dictionaries(st.sampled_from("abcdef"), st.floats(-1, 1)),
        "bm25": st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 100)),
    }
)


@given(scores=SCORES)
def test_a_fused_score_lies_between_0_and_1_and_falls_down_the_ranking(scores: Scores) -> None:
    ranked = fuse(hits_of(scores), LEGS)
    assert {item.chunk_id for item in ranked} == {chunk for leg in scores.values() for chunk in leg}
    assert all(0 <= item.score <= 1 + 1e-9 for item in ranked)
    assert [item.score for item in ranked] == sorted((item.score for item in ranked), reverse=True)


@given(scores=SCORES, seed=st.integers())
def test_the_order_of_hits_and_legs_decides_nothing(scores: Scores, seed: int) -> None:
    shuffle = random.Random(seed)

    def shuffled(found: dict[str, float]) -> dict[str, float]:
        return dict(shuffle.sample(list(found.items()), len(found)))

    legs = shuffle.sample(LEGS, len(LEGS))
    mixed: Scores = {leg: shuffled(scores[leg]) for leg in legs}
    assert fuse(hits_of(mixed), legs) == fuse(hits_of(scores), LEGS)


@given(scores=SCORES)
def test_confidence_is_the_best_cosine_else_no_better_than_the_last_hits(scores: Scores) -> None:
    lowest = max(min(scores[leg].values(), default=0.0) for leg in BOTH)
    for item in fuse(hits_of(scores), LEGS):
        own = [scores[leg][item.chunk_id] for leg in BOTH if item.chunk_id in scores[leg]]
        assert item.confidence == max(own, default=lowest)


def test_the_parts_of_a_score_are_what_the_formula_adds_up() -> None:
    hits = hits_of(CASES["all legs, each missing some"][0])
    made = {chunk: pytest.approx(part) for chunk, part in parts(hits).items()}
    assert made == {"a": (1.0, 0.0), "b": (0.0, 1.0), "c": (0.5, 0.5), "d": (0.0, 0.0)}
    for item in fuse(hits, LEGS):
        assert parts(hits)[item.chunk_id].score == item.score

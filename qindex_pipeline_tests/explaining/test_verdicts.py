"""The verdict on a contest, from made-up standings: which leg, and in which words."""

import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from qindex_pipeline.explaining.model.explanation import Threshold
from qindex_pipeline.explaining.model.facts import Asked, OnLeg, Section, Standing, VerdictKind
from qindex_pipeline.explaining.verdicts.contest import (
    Contest,
    Side,
    best_side,
    best_sides,
    deciding_leg,
)
from qindex_pipeline.explaining.verdicts.verdicts import verdict

THRESHOLD = Threshold(0.5, "calibration", "calibrated when docs was indexed")


def side(
    name: str,
    rank: int | None,
    parts: tuple[float, float],
    asks: str | None = None,
    /,
    **legs: tuple[int | None, float],
) -> Side:
    """A chunk in the contest; a leg is its rank and score, a leg that is not given has none."""
    scores = {
        leg: OnLeg(*legs[leg], returned=True) if leg in legs else OnLeg(None, None, returned=False)
        for leg in ("passage", "question", "bm25")
    }
    section = Section(name, "docs", f"http://docs/{name}", None, "Guide", [name])
    dense, bm25 = parts
    return Side(section, Standing(scores, rank, dense, bm25, 0.6), asks)


WINNER = side("Winner", 1, (1.0, 0.2), "Who?", passage=(3, 0.6), question=(1, 0.8), bm25=(9, 2.0))
OWN = side("Own", 12, (0.3, 0.1), "What?", passage=(20, 0.5), question=(30, 0.4), bm25=(22, 1.0))
OTHER = side("Other", 40, (0.0, 0.0), "Where?", passage=(60, 0.3), question=(25, 0.45))


def contest(own: Side = OWN, winner: Side | None = WINNER, **values: object) -> Contest:
    made = Contest(
        own=own,
        winner=winner,
        top_k=3,
        best=best_sides([own]),
        ahead=(7, 1),
        missing=[],
        decisive=[],
        questions=[],
        rejected=None,
        as_human=None,
    )
    return replace(made, **values)


@pytest.mark.parametrize(
    ("own", "winner", "leg"),
    [
        (OWN, WINNER, "question"),
        (OWN, side("W", 1, (1.0, 0.2), passage=(1, 0.9), question=(2, 0.8)), "passage"),
        (OWN, side("W", 1, (1.0, 0.2), passage=(1, 0.9)), "passage"),
        (OWN, side("W", 1, (0.4, 1.0), passage=(1, 0.9)), "bm25"),
        (replace(OWN, standing=replace(OWN.standing, dense=1.0)), WINNER, "bm25"),
    ],
)
def test_the_leg_that_decides_is_the_one_with_the_greater_weighted_distance(
    own: Side, winner: Side, leg: str
) -> None:
    assert deciding_leg(own.standing, winner.standing) == leg


def test_the_best_chunk_is_the_first_in_the_fused_order_else_the_nearest_one() -> None:
    assert best_side([OTHER, OWN]) == OWN
    behind = [
        replace(item, standing=replace(item.standing, fused_rank=None)) for item in (OTHER, OWN)
    ]
    assert best_side(behind).section.chunk_id == "Own"


def test_each_leg_has_its_own_best_chunk_of_a_page() -> None:
    assert {leg: best.section.chunk_id for leg, best in best_sides([OWN, OTHER]).items()} == {
        "passage": "Own", "question": "Other", "bm25": "Own"
    }  # fmt: skip


def asked(objections: list[str], fused_rank: int | None = None) -> Asked:
    return Asked("Why?", "since", None, False, objections, 0.75, 2, fused_rank)


FIRST = replace(OWN, standing=replace(OWN.standing, fused_rank=1))
THIRD = replace(OWN, standing=replace(OWN.standing, fused_rank=3))
NOWHERE = replace(OWN, standing=replace(OWN.standing, fused_rank=None, confidence=None))
CARRIED = replace(OWN, standing=side("C", 12, (0.3, 0.1), bm25=(2, 3.0)).standing)
BY_TEXT = side("Winner", 1, (1.0, 0.2), passage=(1, 0.8))
BY_WORDS = side("Winner", 1, (0.3, 1.0), passage=(1, 0.5), bm25=(1, 9.0))

CASES = [
    (contest(FIRST), "won", None, "It won, with confidence 0.60."),
    (
        contest(THIRD),
        "shown",
        "question",
        "as result 3; the winner is ahead by its question “Who?”",
    ),
    (
        contest(replace(FIRST, standing=replace(FIRST.standing, confidence=0.4))),
        "below_threshold",
        None,
        "confidence 0.40 is below the threshold 0.50 (calibrated when docs was indexed)",
    ),
    (
        contest(),
        "question",
        "question",
        (
            "is nearer (cosine 0.80) than its section “Own”, whose text has 0.50 (rank 20) and "
            "whose nearest question, “What?”, has 0.40 (rank 30)."
        ),
    ),
    (
        contest(replace(OWN, question=None), questions=[asked(["form", "grounding"])]),
        "no_question",
        "question",
        "which has no accepted question (1 was rejected: form 1).",
    ),
    (
        contest(replace(OWN, question=None)),
        "no_question",
        "question",
        "which has no accepted question (none was proposed).",
    ),
    (
        contest(best=best_sides([OWN, OTHER])),
        "question",
        "question",
        "The page's nearest question, “Where?” of its section “Other”, has 0.45 (rank 25).",
    ),
    (
        contest(rejected=(OWN.section, asked(["grounding"], 9))),
        "question",
        "question",
        "The rejected “Why?” (grounding) would have 0.75 and put it at rank 9.",
    ),
    (
        contest(rejected=(OWN.section, asked(["grounding"], 2))),
        "filter",
        "question",
        "A filter lost it: the question “Why?” of its section “Own” was rejected (grounding)",
    ),
    (contest(winner=BY_TEXT), "passage", "passage", "the winner's text is nearer (cosine 0.80)"),
    (
        contest(winner=BY_WORDS, missing=["hash", "retrieve"], decisive=["hash"]),
        "bm25",
        "bm25",
        "BM25 lost it: the winner is ahead on BM25, by “hash”, and its section “Own” is at rank 22",
    ),
    (contest(winner=BY_WORDS), "bm25", "bm25", "with the same words more often"),
    (
        contest(CARRIED),
        "fusion",
        "question",
        (
            "BM25 has its section “Own” at rank 2, and that alone would have shown it; fused, it "
            "is at rank 12, since 7 candidates have a nearer text or question and 1 candidate has "
            "more weight on BM25."
        ),
    ),
    (
        contest(replace(OWN, section=OTHER.section), best={"bm25": CARRIED, "passage": OWN}),
        "fusion",
        "question",
        "fused, its section “Other” is its best and at rank 12",
    ),
    (
        contest(NOWHERE),
        "not_returned",
        "question",
        (
            "No leg returned it, as each returns 50 points: the passage leg has its section “Own” "
            "at rank 20, the question leg has its section “Own” at rank 30 and BM25 has"
        ),
    ),
    (
        contest(missing=["unstaged", "master"]),
        "question",
        "question",
        "Of the question's words, “unstaged” and “master” stand nowhere in its section “Own”.",
    ),
]


@pytest.mark.parametrize(("found", "kind", "leg", "text"), CASES, ids=[case[1] for case in CASES])
def test_a_verdict_names_the_leg_and_the_reason(
    found: Contest, kind: str, leg: str | None, text: str
) -> None:
    given = verdict(found, THRESHOLD)
    assert (given.kind, given.leg) == (kind, leg)
    assert text in given.text


def test_a_leg_that_was_not_followed_to_the_chunk_says_how_far_it_was() -> None:
    far = side("Own", 60, (0.0, 0.0), "What?", passage=(None, 0.1), question=(None, 0.1))
    assert "0.10 (behind the first 10000 points)" in verdict(contest(far), THRESHOLD).text


def test_the_surest_advice_comes_first() -> None:
    found = contest(
        rejected=(OWN.section, asked(["form"], 1)), as_human=1, missing=["hash"], decisive=[]
    )
    advice = verdict(found, THRESHOLD).advice
    assert [line.split()[0] for line in advice] == ["Pin", "Add", "Say"]
    assert all("docs.yaml of the questions folder, below /Own" in line for line in advice[:2])


def test_the_docs_explain_every_verdict() -> None:
    page = (Path(__file__).parents[2] / "docs" / "explaining.html").read_text(encoding="utf-8")
    shown = re.findall(r"<tr><td><code>(\w+)</code></td>", page)
    assert sorted(shown) == sorted(get_args(VerdictKind))

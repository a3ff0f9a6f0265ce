"""Judging ranked hits: pages, arms, confidence and refusals, from hits made by hand."""

import math
from collections.abc import Mapping

import pytest

from qindex_pipeline.retrieval.evaluation.arms import ARMS
from qindex_pipeline.retrieval.evaluation.evaluation import (
    Evaluation,
    Foreign,
    Judged,
    judge_rows,
    judge_unanswerable,
)
from qindex_pipeline.retrieval.evaluation.report import (
    BAR_CELLS,
    band_lines,
    bar,
    report_lines,
    report_markdown,
)
from qindex_pipeline.retrieval.evaluation.rows import EvalRow, UnanswerableRow
from qindex_pipeline.retrieval.evaluation.search import Searched
from qindex_pipeline.retrieval.legs import Hit, Hits

HOST = "https://docs.example.com/"
URLS = {"a1": f"{HOST}a", "a2": f"{HOST}a", "b1": f"{HOST}b", "c1": f"{HOST}c", "d1": f"{HOST}d"}


def hits_of(
    passage: Mapping[str, float], question: Mapping[str, float], bm25: Mapping[str, float]
) -> Hits:
    legs = {"passage": passage, "question": question, "bm25": bm25}
    return {
        leg: {chunk: Hit(score, {}) for chunk, score in found.items()}
        for leg, found in legs.items()
    }  # pyright: ignore[reportReturnType]  the keys are the legs


HITS = hits_of(
    passage={"a1": 0.8, "a2": 0.7, "b1": 0.5},
    question={"c1": 0.7, "b1": 0.65, "a1": 0.61, "d1": 0.59},
    bm25={"d1": 9.0, "b1": 8.0},
)


def ranks(page: str, *also: str) -> Mapping[str, int | None]:
    row = EvalRow(id="1", question="How?", page=page, also=also)
    (judged,) = judge_rows([row], Searched([HITS], URLS), top_k=3)
    return judged.ranks


def test_chunks_of_one_page_are_one_page_at_its_first_place():
    assert ranks("b")["passage"] == 2
    assert ranks("c")["passage"] is None


def test_each_arm_ranks_by_its_own_legs():
    assert {arm: ranks("d")[arm] for arm in ("passage", "question", "bm25")} == {
        "passage": None,
        "question": 4,
        "bm25": 1,
    }


def test_the_best_of_all_right_pages_counts():
    assert ranks("d", "b", f"{HOST}c")["question"] == 1


def test_the_seed_sees_three_questions_above_its_threshold():
    assert ranks("b")["seed"] == 2
    assert ranks("a")["seed"] == 3
    assert ranks("d")["seed"] is None
    assert ARMS["seed"].threshold == 0.60


def test_confidence_is_the_best_cosine_of_what_an_answer_shows():
    row = UnanswerableRow(id="1", question="Why?")
    nothing = hits_of({}, {}, {})
    first, second = judge_unanswerable([row, row], Searched([HITS, nothing], URLS), top_k=3)
    assert (first.confidence, second.confidence) == (0.8, -1.0)


def judged(name: str, rank: int | None, confidence: float) -> Judged:
    passage = None if rank is None else rank + 1
    others = dict.fromkeys(ARMS, passage)
    return Judged(name, f"question {name}", others | {"fused": rank}, confidence)


EVALUATION = Evaluation(
    site="docs",
    threshold=0.5,
    rows=[judged("1", 1, 0.9), judged("2", 2, 0.6), judged("3", None, 0.4), judged("4", 5, 0.5)],
    unanswerable=[
        Foreign("5", "far", "far", 0.1),
        Foreign("6", "far", "far", 0.2),
        Foreign("7", "near", "near", 0.55),
    ],
    not_indexed=["gone.html"],
)


def test_refusals_are_counted_below_the_threshold_and_by_kind():
    refusal = EVALUATION.refusal
    assert refusal["answerable"] == {"n": 4, "refused": 1, "rate": 0.25}
    assert refusal["unanswerable"] == {"n": 3, "refused": 2, "rate": pytest.approx(2 / 3)}
    assert refusal["auroc"] == pytest.approx((3 + 3 + 2 + 2) / 12)
    assert refusal["kinds"]["far"] == {"n": 2, "refused": 2, "rate": 1.0, "auroc": 1.0}
    assert refusal["kinds"]["near"] == {"n": 1, "refused": 0, "rate": 0.0, "auroc": 0.5}


def test_the_bootstrap_holds_fused_against_passage():
    fused = (1 + 1 / 2 + 1 / 5) / 4
    passage = (1 / 2 + 1 / 3 + 1 / 6) / 4
    found = EVALUATION.bootstrap
    assert found["mrr@10"].difference == pytest.approx(fused - passage)
    assert found["hit@3"].difference == 0.0
    assert math.isclose(found["hit@3"].high, 0.0)


def test_the_json_has_every_arm_and_every_question():
    found = EVALUATION.to_json()
    assert {"n", "arms", "bootstrap", "refusal"} <= set(found)
    assert found["n"] == 4
    assert found["arms"]["fused"]["hit@1"] == 0.25
    assert set(found["arms"]) == {"passage", "question", "bm25", "fused", "seed"}
    assert [row["id"] for row in found["questions"]] == ["1", "2", "3", "4"]
    assert found["not_indexed"] == ["gone.html"]


def test_the_lines_name_arms_intervals_refusals_and_missing_pages():
    text = "\n".join(report_lines(EVALUATION))
    assert "4 questions on docs" in text
    rows = [line.split() for line in report_lines(EVALUATION)]
    assert ["fused", "0.250", "0.500", "0.750", "0.425"] in rows
    assert "fused minus passage, mrr@10: +0.175" in text
    assert "1 of 4 (25%) that the docs answer" in text
    assert "2 of 3 (67%) that the docs don't answer, AUROC 0.833" in text
    assert "not in the index: gone.html" in text


def test_without_unanswerable_questions_no_auroc_is_claimed():
    alone = Evaluation("docs", 0.5, EVALUATION.rows, [])
    assert alone.refusal["auroc"] is None
    assert alone.refusal["unanswerable"] == {"n": 0, "refused": 0, "rate": None}
    assert "AUROC" not in "\n".join(report_lines(alone)) + report_markdown(alone)


def test_the_markdown_plots_arms_and_bands_and_lists_what_was_missed():
    text = report_markdown(EVALUATION)
    assert text.count("```") == 4
    assert "| fused | 0.250 | 0.500 | 0.750 | 0.425 |" in text
    assert "fused    █████" in text
    assert "< threshold 0.50" in text
    assert "- 3: question 3 (rank none)" in text
    assert "- 4: question 4 (rank 5)" in text
    assert "question 2" not in text


@pytest.mark.parametrize(("share", "full"), [(0.0, 0), (1.0, 30), (0.5, 15), (1.7, 30), (-1.0, 0)])
def test_a_bar_is_filled_by_its_share_and_always_as_wide(share: float, full: int):
    assert bar(share) == "█" * full + " " * (BAR_CELLS - full)
    assert len(bar(0.123)) == BAR_CELLS


def test_bands_count_each_question_once_and_keep_empty_bands():
    lines = band_lines({"answerable": [0.6, 0.62, 0.45], "near": [0.3]}, threshold=0.5)
    assert [line.split()[0] for line in lines[1:]] == [
        "0.60", "0.55", "0.50", "0.45", "0.40", "0.35", "0.30",
    ]  # fmt: skip
    assert [line.endswith("threshold 0.50") for line in lines].index(True) == 3
    counts = [int(word) for line in lines[1:] for word in line.split()[1:] if word.isdigit()]
    assert sum(counts) == 4


def test_bands_of_nothing_say_so():
    assert band_lines({"answerable": []}, threshold=0.5) == ["no questions"]

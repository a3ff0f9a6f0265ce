"""The gate before publication: what is held, against what, and what becomes the baseline."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.errors import UsageError
from qindex_pipeline.retrieval.evaluation.arms import ARMS
from qindex_pipeline.retrieval.evaluation.evaluation import Evaluation, Judged
from qindex_pipeline.retrieval.evaluation.gate import (
    Accepted,
    Row,
    Terms,
    accepted_rows,
    judge,
    not_accepted,
)
from qindex_pipeline.retrieval.evaluation.rows import EvalRow
from qindex_pipeline.retrieval.evaluation.site_questions import SiteQuestions, read_site_questions
from qindex_pipeline.sites import Site
from qindex_pipeline.tables import EVALUATION, to_arrow
from qindex_pipeline_tests.conftest import NOON, chunk_row, embedding_row

MARGIN = Terms(floor=None, margin=0.05)
QUESTIONS = SiteQuestions(
    "questions.jsonl", [EvalRow(id=str(n), question=f"How {n}?", page="a") for n in range(20)]
)


def evaluation(right: int, of: int = 20) -> Evaluation:
    """A right page first for `right` questions, for the others none: MRR is their share."""
    ranks = [1] * right + [None] * (of - right)
    rows = [
        Judged(str(n), f"How {n}?", dict.fromkeys(ARMS, rank), 0.5) for n, rank in enumerate(ranks)
    ]
    return Evaluation("docs", 0.4, rows, [])


def accept(found: Evaluation, last: Sequence[Row], terms: Terms = MARGIN) -> list[Row]:
    """The rows after an accepted run with the same questions."""
    verdict = judge(found, last, "q", terms)
    assert not verdict.faults
    run = Accepted("docs", "q", "e", "f", NOON)
    return accepted_rows(run, found, verdict, last)


BEST = accept(evaluation(16), [])


@pytest.mark.parametrize(
    ("right", "terms", "faults"),
    [
        (16, MARGIN, []),
        (15, MARGIN, []),  # 0.80 - 0.75 exceeds 0.05 in binary fractions
        (14, MARGIN, ["0.100 less than the 0.800"]),
        (20, MARGIN, []),
        (15, Terms(None, 0.0), ["0.050 less"]),
        (0, Terms(None, 1.0), []),
        (16, Terms(0.8, 0.05), []),
        (16, Terms(0.81, 0.05), ["eval_floor of 0.81"]),
        (10, Terms(0.6, 0.05), ["eval_floor of 0.6", "0.300 less"]),
        (0, Terms(0.1, 1.0), ["eval_floor of 0.1"]),
    ],
)
def test_a_figure_below_the_floor_or_fallen_by_more_than_the_margin_is_held(
    right: int, terms: Terms, faults: list[str]
) -> None:
    verdict = judge(evaluation(right), BEST, "q", terms)
    assert len(verdict.faults) == len(faults)
    for fault, part in zip(verdict.faults, faults, strict=True):
        assert part in fault
    line = verdict.problem("docs", QUESTIONS, "report.md")
    assert (line is None) == (not faults)


def test_the_line_says_the_figures_what_was_compared_and_what_to_do() -> None:
    verdict = judge(evaluation(10), BEST, "q", Terms(0.6, 0.05))
    line = verdict.problem("docs", QUESTIONS, "state/docs.md") or ""
    assert line.startswith("site 'docs': fused MRR@10 is 0.500 on the 20 questions of questions.js")
    for part in ("eval_floor of 0.6", "0.800 of the best accepted run", "allows 0.05",
                 "QINDEX_EVAL_MARGIN=1 for one run", "(state/docs.md)"):  # fmt: skip
        assert part in line
    assert "\n" not in line


def test_the_first_run_and_a_changed_question_file_make_a_baseline_and_say_so() -> None:
    first = judge(evaluation(2), [], "q", MARGIN)
    changed = judge(evaluation(2), BEST, "other", MARGIN)
    assert (first.faults, first.compared) == (
        [], "no earlier run was accepted: this run is the baseline",
    )  # fmt: skip
    assert (changed.faults, changed.compared) == (
        [], "the questions have changed: this run is the baseline",
    )  # fmt: skip
    assert judge(evaluation(2), [], "q", Terms(0.5, 0.05)).faults


def test_an_accepted_run_is_a_row_an_arm_of_the_table() -> None:
    rows = to_arrow(EVALUATION, BEST).to_pylist()
    assert [row["arm"] for row in rows] == list(ARMS)
    assert {(row["n"], row["hit_at_1"], row["mrr_at_10"]) for row in rows} == {(20, 0.8, 0.8)}


def test_small_falls_do_not_add_up_unnoticed() -> None:
    rows = accept(evaluation(19), accept(evaluation(20), []))
    assert {(row["mrr_at_10"], row["best_mrr_at_10"]) for row in rows} == {(0.95, 1.0)}
    assert judge(evaluation(18), rows, "q", MARGIN).faults  # 0.05 below the last, 0.10 the best


def test_a_fall_that_a_person_accepted_is_the_new_baseline() -> None:
    rows = accept(evaluation(10), BEST, Terms(None, 1.0))
    assert {row["best_mrr_at_10"] for row in rows} == {0.5}
    assert not judge(evaluation(10), rows, "q", MARGIN).faults
    assert judge(evaluation(8), rows, "q", MARGIN).faults


@given(st.lists(st.integers(0, 20), min_size=1, max_size=12))
def test_no_row_of_nights_leads_further_below_the_best_than_the_margin(nights: list[int]) -> None:
    rows: list[Row] = []
    accepted: list[float] = []
    for right in nights:
        found = evaluation(right)
        verdict = judge(found, rows, "q", MARGIN)
        assert bool(verdict.faults) == (verdict.mrr < max(accepted, default=0) - 0.05 - 1e-9)
        if not verdict.faults:
            rows = accepted_rows(Accepted("docs", "q", "e", "f", NOON), found, verdict, rows)
            accepted.append(verdict.mrr)


def test_what_moves_no_rank_makes_no_other_questions() -> None:
    row = EvalRow(id="1", question="How?", page="a.html", also=("b", "c"))
    other = EvalRow(id="2", question="Why?", page="b")
    digest = SiteQuestions("f", [row, other]).digest
    same = row.model_copy(update={"id": "9", "page": "c", "also": ("/a.html", "b"), "anchor": "x"})
    assert SiteQuestions("g", [other, same]).digest == digest
    for change in ({"question": "How"}, {"page": "d"}, {"also": ("b",)}):
        assert SiteQuestions("f", [row.model_copy(update=change), other]).digest != digest


@pytest.mark.parametrize("option", ["eval_questions", "eval_unanswerable"])
@pytest.mark.parametrize("content", [None, '{"id": "1"', ""])
def test_a_file_that_is_missing_or_malformed_is_told_with_site_and_option(
    option: str, content: str | None, tmp_path: Path
) -> None:
    good = tmp_path / "good.jsonl"
    good.write_text('{"id": "1", "question": "How?", "page": "a"}')
    bad = tmp_path / "bad.jsonl"
    if content is not None:
        bad.write_text(content)
    files = {"eval_questions": good, "eval_unanswerable": good} | {option: bad}
    with pytest.raises(UsageError) as refused:
        read_site_questions(Site(key="docs", folder=tmp_path, **files))
    assert str(refused.value).startswith(f"site 'docs': {option}: {bad}")
    assert "sites file" in str(refused.value)


def test_a_site_without_a_file_has_no_questions(tmp_path: Path) -> None:
    assert read_site_questions(Site(key="docs", folder=tmp_path)) is None


def test_only_tables_that_were_accepted_may_be_published_unasked(tmp_path: Path) -> None:
    site = Site(key="docs", folder=tmp_path, eval_questions=tmp_path / "questions.jsonl")
    rows = [embedding_row(chunk_row(text)) for text in ("one", "two")]
    accepted = [{"embeddings_hash": "other"}]
    assert "questions.jsonl" in (not_accepted(site, accepted, rows) or "")
    assert not_accepted(site, [], rows)
    assert not_accepted(Site(key="docs", folder=tmp_path), [], rows) is None

"""Measures: numbers worked out by hand, and what holds for any numbers."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qindex_pipeline.retrieval.evaluation.measures import (
    auroc,
    first_right,
    paired_bootstrap,
    reciprocal,
    scores,
)

VALUES = st.lists(st.floats(-1, 1), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("ranked", "right", "rank"),
    [
        ([("a",), ("b",), ("c",)], {"b"}, 2),
        ([("host/a", "/a"), ("host/b", "/b")], {"/b", "host/a"}, 1),
        ([("a",)], {"b"}, None),
        ([], {"a"}, None),
    ],
)
def test_the_first_right_page_gives_the_rank(ranked, right, rank):
    assert first_right(ranked, right) == rank


def test_hits_and_reciprocal_ranks_end_at_the_tenth_page():
    assert scores([1, 2, 4, 11, None]) == {
        "hit@1": 0.2,
        "hit@3": 0.4,
        "hit@10": 0.6,
        "mrr@10": pytest.approx((1 + 1 / 2 + 1 / 4) / 5),
    }
    assert [reciprocal(rank) for rank in (10, 11, None)] == [0.1, 0.0, 0.0]


def test_no_question_scores_nothing():
    assert set(scores([]).values()) == {0.0}


@pytest.mark.parametrize(
    ("positives", "negatives", "expected"),
    [
        ([0.9, 0.8], [0.1, 0.2], 1.0),
        ([0.1], [0.9], 0.0),
        ([0.5], [0.5], 0.5),
        ([0.9, 0.5], [0.5, 0.1], (1 + 1 + 0.5 + 1) / 4),
        ([], [0.5], None),
        ([0.5], [], None),
    ],
)
def test_the_auroc_counts_pairs_in_order_and_ties_half(positives, negatives, expected):
    assert auroc(positives, negatives) == expected


@given(positives=VALUES, negatives=VALUES)
def test_the_auroc_is_the_share_of_pairs_in_order(positives, negatives):
    pairs = [(high > low) + (high == low) / 2 for high in positives for low in negatives]
    assert auroc(positives, negatives) == pytest.approx(sum(pairs) / len(pairs))


@given(positives=VALUES, negatives=VALUES)
def test_the_auroc_of_the_sides_exchanged_is_the_rest_of_one(positives, negatives):
    found = auroc(positives, negatives)
    assert found is not None
    assert 0 <= found <= 1
    assert auroc(negatives, positives) == pytest.approx(1 - found)


@settings(max_examples=25)
@given(values=VALUES, shift=st.floats(-0.5, 0.5))
def test_a_constant_difference_is_certain(values, shift):
    found = paired_bootstrap([value + shift for value in values], values)
    assert (found.difference, found.low, found.high) == pytest.approx((shift, shift, shift))


@settings(max_examples=25)
@given(pairs=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12))
def test_arms_exchanged_give_the_mirrored_interval(pairs):
    first, second = zip(*pairs, strict=True)
    one, other = paired_bootstrap(first, second), paired_bootstrap(second, first)
    found = (one.difference, one.low, one.high)
    assert found == pytest.approx((-other.difference, -other.high, -other.low))
    assert one.low <= one.high


def test_the_interval_has_the_width_of_the_normal_approximation():
    wins = [1.0] * 60 + [0.0] * 40
    found = paired_bootstrap(wins, [0.0] * 100)
    half = 1.96 * math.sqrt(0.6 * 0.4 / 100)
    assert found.difference == pytest.approx(0.6)
    assert (found.low, found.high) == pytest.approx((0.6 - half, 0.6 + half), abs=0.015)
    assert found.is_significant
    assert not paired_bootstrap([1.0, 0.0], [0.0, 1.0]).is_significant


def test_the_same_questions_give_the_same_interval():
    first, second = [0.1, 0.9, 0.4], [0.3, 0.2, 0.4]
    assert paired_bootstrap(first, second) == paired_bootstrap(first, second)

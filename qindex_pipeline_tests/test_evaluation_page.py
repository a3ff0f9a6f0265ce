"""The evaluation page says what its stored results say, wherever they point.

After a change of results, template or prices: `python benchmarks/evaluation_page.py`.
"""

import copy
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qindex_pipeline.retrieval.evaluation.measures import Interval, paired_bootstrap, reciprocal

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))

from evaluation.measuring.sets import outcome, share_of_words
from evaluation.results import Results, counts, separation, share
from evaluation.writing.advice import advice_parts
from evaluation.writing.costs import cost_parts
from evaluation.writing.words import listed, money, rounded, signed, told
from evaluation_page import DOCS, PARTS, STORED, TEMPLATE, dumped, written
from retrieval_measures import chunk_scoring, page_scoring

RANKINGS = [["a", "b", "c", "d"], ["x", "y", "b"], [], ["c"], [*"uvwxyz", "b"]]
RIGHT = [frozenset("a"), frozenset("bq"), frozenset("a"), frozenset("cd"), frozenset("b")]


@pytest.fixture(scope="module")
def results() -> Results:
    return Results.read(DOCS / STORED)


def test_page_and_figures_are_what_the_stored_results_make(results: Results):
    for name, text in written(results).items():
        stored = (DOCS / name).read_text(encoding="utf-8")
        assert stored == text, f"docs/{name}: run python benchmarks/evaluation_page.py"


def test_stored_results_are_written_one_way(results: Results):
    assert (DOCS / STORED).read_text(encoding="utf-8") == f"{dumped(results.raw)}\n"


def test_stored_results_hold_no_question():
    results = Results.read(DOCS / STORED)
    for text in texts({**results.raw, "versions": {}}):
        assert re.fullmatch(r"[\w.:+~-]{1,70}", text), text


def texts(value: Any) -> Iterator[str]:
    """Every string that is no key."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts(each)


def test_every_part_of_the_page_has_its_place_in_the_template(results: Results):
    made = [name for parts in PARTS for name, _ in parts(results)]
    places = re.findall(r"\{\{(\w+)\}\}", TEMPLATE.read_text(encoding="utf-8"))
    assert len(set(made)) == len(made)
    assert set(made) == set(places)


def test_every_arm_has_an_outcome_for_every_question(results: Results):
    for figures in results.sets.values():
        arms = [*figures["ranks"].values(), *figures.get("right_shown", {}).values()]
        assert {len(arm) for arm in arms} == {figures["questions"]}


def with_ranks(results: Results, arms: Mapping[str, str]) -> Results:
    """The results if each arm had ranked as the other does."""
    raw = copy.deepcopy(dict(results.raw))
    for figures in raw["sets"].values():
        for outcomes in (figures["ranks"], figures.get("right_shown", {})):
            outcomes |= {arm: outcomes[other] for arm, other in arms.items() if outcomes}
    return Results(raw)


@pytest.mark.parametrize(
    ("arms", "lead", "words"),
    [
        ({"fused": "no questions"}, "Adding the rules' questions", "no difference shows on git's"),
        ({"fused": "seed"}, "Adding the rules' questions", "worse on git's questions"),
        ({"no questions": "seed"}, "Adding the rules' questions", "better on git's questions"),
        ({"question": "fused", "passage": "seed"}, "Questions alone", "better on git's questions"),
        ({"question": "seed"}, "Questions alone", "worse on git's questions"),
    ],
)
def test_a_sentence_goes_where_the_figures_point(
    results: Results, arms: dict[str, str], lead: str, words: str
):
    short = dict(advice_parts(with_ranks(results, arms)))["short"]
    (line,) = [line for line in short.splitlines() if line.startswith(f"- **{lead}")]
    assert line.partition(":** ")[2].startswith(words)


@pytest.mark.parametrize(
    ("arms", "lead"),
    [
        ({"question": "seed"}, "- **Not alone.**"),
        ({"question": "passage"}, "- **Alone they were nowhere worse that shows"),
        ({"fused": "seed"}, "- **Not where they cost hits:**"),
        ({"fused": "no questions"}, "- **Not where passages and BM25 find enough.**"),
    ],
)
def test_advice_goes_where_the_figures_point(results: Results, arms: dict[str, str], lead: str):
    advice = dict(advice_parts(with_ranks(results, arms)))["advice"]
    assert any(line.startswith(lead) for line in advice.splitlines())


@pytest.mark.parametrize(
    ("arms", "words"),
    [
        ({"fused": "no questions"}, "would divide by noise"),
        ({"no questions": "seed"}, "CPU seconds a point"),
        ({"fused": "seed"}, "a point that is lost"),
    ],
)
def test_a_price_per_point_is_said_only_of_a_gain_that_shows(
    results: Results, arms: dict[str, str], words: str
):
    assert words in dict(cost_parts(with_ranks(results, arms)))["offline_price"]


def test_intervals_are_those_of_the_product(results: Results):
    ranks = results.sets["git"]["ranks"]
    mine = results.gain("git", "fused", "passage")["MRR@10"]
    first, second = ([reciprocal(rank) for rank in ranks[arm]] for arm in ("fused", "passage"))
    product = paired_bootstrap(first, second)
    assert (mine.difference, mine.low, mine.high) == pytest.approx(
        (product.difference, product.low, product.high), abs=1e-8
    )


@pytest.mark.parametrize("labels", ["pages", "chunks"])
def test_a_stored_outcome_scores_as_the_ranking_did(labels: str):
    stored = Results({"sets": {"x": {"labels": labels, **outcome({"arm": RANKINGS}, RIGHT)}}})
    scoring = page_scoring() if labels == "pages" else chunk_scoring(3)
    columns = scoring.table(RANKINGS, RIGHT).shape[1]
    found = stored.values("x", "arm")[:, :columns]
    np.testing.assert_allclose(found, scoring.table(RANKINGS, RIGHT))


def test_a_resample_holds_as_many_questions_as_there_are():
    assert (counts(7).sum(axis=1) == 7).all()
    assert not np.array_equal(counts(7), counts(7, 1))


@pytest.mark.parametrize(
    ("found", "of", "low", "high"),
    [(0, 10, 0.0, 0.278), (5, 10, 0.237, 0.763), (10, 10, 0.722, 1.0), (81, 263, 0.255, 0.366)],
)
def test_a_share_has_wilsons_interval(found: int, of: int, low: float, high: float):
    interval = share(found, of)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=5e-4)


def test_separation_is_the_chance_that_an_own_question_is_surer():
    assert separation([0.9, 0.8], [0.1, 0.2]) == Interval(1.0, 1.0, 1.0)
    assert separation([0.5, 0.5], [0.5]).difference == 0.5
    mixed = separation([0.4, 0.6, 0.8], [0.5, 0.7])
    assert mixed.difference == 0.5
    assert mixed.low < 0.5 < mixed.high


def test_words_count_where_they_stand_together_inflected_or_not():
    texts = ["Deleting branches", "A remote is named origin."]
    assert share_of_words("How do I delete a branch?", texts) == 1
    assert share_of_words("How do I delete a remote branch?", texts) == pytest.approx(
        2 / 3, abs=1e-3
    )
    assert share_of_words("How do I?", texts) is None


GAIN, LOSS, NONE = Interval(0.1, 0.05, 0.2), Interval(-0.1, -0.2, -0.05), Interval(0.1, -0.1, 0.3)


@pytest.mark.parametrize(
    ("gains", "text"),
    [
        ({"x": GAIN}, "up on x"),
        ({"x": GAIN, "y": GAIN, "z": LOSS}, "up on x and y; down on z"),
        ({"x": NONE, "y": LOSS}, "down on y; same on x"),
        ({"x": Interval(0.1, 0.0, 0.2)}, "same on x"),
    ],
)
def test_what_is_told_follows_the_intervals(gains: dict[str, Interval], text: str):
    assert told(gains, "up on", "down on", "same on") == text


def test_numbers_are_said_plainly():
    assert [signed(value) for value in (0.0514, -0.02, 0.0001, -0.0)] == [
        "+.051",
        "−.020",
        "0",
        "0",
    ]
    assert [money(value) for value in (0, 0.071, 3.357, 49.4, 1234)] == [
        "$0", "$0.07", "$3.36", "$49", "$1,234",
    ]  # fmt: skip
    assert [rounded(value) for value in (22_567, 38.4, 1.66, 0.843)] == [
        "23,000", "38", "1.7", "0.84",
    ]  # fmt: skip
    assert listed(["a", "b", "c"]) == "a, b and c"


def test_the_readme_quotes_only_what_the_page_says():
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    section = readme.partition("## Measured")[2].partition("\n## ")[0]
    page = (DOCS / "evaluation.md").read_text(encoding="utf-8")
    quoted = re.findall(r"\+?\.\d{3}", section)
    assert quoted
    assert [figure for figure in quoted if figure not in page] == []

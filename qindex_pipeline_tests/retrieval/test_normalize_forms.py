"""Searching two forms of a question as one."""

from collections.abc import Mapping

import pytest

from qindex_pipeline.retrieval.legs import Hit, Hits
from qindex_pipeline.retrieval.normalizing.forms import merge_forms, search_forms


def hits(passage: Mapping[str, float], bm25: Mapping[str, float], text: str = "") -> Hits:
    def leg(scores: Mapping[str, float]) -> dict[str, Hit]:
        return {chunk: Hit(score, {"text": text, "form": text}) for chunk, score in scores.items()}

    return {"passage": leg(passage), "bm25": leg(bm25)}


def scores(merged: Hits) -> dict[str, dict[str, float]]:
    return {
        leg: {chunk: hit.score for chunk, hit in found.items()} for leg, found in merged.items()
    }


def test_the_users_words_are_searched_first_and_the_canonical_form_second() -> None:
    assert search_forms(" delete a\n branch ") == ("delete a branch", "How do I delete a branch?")


@pytest.mark.parametrize("question", ["How do I do it?", "git stash list"])
def test_a_question_without_another_form_is_searched_once(question: str) -> None:
    assert search_forms(question) == (question,)


def test_the_forms_come_from_the_given_normalizer() -> None:
    assert search_forms("x y", lambda query: query.upper()) == ("x y", "X Y")
    assert search_forms("delete a branch", str.strip) == ("delete a branch",)


def test_each_chunk_keeps_its_best_hit_of_each_leg_over_the_forms() -> None:
    first = hits({"a": 0.5, "b": 0.9}, {"a": 3.0}, "first")
    second = hits({"a": 0.7, "b": 0.2, "c": 0.1}, {"a": 2.0, "d": 1.0}, "second")
    merged = merge_forms([first, second])
    assert scores(merged) == {
        "passage": {"a": 0.7, "b": 0.9, "c": 0.1},
        "bm25": {"a": 3.0, "d": 1.0},
    }
    assert merged["passage"]["a"].payload["form"] == "second"


def test_one_form_is_returned_as_it_is() -> None:
    only = hits({"a": 0.5}, {"b": 1.0})
    assert merge_forms([only], ["--x"]) == only


@pytest.mark.parametrize(
    ("text", "counts"),
    [("use --force", True), ("use --force-with-lease", False), ("use force", False), ("", False)],
)
def test_a_further_forms_cosine_counts_only_where_the_option_is_named(
    text: str, counts: bool
) -> None:
    first, second = hits({"a": 0.4}, {}), hits({"a": 0.8}, {"b": 1.0}, text)
    merged = scores(merge_forms([first, second], ["--force"]))
    assert merged == {"passage": {"a": 0.8 if counts else 0.4}, "bm25": {"b": 1.0}}

"""From doubtful asks to gaps, and from vectors to clusters."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.gaps import grouping
from qindex_pipeline.gaps.clustering import by_centrality, clusters
from qindex_pipeline.gaps.doubts import LOW, REFUSED, UNKNOWN, Doubt
from qindex_pipeline.gaps.gap import Gap
from qindex_pipeline.gaps.grouping import (
    Asked,
    Window,
    doubtful_questions,
    grouped,
    most_asked,
)
from qindex_pipeline_tests.query_log.asked import MONDAY, log_row

WINDOW = Window((MONDAY + timedelta(days=27)).date(), 28)
DOUBT = Doubt((REFUSED,), (), False)
TITLES = {"http://docs/guide": "Guide", "http://docs/other": "Other"}
ANGLES = {"Visual Studio?": 0, "Use Visual Studio?": 10, "In Visual Studio?": 20, "Heroku?": 90}


def embed(texts: Sequence[str]) -> Any:
    """Unit vectors of a plane, each at its text's angle."""
    turned = np.radians([ANGLES[text] for text in texts])
    return np.stack([np.cos(turned), np.sin(turned)], axis=1).astype(np.float32)


def asked(question: str, day: int = 0, doubt: Doubt | None = DOUBT, **values: Any) -> Asked:
    return Asked(log_row(question, MONDAY + timedelta(days=day), **values), doubt)


def gaps_of(*asks: Asked) -> list[Gap]:
    return grouped(doubtful_questions(asks), embed, 0.8, WINDOW, TITLES)


def test_case_spaces_and_the_closing_mark_make_no_other_question() -> None:
    asks = [asked("Heroku?"), asked("heroku"), asked("Heroku?"), asked("  HEROKU ?")]
    (question,) = doubtful_questions(asks)
    assert question.text == "Heroku?"
    assert len(question.asks) == 4


def test_a_question_that_was_answered_when_it_was_last_asked_is_no_gap_any_more() -> None:
    answered = asked("Heroku?", 3, None)
    assert doubtful_questions([asked("Heroku?", 1), answered]) == []
    (question,) = doubtful_questions([answered, asked("Heroku?", 4)])
    assert len(question.asks) == 1


def test_like_questions_are_one_gap_named_after_the_most_central() -> None:
    asks = [asked(question) for question in ANGLES]
    visual, heroku = gaps_of(*asks)
    assert visual.question == "Use Visual Studio?"
    assert set(visual.others) == {"Visual Studio?", "In Visual Studio?"}
    assert (visual.asks, visual.questions, heroku.asks) == (3, 3, 1)


def test_a_gap_counts_its_reasons_words_weeks_and_halves() -> None:
    by_words = Doubt((LOW, UNKNOWN), ("Studio", "Visual"), False)
    (gap,) = gaps_of(
        asked("Visual Studio?", 0, confidence=0.5),
        asked("Visual Studio?", 13, by_words, confidence=0.3, nearest="http://docs/other"),
        asked("In Visual Studio?", 14, Doubt((UNKNOWN,), ("studio",), False), confidence=0.4),
        asked("In Visual Studio?", 27, confidence=None, nearest="http://docs/gone"),
    )
    assert (gap.refused, gap.low, gap.unknown) == (2, 1, 2)
    assert gap.words == ("Studio", "Visual")
    assert gap.weeks == (1, 1, 1, 1)
    assert (gap.before, gap.since) == (2, 2)
    assert gap.confidence == pytest.approx(0.4)
    assert (gap.nearest_url, gap.nearest_title) == ("http://docs/guide", "Guide")
    assert gap.reason == "2 refused; 1 low confidence; the docs hardly use: Studio, Visual"


def test_the_most_asked_gap_comes_first_and_then_the_nearest_to_the_docs() -> None:
    twice = [asked("Heroku?"), asked("Heroku?")]
    assert [gap.question for gap in gaps_of(asked("Visual Studio?"), *twice)] == [
        "Heroku?", "Visual Studio?",
    ]  # fmt: skip
    near = asked("Visual Studio?", confidence=0.9)
    assert gaps_of(near, asked("Heroku?"))[0].question == "Visual Studio?"


def test_without_a_doubtful_question_nothing_is_embedded() -> None:
    assert gaps_of(asked("What has no angle?", doubt=None)) == []


def test_more_questions_than_can_be_grouped_leave_the_least_asked_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(grouping, "MAX_QUESTIONS", 2)
    asks = [asked("a"), asked("b"), asked("c"), asked("c"), asked("d"), asked("d")]
    assert [question.text for question in most_asked(doubtful_questions(asks))] == ["c", "d"]


def vectors_of(angles: Sequence[float]) -> Any:
    turned = np.radians(angles)
    return np.stack([np.cos(turned), np.sin(turned)], axis=1).astype(np.float32)


def test_a_chain_of_half_alike_questions_is_not_one_cluster() -> None:
    assert len(clusters(vectors_of(range(0, 180, 20)), 0.9)) > 2


@given(st.lists(st.integers(0, 359), max_size=30), st.floats(0.1, 0.95))
def test_every_question_stands_in_one_cluster(angles: list[int], likeness: float) -> None:
    found = clusters(vectors_of(angles), likeness)
    assert sorted(position for cluster in found for position in cluster) == list(range(len(angles)))
    assert found == clusters(vectors_of(angles), likeness)


def test_the_centre_lies_where_most_is_asked() -> None:
    angles = vectors_of([0, 10, 60])
    assert by_centrality(angles, [1, 1, 1])[0] == 1
    assert by_centrality(angles, [1, 1, 50])[0] == 2

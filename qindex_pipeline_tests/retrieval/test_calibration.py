"""The threshold of a site: between what strangers reach and what its own questions reach."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.retrieval.calibrating import calibrate_site
from qindex_pipeline.retrieval.calibration import MIN_QUESTIONS, calibrate, foreign_questions

COSINES = st.lists(st.floats(-1, 1), min_size=MIN_QUESTIONS, max_size=60)


def test_the_threshold_stands_a_quarter_of_the_way_from_the_strangers_to_the_sites_own() -> None:
    found = calibrate([0.8] * 30, [0.4] * 200, 0.5)
    assert found is not None
    assert found.threshold == 0.5
    assert (found.auroc, found.false_accept, found.false_refuse) == (1.0, 0.0, 0.0)
    assert not found.bands_overlap


def test_bands_that_overlap_are_said_to() -> None:
    own = list(np.linspace(0.2, 0.8, 50))
    found = calibrate(own, list(np.linspace(0.1, 0.7, 200)), 0.5)
    assert found is not None
    assert found.bands_overlap
    assert 0.5 < found.auroc < 0.8


def test_too_few_questions_say_nothing() -> None:
    assert calibrate([0.8] * (MIN_QUESTIONS - 1), [0.4] * 200, 0.5) is None


@given(COSINES, COSINES)
def test_rates_are_shares_and_the_threshold_is_a_cosine(
    own: list[float], foreign: list[float]
) -> None:
    found = calibrate(own, foreign, 0.0)
    assert found is not None
    assert -1 <= found.threshold <= 1
    rates = (found.auroc, found.false_accept, found.false_refuse)
    assert all(0 <= rate <= 1 for rate in rates)


def test_there_are_two_hundred_foreign_questions_each_once() -> None:
    questions = foreign_questions()
    assert len(questions) >= 200
    assert len({question.casefold() for question in questions}) == len(questions)
    assert all(question.endswith("?") for question in questions)


@pytest.mark.parametrize("repeats", [1, 3])
def test_a_question_is_not_scored_against_what_its_own_chunk_asks(repeats: int) -> None:
    count = MIN_QUESTIONS
    axes = np.eye(2 * count + 1, dtype=np.float32)
    chunks = [{"chunk_id": f"c{n}", "text": "a lamp"} for n in range(count)]
    questions, embeddings = [], []
    for n in range(count):
        place = {"chunk_id": f"c{n}"}
        embeddings.append(place | {"kind": "passage", "vector": axes[count + n]})
        for k in range(repeats):
            row = place | {"question_id": f"{n}.{k}", "question": f"lamp {n}", "accepted": True}
            questions.append(row)
            embeddings.append(place | {"kind": "question", "vector": axes[n]})

    def embed(texts: Sequence[str]) -> np.ndarray:
        found = []
        for text in texts:
            kind, _, number = text.partition(" ")
            found.append(axes[int(number)] if kind == "lamp" else axes[-1])
        return np.array(found)

    found = calibrate_site(chunks, questions, embeddings, embed)
    assert found is not None
    assert found.threshold == 0.0
    assert found.word_overlap == 0.5

"""Filter `duplicate`, and questions that lead to several chunks."""

from collections.abc import Sequence

import numpy as np
import pytest

from qindex_pipeline.questions.filters.duplicates import (
    NEAR,
    SAME,
    nearly_repeated,
    repeated,
    targets,
)
from qindex_pipeline_tests.conftest import Row, candidate_row, chunk_row

CHUNK, OTHER, THIRD = (chunk_row(f"Chunk {number}.") for number in range(3))


def asked(chunk: Row, *questions: str, **values: str) -> list[Row]:
    return [candidate_row(chunk, question, **values) for question in questions]


def vectors_of(cosines: Sequence[float]) -> np.ndarray:
    """Unit vectors with these cosines to the first one, which is left out of the list."""
    rows = [[1.0, 0.0], *([cosine, (1 - cosine**2) ** 0.5] for cosine in cosines)]
    return np.array(rows, dtype=np.float32)


def test_of_equal_questions_the_well_closed_one_stays() -> None:
    rows = asked(CHUNK, "how do I  install PIP", "How do I install pip?", "How do I use pip?")
    assert repeated(rows) == {rows[0]["question_id"]: rows[1]["question_id"]}


def test_what_people_ask_for_stays() -> None:
    ours = asked(CHUNK, "How do I install pip?")
    theirs = asked(CHUNK, "how do I install pip", origin="human")
    assert repeated(ours + theirs) == {ours[0]["question_id"]: theirs[0]["question_id"]}


def test_two_chunks_may_be_asked_the_same() -> None:
    rows = asked(CHUNK, "How do I install pip?") + asked(OTHER, "How do I install pip?")
    assert repeated(rows) == {}
    assert nearly_repeated(rows, vectors_of([1.0])) == {}


@pytest.mark.parametrize(
    ("one", "other", "repeats"),
    [
        ("How do I install litmus?", "What is the command to install the litmus package?", True),
        ("What does Git do on a merge?", "What happens when Git does a merge?", True),
        ("How do I mark files as binary?", "What is the way to mark a file as binary?", True),
        ("What happens if --x is set?", "What happens if --x is not set?", False),
        ("What happens if --x is set?", "What happens if --y is set?", False),
        ("What does -m do?", "What does -M do?", False),
        ("What is the all option?", "What is the normal option?", False),
        ("What is the option?", "What is the all option?", False),
        ("What is Python 2?", "What is Python 3?", False),
        (
            "What is the git variable in git-config?",
            "What is the file variable in git-config?",
            False,
        ),
        ("如何安装软件包？", "怎么安装软件包？", True),
        ("如何安装软件包？", "怎么不安装软件包？", False),
    ],
)
def test_a_near_question_repeats_where_it_says_no_other_thing(
    one: str, other: str, repeats: bool
) -> None:
    rows = asked(CHUNK, one, other)
    found = nearly_repeated(rows, vectors_of([0.99]))
    assert found == ({rows[1]["question_id"]: rows[0]["question_id"]} if repeats else {})
    assert nearly_repeated(rows, vectors_of([NEAR - 0.01])) == {}


def test_a_question_names_every_other_chunk_that_is_asked_the_same() -> None:
    rows = [
        *asked(CHUNK, "How do I install pip?"),
        *asked(OTHER, "how do I install pip"),
        *asked(THIRD, "How do I install the pip package?", "What is pip?"),
    ]
    near = vectors_of([0.5, SAME + 0.001, 0.1])
    ids = [row["chunk_id"] for row in (CHUNK, OTHER, THIRD)]
    assert targets(rows, near) == [sorted(ids[1:]), [ids[0]], [ids[0]], []]
    assert targets(rows, None) == [[ids[1]], [ids[0]], [], []]
    assert targets([], None) == []


def test_more_rows_than_a_block_find_each_other() -> None:
    chunks = [chunk_row(f"Chunk {number}.") for number in range(1100)]
    rows = [candidate_row(chunk, f"What is thing{n}?") for n, chunk in enumerate(chunks)]
    made = np.eye(1100, dtype=np.float32)
    made[1099] = made[0]
    assert not any(targets(rows, made))  # they name different things
    rows[0]["question"], rows[1099]["question"] = "What is pip?", "What is the pip package?"
    found = targets(rows, made)
    assert found[0] == [rows[1099]["chunk_id"]]
    assert found[1099] == [rows[0]["chunk_id"]]
    assert not any(found[1:1099])

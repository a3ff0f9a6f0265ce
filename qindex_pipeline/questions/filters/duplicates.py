"""Filter `duplicate`: one chunk is not asked the same thing twice.

Across chunks the same question is kept: it leads to several of them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from qindex_pipeline.questions.filters.form import ends_as_question
from qindex_pipeline.questions.filters.terms import content, exact_names
from qindex_pipeline.questions.identity import normalize

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

Row = Mapping[str, Any]

NEAR = 0.97
"""Cosine from which two questions of one chunk ask the same, if one says all that the other says.

The cosine alone cannot tell: among the rules' pairs on git's manual there are as many opposites
("… is specified", "… isn't specified": .997; "the all option", "the normal option": .980) as
repetitions, at any height.
"""

SAME = 0.98
"""Cosine from which questions of different chunks are one question with several targets, under
the same condition."""

_TURNS = frozenset(
    """not no never neither nor without unless t cannot only all any each most least first last
    nicht kein keine ohne ne pas sans sin non senza não sem niet geen zonder inte utan ikke uden
    не нет без 不 没 無 无 非""".split()
)
"""Words that change what is asked when they are added."""

MOST_TARGETS = 3
"""Chunks that one question may lead to; with more it points at none of them."""

_BLOCK = 512


def best_first(rows: Iterable[Row]) -> list[Row]:
    """Rows in the order in which one is kept: people's, well closed ones, then as proposed."""
    return sorted(
        rows, key=lambda row: (row["origin"] != "human", not ends_as_question(row["question"]))
    )


def repeated(rows: Sequence[Row]) -> dict[str, str]:
    """Questions that say, but for case, spaces and the mark, what a better one of the chunk says.

    Returns:
        question_id of the one that stays, by that of the one that repeats it.
    """
    kept: dict[tuple[str, str], str] = {}
    repeats: dict[str, str] = {}
    for row in best_first(rows):
        stays = kept.setdefault((row["chunk_id"], normalize(row["question"])), row["question_id"])
        if stays != row["question_id"]:
            repeats[row["question_id"]] = stays
    return repeats


def nearly_repeated(rows: Sequence[Row], vectors: "Vectors") -> dict[str, str]:
    """Questions that ask, by their vectors, what a better one of their chunk asks.

    What names other options, identifiers or numbers asks something else, however near it is, and
    so does what holds another word or a negation.

    Args:
        rows: Questions.
        vectors: Their unit vectors, one a row.
    """
    place = {row["question_id"]: number for number, row in enumerate(rows)}
    kept: defaultdict[str, list[Row]] = defaultdict(list)
    repeats: dict[str, str] = {}
    for row in best_first(rows):
        own = vectors[place[row["question_id"]]]
        for other in kept[row["chunk_id"]]:
            is_near = float(own @ vectors[place[other["question_id"]]]) >= NEAR
            if is_near and _say_the_same(row, other):
                repeats[row["question_id"]] = other["question_id"]
                break
        else:
            kept[row["chunk_id"]].append(row)
    return repeats


def targets(rows: Sequence[Row], vectors: "Vectors | None") -> list[list[str]]:
    """The further chunks that ask the same, for each row; sorted.

    Args:
        rows: Accepted questions.
        vectors: Their unit vectors, one a row; None: only the same words count.
    """
    same: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        same[normalize(row["question"])].add(row["chunk_id"])
    found = [set(same[normalize(row["question"])]) for row in rows]
    for one, other in [] if vectors is None else _alike(vectors):
        if _say_the_same(rows[one], rows[other]):
            found[one].add(rows[other]["chunk_id"])
            found[other].add(rows[one]["chunk_id"])
    return [sorted(led - {row["chunk_id"]}) for row, led in zip(rows, found, strict=True)]


def _alike(vectors: "Vectors") -> Iterable[tuple[int, int]]:
    """Pairs of rows whose cosine is at least `SAME`, each once.

    Memory grows with the rows, time with their square.
    """
    import numpy as np

    for first in range(0, len(vectors), _BLOCK):
        cosines = vectors[first : first + _BLOCK] @ vectors[first:].T
        for one, other in np.argwhere(cosines >= SAME).tolist():
            if one < other:
                yield first + one, first + other


def _say_the_same(one: Row, other: Row) -> bool:
    """Whether one question says all that the other says and turns none of it."""
    if exact_names(one["question"]) != exact_names(other["question"]):
        return False
    ours, theirs = content(one["question"]), content(other["question"])
    more = {*(ours - theirs), *(theirs - ours)}
    return (ours <= theirs or theirs <= ours) and _TURNS.isdisjoint(more)

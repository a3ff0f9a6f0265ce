"""Calibrating a site before it is published: its tables in, its threshold out."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from qindex_pipeline.retrieval.calibration import (
    MAX_QUESTIONS,
    Calibration,
    calibrate,
    foreign_questions,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_WORD = re.compile(r"\w+")
_BLOCK = 64  # questions scored at once: 64 x 100,000 cosines are 26 MB

Row = Mapping[str, Any]


def calibration_rows(
    calibration: Calibration | None, site: str, fingerprint: str, subject: str | None = None
) -> list[Row]:
    """The rows of the calibrations table of one site, which is about `subject`."""
    if calibration is None:
        return []
    facts = {"site": site, "fingerprint": fingerprint, "subject": subject}
    return [{**facts, **asdict(calibration)}]


def calibrate_site(
    chunks: Sequence[Row],
    questions: Sequence[Row],
    embeddings: Sequence[Row],
    embed_queries: Callable[[Sequence[str]], "Vectors"],
) -> Calibration | None:
    """The threshold of one site.

    An own question is scored as a user's would be, against every passage and every question
    vector but those of its own chunk: what was written from one text is no stranger to it.

    Args:
        chunks: Rows of the chunks table.
        questions: Rows of the grounded_questions table; the accepted ones are scored.
        embeddings: Rows of the embeddings table.
        embed_queries: Unit vectors of what users ask.

    Returns:
        None when the site has too few accepted questions.
    """
    own = _scored(questions)
    if not own or not embeddings:
        return None
    of_own, of_foreign = site_confidences(questions, embeddings, embed_queries)
    texts = {chunk["chunk_id"]: chunk["text"] for chunk in chunks}
    overlaps = [_overlap(row["question"], texts[row["chunk_id"]]) for row in own]
    return calibrate(of_own, of_foreign, sum(overlaps) / len(overlaps))


def site_confidences(
    questions: Sequence[Row],
    embeddings: Sequence[Row],
    embed_queries: Callable[[Sequence[str]], "Vectors"],
) -> tuple[list[float], list[float]]:
    """What a site's own questions and what foreign ones reach; arguments as of `calibrate_site`."""
    import numpy as np

    own, foreign = _scored(questions), foreign_questions()
    vectors = np.asarray([row["vector"] for row in embeddings], dtype=np.float32)
    owners = np.asarray(
        [row["chunk_id"] if row["kind"] == "question" else "" for row in embeddings]
    )
    asked = embed_queries([row["question"] for row in own])
    return (
        _confidences(asked, vectors, owners, [row["chunk_id"] for row in own]),
        _confidences(embed_queries(foreign), vectors, owners, [None] * len(foreign)),
    )


def _scored(questions: Sequence[Row]) -> Sequence[Row]:
    """The accepted questions that are scored."""
    accepted = [row for row in questions if row["accepted"]]
    # Ids are hashes: their order is a fair draw, and the same one every night.
    return sorted(accepted, key=lambda row: row["question_id"])[:MAX_QUESTIONS]


def _confidences(
    asked: "Vectors", vectors: "Vectors", owners: Any, left_out: Sequence[str | None]
) -> list[float]:
    """The best cosine of each question, the question vectors of one chunk left out."""
    import numpy as np

    best: list[float] = []
    for start in range(0, len(asked), _BLOCK):
        cosines = np.asarray(asked[start : start + _BLOCK]) @ vectors.T
        for row, chunk_id in zip(cosines, left_out[start : start + _BLOCK], strict=True):
            if chunk_id is not None:
                row[owners == chunk_id] = -1.0
            best.append(float(row.max()))
    return best


def _overlap(question: str, text: str) -> float:
    words = set(_WORD.findall(question.casefold()))
    return len(words & set(_WORD.findall(text.casefold()))) / max(1, len(words))

"""Stage grounded_questions: which candidates their chunk really answers.

Every candidate is kept with its verdict. Filters are named functions in one order; the first
that objects names the reason.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from qindex_pipeline.questions.proposing import normalize

MIN_SHARED_WORDS = 2
MIN_WORD_CHARACTERS = 5
"""The seed's rule: a grounded question shares at least 2 words of more than 4 characters with
its chunk's own text; the prefix (page, section) does not count."""

EVIDENCE, GROUNDING, DUPLICATE = "evidence_not_in_chunk", "too_few_shared_words", "duplicate"

_WORD = re.compile(r"\w+")
_SPACE = re.compile(r"\s+")


def shared_words(question: str, text: str) -> list[str]:
    """The question's words of more than 4 characters that stand in `text`, sorted, once each."""
    return sorted(_long_words(question) & _long_words(text))


def ground(
    candidates: Sequence[Mapping[str, Any]], chunks: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Every candidate with its verdict.

    Args:
        candidates: Rows of the candidate_questions table.
        chunks: Rows of the chunks table they were made from.

    Returns:
        Rows of the grounded_questions table, in the order of `candidates`.
    """
    texts = {chunk["chunk_id"]: str(chunk["text"]) for chunk in chunks}
    # The same question for two chunks is two targets, not a duplicate.
    first: dict[tuple[str, str], str] = {}
    rows: list[dict[str, Any]] = []
    for candidate in candidates:
        text = texts[candidate["chunk_id"]]
        shared = shared_words(candidate["question"], text)
        reason, repeated = None, None
        if not _is_verbatim(candidate["evidence"], text):
            reason = EVIDENCE
        elif len(shared) < MIN_SHARED_WORDS:
            reason = GROUNDING
        else:
            key = (candidate["chunk_id"], normalize(candidate["question"]))
            kept = first.setdefault(key, candidate["question_id"])
            if kept != candidate["question_id"]:
                reason, repeated = DUPLICATE, kept
        rows.append(
            dict(candidate)
            | {
                "accepted": reason is None,
                "reject_reason": reason,
                "shared_words": shared,
                "round_trip_rank": None,
                "duplicate_of": repeated,
            }
        )
    return rows


def _long_words(text: str) -> set[str]:
    words = _WORD.findall(text.casefold())
    return {word for word in words if len(word) >= MIN_WORD_CHARACTERS}


def _is_verbatim(evidence: str, text: str) -> bool:
    """Whether the evidence stands in the text; line breaks count as spaces."""
    wanted = _SPACE.sub(" ", evidence).strip()
    return bool(wanted) and wanted in _SPACE.sub(" ", text)

"""Brings keyword and command queries to the form of a question, by rules alone.

An index of questions is nearer to a question than to the same words as a command or as keywords.
A query that is a question already, that is not English, or that no rule is sure of stays as it
is; code, options, paths and quoted text are never changed.
"""

import re

from qindex_pipeline.retrieval.normalizing.rules import RULES
from qindex_pipeline.retrieval.normalizing.words import (
    QUESTION_WORDS,
    is_foreign,
    mask_quotes,
    unmask_quotes,
    verbatim_words,
)

__all__ = ["MAX_CHARACTERS", "MAX_GROWTH", "is_question", "normalize_query", "verbatim_words"]

MAX_CHARACTERS = 200
"""Longer texts are prose or pasted output, and stay as they are."""

MAX_GROWTH = 40
"""Characters that a canonical form may have more than its query."""

_ASKS = re.compile(r"\b(?:how (?:to|do|can|does)|what (?:is|are|does)|why (?:is|do|does))\b", re.I)


def normalize_query(text: str, lang: str | None = None) -> str:
    """The canonical question of a query, or the stripped query where no rule is sure.

    Idempotent. The result has at most MAX_GROWTH characters more than the query.

    Args:
        text: What the user typed.
        lang: Its language as a BCP 47 tag, where known; only English has rules. Where it is not
            known, letters outside ASCII and foreign function words tell other languages.
    """
    given = text.strip()
    if lang is not None and lang.lower().split("-")[0] != "en":
        return given
    found = rule_for(given)
    return given if found is None else found[1]


def rule_for(text: str) -> tuple[str, str] | None:
    """The name of the rule that is sure of a query, and its canonical question; None without one.

    Args:
        text: What the user typed, in English.
    """
    given = text.strip()
    if not given or len(given) > MAX_CHARACTERS or not given.isprintable():
        return None
    if is_question(given) or is_foreign(given):
        return None
    masked, quotes = mask_quotes(given)
    for rule in RULES:
        question = rule(masked)
        if question is not None:
            return rule.__name__.strip("_"), unmask_quotes(question, quotes)
    return None


def is_question(text: str) -> bool:
    """Whether the text asks already: by its mark, its first word, or a clause that asks."""
    words = text.split(maxsplit=1)
    if not words:
        return False
    first = words[0].strip(",:;").lower()
    return text.rstrip().endswith("?") or first in QUESTION_WORDS or bool(_ASKS.search(text))

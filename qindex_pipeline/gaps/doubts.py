"""Which of the questions that were asked the docs do not answer, as far as can be told."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from qindex_pipeline.gaps.bands import Bands
from qindex_pipeline.gaps.vocabulary import Vocabulary

Row = Mapping[str, Any]

REFUSED, LOW, UNKNOWN = "refused", "low confidence", "unknown words"
"""Why a question is doubtful: nothing passed the threshold. Or most of what it says stands on none
of the pages that were found; and either what was found is no surer than a question about something
else would be, or the docs hardly know one of the words.

A low confidence alone says little (half of what lies there are short queries that are answered),
nor do words that stand on other pages only: people word things otherwise than docs do.
"""

_HARDLY = 1
"""Pages that use a word which the docs hardly know: more is a subject, one is a mention."""
_MOST = 0.5
"""Share of what a question says that counts as most of it."""


@dataclass(frozen=True)
class Doubt:
    """Why an ask is doubtful.

    Attributes:
        reasons: One or more of REFUSED, LOW, UNKNOWN.
        words: What the question says that the docs hardly know, as it was typed.
        off_topic: Whether it is about another subject altogether.
    """

    reasons: tuple[str, ...]
    words: tuple[str, ...]
    off_topic: bool


def doubt(row: Row, vocabulary: Vocabulary, bands: Bands | None) -> Doubt | None:
    """Why the docs probably do not answer an ask; None where they seem to.

    Args:
        row: A row of the query log.
        vocabulary: What the docs say now.
        bands: What a confidence says on this site, None where it is not known.
    """
    asked = vocabulary.terms(row["question"])
    found = {*row["pages"], row["nearest"]} & vocabulary.titles.keys()
    missing = [term for term in asked if not vocabulary.pages(term) & found]
    strange = [term for term in missing if len(vocabulary.pages(term)) <= _HARDLY]
    reasons: list[str] = [REFUSED] if row["refused"] else []
    # Pages that were found and are gone say nothing of what stands in the docs now.
    if found and missing and vocabulary.share(asked, missing) >= _MOST:
        is_low = bands is not None and (row["confidence"] or 0.0) < bands.even
        reasons += [LOW] if is_low and not row["refused"] else []
        reasons += [UNKNOWN] if strange else []
    if not reasons:
        return None
    unused = [term for term in strange if not vocabulary.pages(term)]
    is_foreign = vocabulary.share(asked, unused) >= _MOST or _is_far(row["confidence"], bands)
    words = tuple(_typed(term.shown, row["question"]) for term in strange)
    return Doubt(tuple(reasons), words, row["refused"] and is_foreign)


def _is_far(confidence: float | None, bands: Bands | None) -> bool:
    return confidence is None or (bands is not None and confidence < bands.strange)


def _typed(shown: str, question: str) -> str:
    """A folded term as it stands in the question."""
    at = question.casefold().find(shown)
    typed = question[at : at + len(shown)]
    return typed if at >= 0 and typed.casefold() == shown else shown

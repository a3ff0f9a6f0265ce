"""The best few drafts of a chunk: worth first, spread over its sections, nothing twice."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from qindex_pipeline.questions.generators.rule_set.phrasing import content_words

# Two questions whose content words overlap by this share of their union say the same.
_SAME = 0.8
# What a further question of the same section, or of the same family of rules in it, keeps of its
# worth: options of one list stand for different facts, so they lose less than sentences.
_DECAY = {"heading": 0.8, "sentence": 0.75, "term": 1.0, "code": 0.9}
_SECTION_DECAY = 0.95


@dataclass(frozen=True)
class Draft:
    """A finished question with its worth and where its evidence stands.

    Attributes:
        question: The question.
        start: First character of the evidence.
        end: Character behind the evidence.
        worth: 0 to 1; how much the question is likely to help.
        section: Number of the section.
        family: heading, sentence, term or code.
    """

    question: str
    start: int
    end: int
    worth: float
    section: int
    family: str


def choose(drafts: Sequence[Draft], limit: int) -> list[Draft]:
    """At most `limit` drafts, best first; each pick lowers what its neighbours are worth."""
    chosen: list[Draft] = []
    left = [(draft, content_words(draft.question)) for draft in drafts]
    sections: Counter[int] = Counter()
    families: Counter[tuple[int, str]] = Counter()
    while left and len(chosen) < limit:
        best, meaning = max(left, key=lambda item: _value(item[0], sections, families))
        chosen.append(best)
        sections[best.section] += 1
        families[best.section, best.family] += 1
        left = [item for item in left if not _same(item[1], meaning)]
    return chosen


def _value(draft: Draft, sections: Counter[int], families: Counter[tuple[int, str]]) -> float:
    decay = _DECAY[draft.family] ** families[draft.section, draft.family]
    return draft.worth * decay * _SECTION_DECAY ** sections[draft.section]


def _same(one: set[str], other: set[str]) -> bool:
    union = len(one | other)
    return union == 0 or len(one & other) / union >= _SAME

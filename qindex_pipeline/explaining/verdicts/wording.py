"""How verdicts name things: ranks, cosines, sections, questions, lists of words."""

from collections import Counter
from collections.abc import Iterable, Sequence

from qindex_pipeline.explaining.gathering.depth import DEEP_LIMIT
from qindex_pipeline.explaining.model.facts import Asked, OnLeg, Section
from qindex_pipeline.explaining.verdicts.contest import Side
from qindex_pipeline.retrieval.legs import Leg

LONGEST_QUESTION = 90
"""Characters of a question in a sentence."""

MOST_WORDS = 5
"""Words of a question that are named as missing."""


def quoted(text: str) -> str:
    """The text in quotation marks, on one line, cut where it is long."""
    line = " ".join(text.split())
    if len(line) > LONGEST_QUESTION:
        line = f"{line[: LONGEST_QUESTION - 2].rstrip()} …"
    return f"“{line}”"


def listed(items: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def counted(number: int, noun: str) -> str:
    """`1 candidate has`, `2 candidates have`."""
    return f"1 {noun} has" if number == 1 else f"{number} {noun}s have"


def words(items: Sequence[str]) -> str:
    """The first words of a list, each quoted."""
    return listed([quoted(word) for word in items[:MOST_WORDS]])


def named(section: Section) -> str:
    """A chunk by the heading above it, else by its page's title."""
    heading = section.heading_path[-1] if section.heading_path else section.title
    what = "its section" if heading != section.title else "its chunk"
    return f"{what} {quoted(heading)}"


def at_rank(on_leg: OnLeg) -> str:
    """`rank 27`, or why there is none."""
    if on_leg.score is None:
        return "no hit"
    return f"rank {on_leg.rank}" if on_leg.rank else f"behind the first {DEEP_LIMIT} points"


def on_leg(side: Side, leg: Leg) -> str:
    """`0.59 (rank 27)`: the score of a chunk on a dense leg, and its rank."""
    return f"{side.cosine(leg):.2f} ({at_rank(side.standing.legs[leg])})"


def rejections(questions: Iterable[Asked]) -> str:
    """`3 were rejected: grounding 2, form 1`, by the first filter that objects; "" without any."""
    reasons = Counter(
        asked.objections[0] for asked in questions if not asked.accepted and asked.objections
    )
    if not reasons:
        return ""
    counts = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common())
    total = reasons.total()
    return f"{total} {'was' if total == 1 else 'were'} rejected: {counts}"

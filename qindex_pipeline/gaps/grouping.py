"""From doubtful asks to gaps: the same questions made one, like ones brought together."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date
from typing import TYPE_CHECKING, Any

from qindex_pipeline.gaps.clustering import MAX_QUESTIONS, by_centrality, clusters
from qindex_pipeline.gaps.doubts import LOW, REFUSED, UNKNOWN, Doubt
from qindex_pipeline.gaps.gap import Gap

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    """An ask, and why it is doubtful; None where the docs seem to answer it."""

    row: Row
    doubt: Doubt | None


@dataclass(frozen=True)
class Question:
    """A doubtful question with all its doubtful asks, in the order of asking."""

    text: str
    asks: tuple[tuple[Row, Doubt], ...]

    @property
    def is_off_topic(self) -> bool:
        """Whether its last ask was about another subject."""
        return self.asks[-1][1].off_topic


@dataclass(frozen=True)
class Window:
    """The days that are looked at."""

    last_day: date
    days: int

    def week(self, row: Row) -> int:
        """Number of the week of an ask; the last one ends with the window, the first may be cut."""
        return (self.days + 6) // 7 - 1 - self._age(row) // 7

    def is_late(self, row: Row) -> bool:
        """Whether an ask is of the second half of the window."""
        return 2 * self._age(row) < self.days

    def _age(self, row: Row) -> int:
        return (self.last_day - row["asked_at"].astimezone(UTC).date()).days


def doubtful_questions(asked: Iterable[Asked]) -> list[Question]:
    """The questions whose last ask was doubtful, in alphabetical order.

    Case, spaces and the mark at the end make no other question. One that was answered when it was
    last asked is no gap any more.
    """
    same: dict[str, list[Asked]] = {}
    for ask in asked:
        same.setdefault(_key(ask.row["question"]), []).append(ask)
    return [
        Question(
            Counter(ask.row["question"] for ask in asks).most_common(1)[0][0],
            tuple((ask.row, ask.doubt) for ask in asks if ask.doubt is not None),
        )
        for _, asks in sorted(same.items())
        if asks[-1].doubt is not None
    ]


def most_asked(questions: Sequence[Question]) -> list[Question]:
    """As many questions as can be grouped, the most asked ones, in their order."""
    if len(questions) <= MAX_QUESTIONS:
        return list(questions)
    ranked = sorted(range(len(questions)), key=lambda at: (-len(questions[at].asks), at))
    return [questions[at] for at in sorted(ranked[:MAX_QUESTIONS])]


def grouped(
    questions: Sequence[Question],
    embed: Callable[[Sequence[str]], "Vectors"],
    likeness: float,
    window: Window,
    titles: Mapping[str, str],
) -> list[Gap]:
    """The gaps that the questions make, the most asked first, then the nearest to the docs.

    Args:
        questions: Doubtful ones, all of the docs' subject or all of others.
        embed: Unit vectors of what users ask.
        likeness: The average cosine at which two groups of questions ask the same.
        window: The days that are looked at.
        titles: Title of each page by its URL.
    """
    if not questions:
        return []
    vectors = embed([question.text for question in questions])
    found: list[Gap] = []
    for positions in clusters(vectors, likeness):
        members = [questions[position] for position in positions]
        order = by_centrality(vectors[positions], [len(member.asks) for member in members])
        found.append(_gap([members[at] for at in order], window, titles))
    return sorted(found, key=lambda gap: (-gap.asks, -gap.confidence, gap.question))


def _gap(members: Sequence[Question], window: Window, titles: Mapping[str, str]) -> Gap:
    """The gap of a cluster's questions, the most central of which comes first."""
    asks = [ask for member in members for ask in member.asks]
    rows = [row for row, _ in asks]
    reasons = Counter(reason for _, doubt in asks for reason in doubt.reasons)
    nearest = Counter(row["nearest"] for row in rows if row["nearest"] in titles)
    url = min(nearest, key=lambda page: (-nearest[page], page), default=None)
    weeks = Counter(map(window.week, rows))
    late = sum(map(window.is_late, rows))
    sure = [row["confidence"] for row in rows if row["confidence"] is not None]
    return Gap(
        question=members[0].text,
        words=_words(doubt for _, doubt in asks),
        asks=len(asks),
        questions=len(members),
        others=tuple(member.text for member in members[1:]),
        nearest_url=url,
        nearest_title=None if url is None else titles[url],
        confidence=round(sum(sure) / len(sure), 3) if sure else 0.0,
        refused=reasons[REFUSED],
        low=reasons[LOW],
        unknown=reasons[UNKNOWN],
        weeks=tuple(weeks[number] for number in range((window.days + 6) // 7)),
        before=len(rows) - late,
        since=late,
        off_topic=members[0].is_off_topic,
    )


def _words(doubts: Iterable[Doubt]) -> tuple[str, ...]:
    """What the docs hardly know, the most asked first, each word as it is mostly spelt."""
    spelt = Counter(word for doubt in doubts for word in doubt.words)
    asked: Counter[str] = Counter()
    typed: dict[str, str] = {}
    for word in sorted(spelt, key=lambda word: (-spelt[word], word)):
        asked[word.casefold()] += spelt[word]
        typed.setdefault(word.casefold(), word)
    return tuple(typed[word] for word in sorted(typed, key=lambda word: (-asked[word], word)))


def _key(question: str) -> str:
    return " ".join(question.casefold().split()).rstrip(" ?!.")

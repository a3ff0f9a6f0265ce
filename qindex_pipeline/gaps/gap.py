"""What a gap is: questions that ask the same, and that the docs do not answer."""

from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

_NAMED = 5  # words of a gap that are named in a line


@dataclass(frozen=True)
class Gap:
    """A cluster of doubtful questions.

    Attributes:
        question: The most central one, which names the gap.
        words: What the questions say that the docs hardly know, most asked first.
        asks: How often they were asked.
        questions: How many different ones there are.
        others: All but the first, the most central first.
        nearest_url: The page that most asks came nearest to; None where nothing was found.
        nearest_title: Its title.
        confidence: Mean of the asks' best confidences.
        refused: How many asks were refused.
        low: How many were answered with a low confidence, and words that were not found.
        unknown: How many ask about what the docs hardly name.
        weeks: Asks of each week of the window, the last week ends with it.
        before: Asks of the first half of the window.
        since: Asks of the second half.
        off_topic: Whether it is about another subject than the docs.
    """

    question: str
    words: tuple[str, ...]
    asks: int
    questions: int
    others: tuple[str, ...]
    nearest_url: str | None
    nearest_title: str | None
    confidence: float
    refused: int
    low: int
    unknown: int
    weeks: tuple[int, ...]
    before: int
    since: int
    off_topic: bool

    @property
    def reason(self) -> str:
        """Why it is a gap, for people."""
        said = [
            what if count == self.asks else f"{count} {what}"
            for count, what in ((self.refused, "refused"), (self.low, "low confidence"))
            if count
        ]
        if self.words:
            more = ", …" if len(self.words) > _NAMED else ""
            said.append(f"the docs hardly use: {', '.join(self.words[:_NAMED])}{more}")
        return "; ".join(said)


@dataclass(frozen=True)
class Unreached:
    """A page that no question came to."""

    url: str
    title: str


@dataclass(frozen=True)
class GapReport:
    """What the docs of a site do not answer.

    Attributes:
        site: The site's key.
        first_day: First day of the window; None without a log or a single ask.
        last_day: Its last day.
        asks: Asks of the site in the window.
        doubtful: Asks of questions that stand in a gap.
        gaps: The most asked first, then the nearest to the docs.
        off_topic: Gaps that are about something else than the docs.
        pages: Pages of the site.
        unreached: Those that were neither cited nor nearest to a question.
        left_out: Different questions beyond those that can be grouped, the least asked ones.
        even: Below it a confidence is low; None where the site has none of its own to tell.
    """

    site: str
    first_day: date | None
    last_day: date | None
    asks: int
    doubtful: int
    gaps: tuple[Gap, ...]
    off_topic: tuple[Gap, ...]
    pages: int
    unreached: tuple[Unreached, ...]
    left_out: int
    even: float | None

    @property
    def reaches_say_something(self) -> bool:
        """Whether there were enough asks for an unreached page to mean anything: one a page."""
        return self.asks >= self.pages

    def to_json(self) -> dict[str, Any]:
        """The fields of `qindex gaps --json`."""
        fields = asdict(self)
        for day in ("first_day", "last_day"):
            fields[day] = None if fields[day] is None else str(fields[day])
        return fields

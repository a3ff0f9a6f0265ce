"""How the page says numbers, and what an interval tells; nothing here is about one figure."""

from collections.abc import Iterable, Mapping, Sequence

from evaluation.results import Figure
from qindex_pipeline.retrieval.evaluation.measures import Interval

SETS: Mapping[str, str] = {
    "git": "git's questions",
    "git, keywords": "git's keyword forms",
    "rag_docs": "rag_docs",
    "stl": "the STL site",
}
"""A set in a sentence."""

SITES: Mapping[str, str] = {"git": "git's manual", "stl": "the STL site"}
"""A site in a sentence."""


def figure(value: float) -> str:
    """`.589`, `1.000`."""
    return f"{value:.3f}".removeprefix("0")


def signed(value: float) -> str:
    """`+.020`, `−.020` with a minus that is one; `0` for what rounds to it."""
    text = figure(abs(value))
    if not text.strip(".0"):
        return "0"
    return f"{'−' if value < 0 else '+'}{text}"


def spread(level: Interval) -> str:
    """`.589 (.500 to .679)`."""
    return f"{figure(level.difference)} ({figure(level.low)} to {figure(level.high)})"


def gained(gain: Interval) -> str:
    """`+.051 [+.008, +.102]*`; the star says that zero lies outside."""
    star = "\\*" if gain.is_significant else ""
    return f"{signed(gain.difference)} [{signed(gain.low)}, {signed(gain.high)}]{star}"


def each_gained(gains: Mapping[str, Interval]) -> str:
    """`+.051 [+.008, +.102]* on rag_docs and … on git's questions`."""
    return listed(f"{gained(gain)} on {name}" for name, gain in gains.items())


def listed(items: Iterable[str]) -> str:
    """`a, b and c`."""
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last


def told(gains: Mapping[str, Interval], more: str, less: str, same: str) -> str:
    """What the intervals tell, in a sentence without its full stop.

    Args:
        gains: A difference by the name of what it was measured on.
        more: What stands before those whose interval lies above zero, `it finds more on`.
        less: The same for those below.
        same: The same for those that hold zero.
    """
    clauses = (
        (more, [name for name, gain in gains.items() if gain.low > 0]),
        (less, [name for name, gain in gains.items() if gain.high < 0]),
        (same, [name for name, gain in gains.items() if not gain.is_significant]),
    )
    return "; ".join(f"{words} {listed(names)}" for words, names in clauses if names)


def compared(gains: Mapping[str, Interval]) -> str:
    """`told` of what has no name in the sentence."""
    return told(gains, "better on", "worse on", "no difference shows on")


def said(measure: str) -> str | None:
    """The name of a measure in a sentence; None for MRR by pages, which goes without saying."""
    name, _, within = measure.partition("@")
    return None if within == "10" else name


def named(name: str, measure: str) -> str:
    """A set in a sentence, with its measure where that has to be said."""
    return SETS[name] if said(measure) is None else f"{SETS[name]} by {said(measure)}"


def by_set(gains: Mapping[Figure, Interval]) -> dict[str, Interval]:
    """The differences under the names that their sets and measures have in a sentence."""
    return {named(*figure): gain for figure, gain in gains.items()}


def sentence(text: str) -> str:
    """With a capital and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def table(header: Iterable[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """A markdown table.

    Args:
        header: Titles of the columns.
        rows: Cells.
        texts: Columns at the left that are text; the others are figures.
    """
    titles = list(header)
    marks = ["---"] * texts + ["---:"] * (len(titles) - texts)
    return "\n".join(f"| {' | '.join(line)} |" for line in (titles, marks, *rows))


def items(lines: Iterable[str]) -> str:
    """A markdown list."""
    return "\n".join(f"- {line}" for line in lines)


def money(dollars: float) -> str:
    """`$0.07`, `$25`, `$1,230`: cents below ten dollars, none above."""
    if dollars == 0:
        return "$0"
    return f"${dollars:,.2f}" if dollars < 10 else f"${dollars:,.0f}"


def rounded(number: float) -> str:
    """Two digits that count: `4,900`, `22,000`, `1.7`."""
    value = float(f"{number:.1e}")
    return f"{value:,.0f}" if value >= 10 else f"{value:g}"

"""The page's figures: every arm on every set, and what is gained and lost."""

from collections.abc import Callable, Iterator, Mapping

from evaluation.results import Figure, Results
from evaluation.writing.arms import ARMS, PEER
from evaluation.writing.gains import groups
from evaluation.writing.svg import Axis, Line, Panel, drawn
from evaluation.writing.words import SETS, said

KINDS = {"fused": "main", "no questions": "bare"}
"""Arms that stand out: what the product does, and the same without questions."""


def arms_figure(results: Results) -> str:
    """hit@1 and MRR of every arm, a panel for each set."""
    panels = [
        Panel(
            SETS[name],
            f"{results.sets[name]['questions']} questions",
            [_arm(results, name, arm) for arm in ARMS],
        )
        for name in results.sets
    ]
    ticks = [0, 0.2, 0.4, 0.6, 0.8, 1]
    axes = [Axis(title, 0, 1, ticks, lambda tick: f"{tick:.1f}") for title in ("hit@1", "MRR")]
    return drawn("Every arm on every set, with 95 % intervals", axes, panels)


def _arm(results: Results, name: str, arm: str) -> Line:
    levels = results.level(name, arm)
    shown = [levels["hit@1"], levels[results.mrr(name)]]
    return Line(ARMS[arm][0].strip("*"), shown, KINDS.get(arm, ""))


def gains_figure(results: Results) -> str:
    """Differences of MRR by set, and by kind of question."""
    pairs = {
        "fused, questions added": ("fused", "no questions", "main"),
        "fused minus passages": ("fused", "passage", ""),
        "questions alone minus passages": ("question", "passage", ""),
        f"fused minus {PEER}": ("fused", PEER, ""),
    }
    panels = [
        Panel(
            SETS[name],
            f"{results.sets[name]['questions']} questions",
            [
                Line(_with_measure(label, key), [gain], kind)
                for label, (arm, other, kind) in pairs.items()
                for key, gain in results.main_gain(name, arm, other).items()
            ],
        )
        for name in results.sets
    ]
    panels += list(_by_kind(results))
    highest = max(
        abs(end)
        for panel in panels
        for line in panel.lines
        for each in line.intervals
        for end in (each.low, each.high)
    )
    reach = -(-highest // 0.1) / 10
    steps = round(reach * 10)
    ticks = [step / 10 for step in range(-steps, steps + 1)]
    axis = Axis("difference of MRR, or of F1 where named", -reach, reach, ticks, _tick)
    return drawn("What is gained and lost, with 95 % intervals", [axis], panels)


def _by_kind(results: Results) -> Iterator[Panel]:
    found: dict[str, list[Line]] = {}
    for name, words, rows in groups(results):
        gains = results.main_gain(name, "fused", "no questions", rows)
        found.setdefault(name, []).extend(
            Line(_with_measure(f"{words} ({len(rows)})", key), [gain], "same")
            for key, gain in gains.items()
        )
    for name, lines in found.items():
        yield Panel(f"{SETS[name]}, by kind", "questions added", lines)


def _tick(tick: float) -> str:
    return f"{tick:+.1f}".replace("-", "−") if tick else "0"


def _with_measure(label: str, key: Figure) -> str:
    name = said(key[1])
    return label if name is None else f"{label}, {name}"


FIGURES: Mapping[str, Callable[[Results], str]] = {
    "evaluation-arms.svg": arms_figure,
    "evaluation-gains.svg": gains_figure,
}
"""The figures by their file's name."""

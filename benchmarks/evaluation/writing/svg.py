"""Drawing dots with their intervals, as SVG that fits light and dark pages.

Written as text, without a plotting library: equal figures give equal bytes on every machine. A
figure brings its own background, so that it can be read whatever stands around it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from evaluation.writing.words import figure, signed
from qindex_pipeline.retrieval.evaluation.measures import Interval

WIDTH, LEFT, GAP, RIGHT = 860, 260, 40, 20
ROW, HEAD, TOP, BOTTOM = 20, 34, 56, 16

STYLE = """\
  <style>
    .paper { fill: #ffffff; } text { fill: #1f2328; font: 13px system-ui, sans-serif; }
    .small { font-size: 11px; fill: #59636e; } .name { font-weight: 600; }
    .grid { stroke: #d1d9e0; } .zero { stroke: #59636e; } .end { text-anchor: end; }
    .middle { text-anchor: middle; } line { stroke-width: 1; }
    .mark line { stroke: #59636e; stroke-width: 2; } .mark circle { fill: #59636e; }
    .main line, .same line { stroke: #0969da; } .main circle, .same circle { fill: #0969da; }
    text.main { font-weight: 600; }
    .bare line { stroke: #bc4c00; } .bare circle { fill: #bc4c00; }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #0d1117; } text { fill: #f0f6fc; } .small { fill: #9198a1; }
      .grid { stroke: #3d444d; } .zero { stroke: #9198a1; }
      .mark line { stroke: #9198a1; } .mark circle { fill: #9198a1; }
      .main line, .same line { stroke: #4493f8; } .main circle, .same circle { fill: #4493f8; }
      .bare line { stroke: #db6d28; } .bare circle { fill: #db6d28; }
    }
  </style>"""


@dataclass(frozen=True)
class Line:
    """A row of a figure: its label, an interval for each column, and how it stands out."""

    label: str
    intervals: Sequence[Interval]
    kind: str = ""


@dataclass(frozen=True)
class Panel:
    """Rows below a heading."""

    heading: str
    note: str
    lines: Sequence[Line]


@dataclass(frozen=True)
class Axis:
    """A column: its title, the ends of its scale, where lines stand, and how a number is said."""

    title: str
    low: float
    high: float
    ticks: Sequence[float]
    said: Callable[[float], str]

    def at(self, value: float, left: float, width: float) -> float:
        """The place of a value, within the column."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return left + share * width


def drawn(title: str, axes: Sequence[Axis], panels: Sequence[Panel]) -> str:
    """A whole figure."""
    left = LEFT if len(axes) > 1 else LEFT + 80
    width = (WIDTH - left - RIGHT - GAP * (len(axes) - 1)) / len(axes)
    height = TOP + BOTTOM + sum(HEAD + ROW * len(panel.lines) for panel in panels)
    columns = [(axis, left + number * (width + GAP), width) for number, axis in enumerate(axes)]
    body = [
        f'<rect class="paper" width="{WIDTH}" height="{height}" rx="6"/>',
        *(line for column in columns for line in _grid(*column, height)),
    ]
    y = TOP
    for panel in panels:
        body += _panel(panel, columns, y)
        y += HEAD + ROW * len(panel.lines)
    lines = "\n".join(f"  {line}" for line in body)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" role="img">\n  <title>{escape(title)}</title>\n'
        f"{STYLE}\n{lines}\n</svg>\n"
    )


def _grid(axis: Axis, left: float, width: float, height: int) -> Iterator[str]:
    yield _text(left + width / 2, 22, axis.title, "name middle")
    for tick in axis.ticks:
        x = axis.at(tick, left, width)
        kind = "zero" if tick == 0 and axis.low < 0 else "grid"
        ends = f'x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{height - BOTTOM}"'
        yield f'<line class="{kind}" {ends}/>'
        yield _text(x, TOP - 14, axis.said(tick), "small middle")


def _panel(panel: Panel, columns: Sequence[tuple[Axis, float, float]], top: float) -> Iterator[str]:
    yield _text(16, top + 20, panel.heading, "name")
    yield _text(columns[0][1] - 14, top + 20, panel.note, "small end")
    for number, line in enumerate(panel.lines):
        y = top + HEAD + ROW * number
        kind = f" {line.kind}" if line.kind else ""
        yield _text(columns[0][1] - 14, y + 4, line.label, f"end{kind}")
        for (axis, left, width), each in zip(columns, line.intervals, strict=True):
            yield from _mark(axis, left, width, each, y, kind)


def _mark(
    axis: Axis, left: float, width: float, each: Interval, y: float, kind: str
) -> Iterator[str]:
    low, at, high = (
        axis.at(value, left, width) for value in (each.low, each.difference, each.high)
    )
    shown = signed if axis.low < 0 else figure
    label = f"{shown(each.difference)}, from {shown(each.low)} to {shown(each.high)}"
    yield (
        f'<g class="mark{kind}"><title>{escape(label)}</title>'
        f'<line x1="{low:.1f}" y1="{y}" x2="{high:.1f}" y2="{y}"/>'
        f'<circle cx="{at:.1f}" cy="{y}" r="4"/></g>'
    )


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:g}">{escape(text)}</text>'

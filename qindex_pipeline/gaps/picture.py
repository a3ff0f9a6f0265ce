"""The report's plot: the largest gaps by asks, and how the asks fall over the weeks."""

import io
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from typing import Any

from qindex_pipeline.gaps.gap import Gap, GapReport

_BARS = 12
_LABEL = 58  # characters of a question that stay readable beside its bar
_REFUSED, _DOUBTFUL = "#b3402e", "#e0a03a"
"""Apart in lightness too, for those who see no difference in the hues."""
_INK, _GRID = "#1f2328", "#d0d7de"


def picture_png(report: GapReport) -> bytes | None:
    """The plot as a PNG; None without a gap.

    The ground is white and opaque: it is looked at in light and in dark surroundings.
    """
    if not report.gaps:
        return None
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    gaps = report.gaps[:_BARS]
    height = 1.3 + 0.34 * len(gaps)
    # Not through pyplot, which keeps what it draws for the life of the process.
    figure = Figure(figsize=(9.4, height), dpi=100, facecolor="white")
    FigureCanvasAgg(figure)
    bottom, top = 0.62 / height, 1 - 0.62 / height
    area = (bottom, top - bottom)
    bars = figure.add_axes((0.45, area[0], 0.31, area[1]))
    weeks = figure.add_axes((0.81, area[0], 0.17, area[1]))
    _draw_bars(bars, gaps)
    _draw_weeks(weeks, gaps)
    title = f"{report.site}: the largest gaps of {report.asks} asks"
    span = f"{report.first_day} to {report.last_day}"
    _write(figure, 0.012, 1 - 0.2 / height, title, size=11, weight="bold")
    _write(figure, 0.988, 1 - 0.2 / height, span, size=9, align="right")
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()


def data_uri(png: bytes) -> str:
    """A picture that stands in the text itself."""
    return f"data:image/png;base64,{b64encode(png).decode()}"


def _draw_bars(axes: Any, gaps: Sequence[Gap]) -> None:
    rows = range(len(gaps))
    refused = [gap.refused for gap in gaps]
    answered = [gap.asks - gap.refused for gap in gaps]
    axes.barh(rows, refused, 0.62, color=_REFUSED, label="refused")
    axes.barh(rows, answered, 0.62, left=refused, color=_DOUBTFUL, label="answered, in doubt")
    for row, gap in enumerate(gaps):
        axes.annotate(
            str(gap.asks), (gap.asks, row), (4, 0), textcoords="offset points", va="center",
            fontsize=9, color=_INK,
        )  # fmt: skip
        axes.annotate(
            _label(gap.question), (0, row), (-6, 0), textcoords="offset points", va="center",
            ha="right", fontsize=8.5, color=_INK, parse_math=False,
        )  # fmt: skip
    axes.set_ylim(len(gaps) - 0.5, -0.5)
    axes.set_xlim(0, max(gap.asks for gap in gaps) * 1.15)
    axes.set_yticks([])
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("asks", fontsize=9, color=_INK)
    axes.legend(
        loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, fontsize=8, frameon=False,
        borderaxespad=0.2, handlelength=1.1, columnspacing=1.2,
    )  # fmt: skip
    _quiet(axes, "left")


def _draw_weeks(axes: Any, gaps: Sequence[Gap]) -> None:
    """A row of squares a gap: the darker, the more of its asks fell into that week."""
    most = max(max(gap.weeks) for gap in gaps)
    shares = [[count / most for count in gap.weeks] for gap in gaps]
    axes.pcolormesh(shares, cmap="Blues", vmin=0, vmax=1.2, edgecolors="white", linewidth=2.5)
    for row, gap in enumerate(gaps):
        for week, count in enumerate(gap.weeks):
            axes.annotate(
                str(count or ""), (week + 0.5, row + 0.5), va="center", ha="center", fontsize=8,
                color="white" if shares[row][week] > 0.6 else _INK,
            )  # fmt: skip
    axes.set_ylim(len(gaps), 0)
    axes.set_xticks([0.5, len(gaps[0].weeks) - 0.5], ["first", "last"])
    axes.set_yticks([])
    axes.set_xlabel("asks a week", fontsize=9, color=_INK)
    _quiet(axes, "left", "bottom")


def _quiet(axes: Any, *hidden: str) -> None:
    for side in ("top", "right", *hidden):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(_GRID)
    axes.tick_params(colors=_INK, labelsize=8.5, length=0)


def _write(figure: Any, x: float, y: float, text: str, **style: Any) -> None:
    figure.text(
        x, y, text, fontsize=style["size"], fontweight=style.get("weight", "normal"), color=_INK,
        ha=style.get("align", "left"), va="center", parse_math=False,
    )  # fmt: skip


def _label(question: str) -> str:
    """A question as the font can draw it: what it has no sign for is a box there."""
    drawn = "".join(sign if ord(sign) in _glyphs() else "□" for sign in question)
    return drawn if len(drawn) <= _LABEL else f"{drawn[: _LABEL - 1].rstrip()}…"


@cache
def _glyphs() -> frozenset[int]:
    from matplotlib.font_manager import findfont, get_font

    font: Any = get_font(findfont("DejaVu Sans"))
    return frozenset(font.get_charmap())

"""An evaluation for people: plain lines for the command line, markdown for Dagster's metadata.

Plots are bars of block characters in a fenced block: Dagster's UI shows no images that stand in
the text itself.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from qindex_pipeline.retrieval.evaluation.evaluation import Evaluation
from qindex_pipeline.retrieval.evaluation.measures import LEVEL, RESAMPLES, Interval

BAR_CELLS = 30
"""Characters of the longest bar."""

BAND = 0.05
"""Width of a band of confidence in the histogram."""

_EIGHTHS = " ▏▎▍▌▋▊▉"
_MEASURES = ("hit@1", "hit@3", "hit@10", "mrr@10")
_LISTED = 10  # missed questions in the report; all are in the JSON


def report_lines(evaluation: Evaluation) -> list[str]:
    """The outcome as aligned lines of text."""
    lines = [f"{_asked(evaluation)}; right page found:", ""]
    lines += _aligned([("arm", *_MEASURES), *_arm_rows(evaluation)])
    lines += ["", *_bootstrap_lines(evaluation), "", *_refusal_lines(evaluation)]
    lines += [f"not in the index: {page}" for page in evaluation.not_indexed]
    return lines


def report_markdown(evaluation: Evaluation) -> str:
    """The outcome as markdown: tables, and plots of the arms and of the confidence bands."""
    arms, refusals = evaluation.arms, _refusal_lines(evaluation)
    blocks = [
        f"**{_asked(evaluation)}**",
        _table(("arm", *_MEASURES), _arm_rows(evaluation)),
        _fenced(bars({arm: measured["mrr@10"] for arm, measured in arms.items()}, "mrr@10")),
        _listed("Fused against passages:", _bootstrap_lines(evaluation)),
        _listed(next(refusals), refusals),
        _fenced(band_lines(_sides(evaluation), evaluation.threshold)),
        *_missed(evaluation),
    ]
    if evaluation.not_indexed:
        pages = ", ".join(f"`{page}`" for page in evaluation.not_indexed)
        blocks.append(f"Pages of the questions that the index does not have: {pages}")
    return "\n\n".join(blocks) + "\n"


def bars(values: Mapping[str, float], title: str) -> list[str]:
    """A bar for each value, in [0, 1], behind its name."""
    width = max(map(len, (title, *values)))
    lines = [f"{title:{width}}"]
    lines += [f"{name:{width}} {bar(value)} {value:.3f}" for name, value in values.items()]
    return lines


def bar(share: float, cells: int = BAR_CELLS) -> str:
    """A bar of `cells` characters of which `share` is filled, to an eighth of a character."""
    eighths = round(min(1.0, max(0.0, share)) * cells * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(cells)


def band_lines(sides: Mapping[str, Sequence[float]], threshold: float) -> list[str]:
    """How many questions of each side lie in each band of confidence, the threshold marked.

    Args:
        sides: Confidences by the name of their side; its fullest band has the longest bar.
        threshold: The confidence below which a question is refused.
    """
    counted = {name: [_band(value) for value in values] for name, values in sides.items() if values}
    bands = [band for found in counted.values() for band in found]
    if not bands:
        return ["no questions"]
    cells = BAR_CELLS // len(counted)
    edge = _band(threshold)
    # Without a gap: an empty band between two sides is what a reader looks for.
    shown = range(min(*bands, edge), max(*bands, edge) + 1)
    head = "confidence " + " ".join(f"{name:{cells + 5}}" for name in counted)
    lines = [head.rstrip()]
    for band in reversed(shown):
        parts = [_part(found, band, cells) for found in counted.values()]
        mark = f" < threshold {threshold:.2f}" if band == edge else ""
        lines.append(f"{band * BAND:10.2f} {' '.join(parts)}{mark}".rstrip())
    return lines


def _part(found: Sequence[int], band: int, cells: int) -> str:
    count = found.count(band)
    most = max(found.count(each) for each in set(found))
    return f"{bar(count / most, cells)} {count:<4}"


def _band(confidence: float) -> int:
    # Half a thousandth keeps 0.6 out of the band of 0.55, where binary fractions would put it.
    return int((confidence + 0.0005) // BAND)


def _asked(evaluation: Evaluation) -> str:
    where = f" on {evaluation.site}" if evaluation.site else ""
    return f"{len(evaluation.rows)} questions{where}"


def _arm_rows(evaluation: Evaluation) -> list[tuple[str, ...]]:
    return [
        (arm, *(f"{measured[name]:.3f}" for name in _MEASURES))
        for arm, measured in evaluation.arms.items()
    ]


def _bootstrap_lines(evaluation: Evaluation) -> list[str]:
    return [
        f"fused minus passage, {name}: {_interval(interval)}"
        for name, interval in evaluation.bootstrap.items()
    ]


def _interval(interval: Interval) -> str:
    verdict = "" if interval.is_significant else ", not significant"
    return (
        f"{interval.difference:+.3f} ({LEVEL:.0%} of {RESAMPLES:,} paired resamples: "
        f"{interval.low:+.3f} to {interval.high:+.3f}{verdict})"
    )


def _refusal_lines(evaluation: Evaluation) -> Iterator[str]:
    refusal = evaluation.refusal
    yield f"refused, confidence below {evaluation.threshold:.2f}:"
    yield f"{_count(refusal['answerable'])} that the docs answer"
    if not evaluation.unanswerable:
        return
    total = refusal["unanswerable"]
    yield f"{_count(total)} that the docs don't answer, AUROC {refusal['auroc']:.3f}"
    for kind, found in refusal["kinds"].items():
        yield f"{_count(found)} of kind {kind}, AUROC {found['auroc']:.3f}"


def _count(found: Mapping[str, Any]) -> str:
    return f"{found['refused']} of {found['n']} ({found['rate']:.0%})"


def _sides(evaluation: Evaluation) -> dict[str, list[float]]:
    answerable = [row.confidence for row in evaluation.rows]
    return {"answerable": answerable} | evaluation.kinds


def _missed(evaluation: Evaluation) -> Iterator[str]:
    missed = [row for row in evaluation.rows if (row.ranks["fused"] or 99) > 3]
    if not missed:
        return
    lines = [
        f"- {row.id}: {' '.join(row.question.split())} (rank {row.ranks['fused'] or 'none'})"
        for row in missed[:_LISTED]
    ]
    rest = len(missed) - _LISTED
    more = [f"- and {rest} more"] if rest > 0 else []
    yield "Right page not among the first three:\n\n" + "\n".join(lines + more)


def _listed(head: str, lines: Iterable[str]) -> str:
    return f"{head}\n\n" + "\n".join(f"- {line}" for line in lines)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows
    ]


def _fenced(lines: Sequence[str]) -> str:
    return "\n".join(["```text", *lines, "```"])

"""A gap report for people: markdown for Dagster's metadata and a file, rows for a terminal."""

from collections.abc import Iterable, Iterator, Sequence

from qindex_pipeline.escaping import address, as_markdown, as_plain
from qindex_pipeline.gaps.gap import Gap, GapReport

HOW_TO_LOG = (
    "Nothing is known of what was asked: set QINDEX_QUERY_LOG to a folder or an address, here and "
    "where the index is asked."
)

_BLOCKS = "▁▂▃▄▅▆▇█"
_TABLE, _TOLD, _EXAMPLES, _OFF_TOPIC, _PAGES = 25, 10, 5, 10, 50
"""Gaps in the table, gaps told with examples, examples of one, gaps of other subjects, pages."""


def report_markdown(report: GapReport, picture: str | None = None) -> str:
    """The report as markdown.

    Args:
        report: What was found.
        picture: Address of the plot, None to leave it out.
    """
    blocks = [f"**{summary(report)}**"]
    if report.gaps:
        plot = f"![Asks of the largest gaps, and asks a week]({picture})" if picture else None
        blocks += [*([plot] if plot else []), _table(report.gaps), *_told(report.gaps)]
    blocks += [*_off_topic(report.off_topic), *_unreached(report)]
    if report.left_out:
        blocks.append(f"{report.left_out} more questions, the least asked, were left out.")
    return "\n\n".join(blocks) + "\n"


def summary(report: GapReport) -> str:
    """The report in a sentence or two."""
    if report.first_day is None:
        return f"Nothing was asked of {report.site} yet."
    asked = f"{report.asks} asks from {report.first_day} to {report.last_day}"
    if not report.doubtful:
        return f"{asked}: {report.site} seems to answer all."
    others = f", and {len(report.off_topic)} about other subjects" if report.off_topic else ""
    found = f"{len(report.gaps)} gap{'' if len(report.gaps) == 1 else 's'}{others}"
    return f"{asked}: {report.doubtful} that {report.site} seems not to answer, in {found}."


def shown_rows(gaps: Iterable[Gap]) -> Iterator[tuple[str, ...]]:
    """Asks, weeks, what is asked, why it is a gap and the nearest page, for a table."""
    for gap in gaps:
        near = f"{as_plain(gap.nearest_title or '')} ({gap.confidence:.2f})"
        yield (
            str(gap.asks),
            f"{spark(gap.weeks)} {trend(gap)}",
            as_plain(gap.question) + _more(gap),
            gap.reason,
            near if gap.nearest_url else "none",
        )


def spark(weeks: Sequence[int]) -> str:
    """A bar for each week."""
    most = max(weeks, default=0)
    return "".join(
        _BLOCKS[round(count / most * (len(_BLOCKS) - 1))] if count else "·" for count in weeks
    )


def trend(gap: Gap) -> str:
    """How the second half of the window differs from the first, in asks."""
    change = gap.since - gap.before
    return f"{change:+d}" if change else "±0"


def _table(gaps: Sequence[Gap]) -> str:
    lines = ["| asks | a week | what is asked | why | nearest page |", "|--:|:--|:--|:--|:--|"]
    for gap, row in zip(gaps[:_TABLE], shown_rows(gaps[:_TABLE]), strict=True):
        asked = as_markdown(gap.question) + _more(gap)
        cells = (*row[:2], asked, as_markdown(gap.reason), _page(gap))
        lines.append(f"| {' | '.join(cells)} |")
    more = len(gaps) - _TABLE
    return "\n".join(lines) + (f"\n\n{more} gaps more are in the table." if more > 0 else "")


def _more(gap: Gap) -> str:
    return f" (+{gap.questions - 1} like it)" if gap.questions > 1 else ""


def _page(gap: Gap) -> str:
    if gap.nearest_url is None:
        return "none"
    title = as_markdown(gap.nearest_title or gap.nearest_url)
    return f"[{title}]({address(gap.nearest_url)}) ({gap.confidence:.2f})"


def _told(gaps: Sequence[Gap]) -> Iterator[str]:
    """The examples of the largest gaps that have several questions."""
    several = [gap for gap in gaps if gap.others][:_TOLD]
    if several:
        yield "### Asked in other words"
    for gap in several:
        examples = "\n".join(f"- {as_markdown(example)}" for example in gap.others[:_EXAMPLES])
        yield f"**{as_markdown(gap.question)}**\n\n{examples}"


def _off_topic(gaps: Sequence[Gap]) -> Iterator[str]:
    if not gaps:
        return
    asks = sum(gap.asks for gap in gaps)
    named = "\n".join(f"- {gap.asks} × {as_markdown(gap.question)}" for gap in gaps[:_OFF_TOPIC])
    more = len(gaps) - _OFF_TOPIC
    yield f"### About other subjects\n\n{asks} asks in {len(gaps)} groups; the largest:"
    yield named + (f"\n- … and {more} more" if more > 0 else "")


def _unreached(report: GapReport) -> Iterator[str]:
    """The pages that no question came to, where there were asks enough to say so."""
    if not report.asks:
        return
    yield f"### Pages that no question reached\n\n{unreached_line(report)}"
    if report.reaches_say_something and report.unreached:
        pages = report.unreached[:_PAGES]
        listed = [f"- [{as_markdown(page.title)}]({address(page.url)})" for page in pages]
        more = len(report.unreached) - _PAGES
        yield "\n".join([*listed, *([f"- … and {more} more"] if more > 0 else [])])


def unreached_line(report: GapReport) -> str:
    """How many pages no question came to, and how many asks that rests on."""
    if not report.reaches_say_something:
        return (
            f"{report.asks} asks are too few to say which of {report.pages} pages nobody needs: "
            "there should be one a page."
        )
    return f"{len(report.unreached)} of {report.pages} pages, after {report.asks} asks."

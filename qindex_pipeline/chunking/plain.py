"""Pages that are not parsed: their blocks by blank lines, and fences by a scan of the lines.

The parser takes seconds and many times the page's memory where a page of megabytes consists of
short lines. Nobody wrote such a page as text; it is still kept whole and its fences unbroken.
"""

import re

from qindex_pipeline.chunking.blocks import Block
from qindex_pipeline.chunking.source import Source

MOST_LINES = 50_000
"""Lines up to which a page is parsed; the longest documentation page met has about 10,000."""

# A run of backticks or tildes behind any marks of lists and quotes. Behind backticks there are
# no further ones, else it is inline code.
_FENCE = re.compile(r"(?:[\s>*+-]|\d{1,9}[.)]\s)*(?P<mark>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)")
_BLANK = re.compile(r"\s*$")


def plain_blocks(source: Source) -> tuple[Block, ...]:
    """Paragraphs and fences; together they cover every non-blank line once, in order."""
    blocks: list[Block] = []
    number = start = 0
    while number < source.n_lines:
        line = source.line(number)
        fence = _FENCE.match(line)
        if fence is None and not _BLANK.match(line):
            number += 1
            continue
        _add_paragraph(blocks, start, number)
        if fence is not None:
            blocks.append(_fence(source, number, fence))
            number = blocks[-1].end_line - 1
        number += 1
        start = number
    _add_paragraph(blocks, start, source.n_lines)
    return tuple(blocks)


def _add_paragraph(blocks: list[Block], start: int, end: int) -> None:
    if start < end:
        blocks.append(Block(kind="paragraph", first_line=start, end_line=end))


def _fence(source: Source, first_line: int, opening: re.Match[str]) -> Block:
    """The fence that begins in a line; one without a closing line runs to the end of the page."""
    mark = opening["mark"]
    closing = re.compile(rf"[\s>]*{mark[0]}{{{len(mark)},}}\s*$")
    for number in range(first_line + 1, source.n_lines):
        if closing.match(source.line(number)):
            end, closed = number + 1, True
            break
    else:
        end, closed = source.trimmed(first_line, source.n_lines)[1], False
    return Block(
        kind="fence",
        first_line=first_line,
        end_line=end,
        content=opening["info"].strip(),
        markup=mark,
        closed=closed,
    )

"""Cutting a block that is too large to stay whole, where its own structure allows it.

Code is cut at blank lines and lines, each part in its own fence; a table between rows under a
repeated header; a list between items; a quote between its blocks. Only what has no structure
left is cut as text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from qindex_pipeline.chunking.blocks import Block
from qindex_pipeline.chunking.prose import Span, cut, pack_spans
from qindex_pipeline.chunking.source import Source
from qindex_pipeline.chunking.words import count_words

_LIST_MARK = re.compile(r"[^ >\t]")
_QUOTE_MARKS = re.compile(r" {0,3}>[ >]{0,60}")
_INDENT = re.compile(r"^ *(?=\S)", re.MULTILINE)
# Lines that every part repeats must stay small beside the part: a fence or a table header of a
# hostile page can be megabytes long with hardly a word in it.
_LONGEST_REPEAT = 2000
_LONGEST_FENCE = 32


@dataclass(frozen=True)
class Part:
    """A piece of a block: its characters in the source, and its text where that differs."""

    start: int
    end: int
    text: str | None = None


def split_block(block: Block, source: Source, limit: int) -> list[Part]:
    """Cut a block into parts of at most `limit` words; a single token may be longer."""
    parts = _split(block, source, limit)
    if block.kind not in ("list", "quote"):
        return parts
    return [_standing_alone(part, source) for part in parts]


def _split(block: Block, source: Source, limit: int) -> list[Part]:
    if block.kind == "fence":
        return _split_fence(block, source, limit)
    if block.kind == "table":
        return _split_table(block, source, limit)
    if block.children:
        return _split_container(block, source, limit)
    return _split_lines(block, source, limit)


def _split_fence(block: Block, source: Source, limit: int) -> list[Part]:
    start, end = source.span(block.first_line, block.end_line)
    opening = source.line(block.first_line)
    prefix = _LIST_MARK.sub(" ", opening.partition(block.markup)[0])
    info = block.content if _may_repeat(block.content, limit) else ""
    inner_end = block.end_line - (1 if block.closed else 0)
    inner = _line_spans(source, block.first_line + 1, inner_end, limit - count_words(info))
    if len(inner) < 2:
        return [Part(start, end)]
    parts: list[Part] = []
    for span in inner:
        code = _from_line_start(source, span, prefix)
        mark = _fence_mark(block.markup, code)
        parts.append(Part(*span, f"{prefix}{mark}{info}\n{code}\n{prefix}{mark}"))
    code = _from_line_start(source, inner[0], prefix)
    parts[0] = Part(start, parts[0].end, f"{opening}\n{code}\n{prefix}{block.markup}")
    parts[-1] = replace(parts[-1], end=end)
    return parts


def _fence_mark(markup: str, code: str) -> str:
    """The block's own run of backticks or tildes; a very long one is made as short as it may."""
    if len(markup) <= _LONGEST_FENCE:
        return markup
    mark = markup[0]
    longest = max((len(run) for run in re.findall(f"{mark}+", code)), default=0)
    return mark * max(3, longest + 1)


def _split_table(block: Block, source: Source, limit: int) -> list[Part]:
    """Parts of whole rows, each under the header; a header too long to repeat stands once."""
    first_row = block.first_line + 2
    start, header_end = source.span(block.first_line, first_row)
    header = source.text[start:header_end]
    if not _may_repeat(header, limit):
        return _split_lines(block, source, limit)
    rows = _line_spans(source, first_row, block.end_line, limit - count_words(header))
    parts = [Part(*row, f"{header}\n{_from_line_start(source, row, '| ')}") for row in rows]
    return [Part(start, rows[0][1]), *parts[1:]]


def _split_lines(block: Block, source: Source, limit: int) -> list[Part]:
    spans = _line_spans(source, block.first_line, block.end_line, limit)
    return [Part(*span) for span in spans]


def _split_container(block: Block, source: Source, limit: int) -> list[Part]:
    """Parts of a list, item or quote: children that fit are packed, a larger one is cut alone."""
    parts: list[Part] = []
    fitting: list[Span] = []
    for child in block.children:
        if source.words(child.first_line, child.end_line) <= limit:
            fitting.append(source.span(child.first_line, child.end_line))
            continue
        parts.extend(Part(*span) for span in pack_spans(source.text, fitting, limit))
        fitting.clear()
        parts.extend(_split(child, source, limit))
    parts.extend(Part(*span) for span in pack_spans(source.text, fitting, limit))
    return parts


def _standing_alone(part: Part, source: Source) -> Part:
    """The part without the indentation that its lines share, and with `>` where cut in a line.

    A nested item or fence would else read as indented code.
    """
    text = part.text
    if text is None:
        marks = _QUOTE_MARKS.match(source.line(source.line_at(part.start)))
        text = _from_line_start(source, (part.start, part.end), marks.group() if marks else "")
    indent = min((len(spaces) for spaces in _INDENT.findall(text)), default=0)
    if indent:
        text = re.sub(f"^ {{{indent}}}", "", text, flags=re.MULTILINE)
    return replace(part, text=None if text == source.text[part.start : part.end] else text)


def _line_spans(source: Source, first_line: int, end_line: int, limit: int) -> list[Span]:
    """Runs of lines of at most `limit` words: cut at blank lines, else lines, else as text."""
    spans: list[Span] = []
    for first, end in _runs_between_blank_lines(source, first_line, end_line):
        if source.words(first, end) <= limit:
            spans.append(source.span(first, end))
            continue
        for line in range(first, end):
            offset = source.line_starts[line]
            pieces = cut(source.line(line), limit)
            spans.extend((offset + left, offset + right) for left, right in pieces)
    return list(pack_spans(source.text, spans, limit))


def _runs_between_blank_lines(
    source: Source, first_line: int, end_line: int
) -> Iterator[tuple[int, int]]:
    numbers = range(first_line, end_line)
    for blank, run in groupby(numbers, key=lambda number: not source.line(number).strip()):
        if not blank:
            lines = list(run)
            yield lines[0], lines[-1] + 1


def _from_line_start(source: Source, span: Span, prefix: str) -> str:
    """The text of a span; the prefix goes before it where the span begins inside a line."""
    text = source.text[span[0] : span[1]]
    inside = span[0] != source.line_starts[source.line_at(span[0])]
    return f"{prefix}{text}" if inside else text


def _may_repeat(lines: str, limit: int) -> bool:
    """Whether lines are short enough to stand in every part."""
    return count_words(lines) * 3 <= limit and len(lines) <= _LONGEST_REPEAT

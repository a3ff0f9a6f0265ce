"""A chunk's text as units that can be quoted: sentences, items, rows, and blocks that stay whole.

A unit is verbatim text with its place. Code is one unit, however long: half a command is worse
than none. So are an item with all that is nested in it, and a row of a table.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from qindex_pipeline.chunking.blocks import CODE, Block, parse_blocks
from qindex_pipeline.chunking.prose import sentences, trimmed
from qindex_pipeline.chunking.source import Source, normalise

UnitKind = Literal["sentence", "item", "row", "code", "whole"]

_TABLE_HEAD_LINES = 2


@dataclass(frozen=True)
class Unit:
    """What is quoted whole or not at all.

    Attributes:
        kind: What it is; `whole` is any other block.
        start: Where it begins in the text.
        end: Where it ends, without white space.
        text: Its words.
    """

    kind: UnitKind
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Passage:
    """A block of a chunk, cut into units.

    Attributes:
        units: In the order of the text; at least one.
        head: Lines that are quoted before any of its units: those of a table; else nothing.
        heading: The nearest heading above it in the chunk, or nothing.
    """

    units: tuple[Unit, ...]
    head: str
    heading: str

    @property
    def kind(self) -> UnitKind:
        """The kind of all its units."""
        return self.units[0].kind

    @property
    def introduces(self) -> bool:
        """Whether its last words point to what follows."""
        return self.units[-1].text.endswith((":", "："))


def passages(text: str, lang: str) -> tuple[Source, list[Passage]]:
    """The normalised text, which all places point into, and its blocks without the headings.

    Args:
        text: Markdown of a chunk.
        lang: Language of its page, ISO 639-1, with or without a region.
    """
    source = normalise(text)
    found: list[Passage] = []
    heading = ""
    for block in parse_blocks(source):
        if block.kind == "heading":
            heading = block.content
        elif block.kind != "rule":
            head, spans = _cut(source, block, lang.partition("-")[0].lower())
            units = tuple(_units(source, block, spans))
            if units:
                found.append(Passage(units, head, heading))
    return source, found


Span = tuple[int, int]


def _cut(source: Source, block: Block, lang: str) -> tuple[str, list[Span]]:
    """The lines before the first unit, and the spans of the units."""
    start, end = source.span(block.first_line, block.end_line)
    if block.kind == "paragraph":
        inside = sentences(source.text[start:end], lang)
        return "", [(start + left, start + right) for left, right in inside]
    if block.kind == "list":
        return "", [source.span(item.first_line, item.end_line) for item in block.children]
    if block.kind == "table":
        first_row = block.first_line + _TABLE_HEAD_LINES
        if first_row < block.end_line:
            head = source.text[start : source.span(block.first_line, first_row)[1]]
            rows = range(first_row, block.end_line)
            return head, [source.span(row, row + 1) for row in rows]
    return "", [(start, end)]


def _units(source: Source, block: Block, spans: Sequence[Span]) -> Iterator[Unit]:
    kinds: dict[str, UnitKind] = {"paragraph": "sentence", "list": "item", "table": "row"}
    kind: UnitKind = "code" if block.kind in CODE else kinds.get(block.kind, "whole")
    for span in spans:
        start, end = span if block.kind == "code" else trimmed(source.text, span)
        if start < end:
            yield Unit(kind, start, end, source.text[start:end])

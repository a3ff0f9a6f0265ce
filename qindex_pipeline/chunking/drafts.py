"""A chunk in the making: a stretch of the source that can still grow at its end."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from qindex_pipeline.chunking.blocks import Block
from qindex_pipeline.chunking.sections import Heading, PlacedBlock
from qindex_pipeline.chunking.source import Source
from qindex_pipeline.chunking.words import count_words


@dataclass(frozen=True, slots=True)
class Draft:
    """A stretch of the source, at first one block or a piece of one.

    Attributes:
        start, end: its characters.
        words: its words, or slightly more.
        section: number of its section.
        heading: the nearest heading at or above its first block.
        path: the headings that all of its blocks stand under.
        opened: texts of the headings with which it begins.
        body_start: where the text behind those headings begins.
        opens_with_prose: it begins with a paragraph, or in one.
        last_paragraph: the paragraph that it ends with, or in.
        text: what it says where that is not the exact slice of the source.
        part, parts: number of this part of a split block, from 1, and how many there are.
    """

    start: int
    end: int
    words: int
    section: int
    heading: Heading | None
    path: tuple[str, ...]
    opened: tuple[str, ...]
    body_start: int
    opens_with_prose: bool = False
    last_paragraph: Block | None = None
    text: str | None = None
    part: int = 1
    parts: int = 1


def piece(placed: PlacedBlock, source: Source, start: int, end: int) -> Draft:
    """A draft of the block's characters from `start` to `end`."""
    return _draft(placed, start, end, count_words(source.text[start:end]))


def _draft(placed: PlacedBlock, start: int, end: int, words: int) -> Draft:
    heading = placed.heading
    is_prose = placed.block.kind == "paragraph"
    return Draft(
        start=start,
        end=end,
        words=words,
        section=placed.section,
        heading=heading,
        path=heading.path if heading else (),
        opened=(),
        body_start=start,
        opens_with_prose=is_prose,
        last_paragraph=placed.block if is_prose else None,
    )


def whole(placed: PlacedBlock, source: Source) -> Draft:
    """A draft of the whole block."""
    lines = placed.block.first_line, placed.block.end_line
    return _draft(placed, *source.span(*lines), source.words(*lines))


def with_lead(lead: Sequence[PlacedBlock], draft: Draft, source: Source) -> Draft:
    """The draft behind the headings and labels that stand directly before it."""
    if not lead:
        return draft
    stretch = [source.span(placed.block.first_line, placed.block.end_line) for placed in lead]
    start = stretch[0][0]
    bodies = [span for span, placed in zip(stretch, lead, strict=True) if not placed.block.level]
    text = None if draft.text is None else source.text[start : draft.start] + draft.text
    return replace(
        draft,
        start=start,
        words=draft.words + sum(source.words(p.block.first_line, p.block.end_line) for p in lead),
        opened=tuple(p.heading.text for p in lead if p.block.level and p.heading),
        body_start=bodies[0][0] if bodies else draft.body_start,
        opens_with_prose=False,
        text=text,
    )


def join(first: Draft, second: Draft, source: Source) -> Draft:
    """The two neighbours as one; its path is what their paths have in common."""
    text = first.text
    if text is not None:
        text = f"{text}\n\n{source.text[second.start : second.end]}"
    return replace(
        first,
        end=second.end,
        words=first.words + second.words,
        path=common_path(first.path, second.path),
        last_paragraph=second.last_paragraph,
        text=text,
    )


def common_path(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """The headings that two paths share, from the outermost one down."""
    shared = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return tuple(text for text, _ in shared)

"""Where each block stands: its section and the headings above it.

Sections begin at H1, H2 and H3. H4 to H6 stay inside their section but count as headings of
what follows them. The path is a stack by level: after H1, H3 a second H3 is a sibling.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from qindex_pipeline.chunking.anchors import align_anchors, heading_key
from qindex_pipeline.chunking.blocks import Block

SECTION_LEVEL = 3
# Every chunk below a heading repeats it; a longer one is no heading that anybody wrote.
_LONGEST_HEADING = 300
_INLINE = MarkdownIt("commonmark")
_PERMALINK = re.compile(r"[\s¶§#\u200b\ufeff]*")
_TRAILING_PERMALINK = re.compile(r"[\s¶\u200b\ufeff]+$")


@dataclass(frozen=True)
class Heading:
    """A heading of the page.

    Attributes:
        level: 1-6.
        text: its text without markup.
        path: the texts of the headings from the outermost one down to this one.
        anchor: its anchor, else that of the nearest heading above it that has one.
        parent: the heading above it.
    """

    level: int
    text: str
    path: tuple[str, ...]
    anchor: str | None
    parent: "Heading | None"


@dataclass(frozen=True)
class PlacedBlock:
    """A top-level block, the number of its section, and the nearest heading at or above it."""

    block: Block
    section: int
    heading: Heading | None


def place_blocks(
    blocks: Sequence[Block], page_headings: Sequence[Mapping[str, Any]]
) -> Iterator[PlacedBlock]:
    """Every top-level block with its place.

    Args:
        blocks: the top-level blocks of the page.
        page_headings: level, text and anchor of the headings of the page's HTML, in order.
    """
    titles = [(block.level, heading_text(block.content)) for block in blocks if block.level]
    anchors = align_anchors([heading_key(*title) for title in titles], page_headings)
    headings = zip(titles, anchors, strict=True)
    section, heading = 0, None
    for block in blocks:
        if block.level:
            (level, text), anchor = next(headings)
            section += level <= SECTION_LEVEL
            heading = _below(heading, level, text, anchor)
        yield PlacedBlock(block, section, heading)


def section_heading(heading: Heading | None) -> Heading | None:
    """The heading that began the section in which `heading` stands."""
    while heading is not None and heading.level > SECTION_LEVEL:
        heading = heading.parent
    return heading


def heading_text(content: str) -> str:
    """The visible text of a heading's inline markdown, without permalinks, on one line."""
    content = content[: _LONGEST_HEADING * 4]
    tokens = _INLINE.parseInline(content)[0].children or []
    text = " ".join("".join(_visible(tokens)).split())
    return _TRAILING_PERMALINK.sub("", text)[:_LONGEST_HEADING]


def _below(above: Heading | None, level: int, text: str, anchor: str | None) -> Heading:
    while above is not None and above.level >= level:
        above = above.parent
    path = above.path if above else ()
    inherited = above.anchor if above else None
    return Heading(level, text, (*path, text) if text else path, anchor or inherited, above)


def _visible(tokens: Sequence[Token]) -> Iterator[str]:
    """The texts that a reader sees; a link that shows only a permalink sign is left out."""
    link: list[str] | None = None
    for token in tokens:
        if token.type == "link_open":
            link = []
        elif token.type == "link_close" and link is not None:
            shown = "".join(link)
            if not _PERMALINK.fullmatch(shown):
                yield shown
            link = None
        else:
            text = " " if token.type.endswith("break") else _text(token)
            if link is None:
                yield text
            else:
                link.append(text)


def _text(token: Token) -> str:
    return "" if token.type == "html_inline" else token.content

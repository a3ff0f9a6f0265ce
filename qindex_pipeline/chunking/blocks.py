"""Markdown to a tree of blocks, each with the lines it covers.

Positions come from the parser, never from searching, so that repeated text, `#` in code and
nested fences cannot mislead. Inline markup is not parsed here.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token

from qindex_pipeline.chunking.source import Source

BlockKind = Literal[
    "heading", "paragraph", "fence", "code", "list", "item", "quote", "table", "html", "rule",
    "loose",
]  # fmt: skip

_KINDS: dict[str, BlockKind] = {
    "heading": "heading",
    "paragraph": "paragraph",
    "fence": "fence",
    "code_block": "code",
    "bullet_list": "list",
    "ordered_list": "list",
    "list_item": "item",
    "blockquote": "quote",
    "table": "table",
    "html_block": "html",
    "hr": "rule",
}

CODE: frozenset[BlockKind] = frozenset({"fence", "code"})
"""Kinds of blocks that hold code."""

_PARSER = MarkdownIt("commonmark").enable("table").disable("inline")


@dataclass(frozen=True)
class Block:
    """A block of markdown, or the non-blank lines between blocks (kind `loose`).

    Attributes:
        kind: what it is; `loose` are lines that show nothing, such as link definitions.
        first_line: its first line in the source.
        end_line: the line behind its last one.
        level: 1-6 of a heading, else 0.
        content: raw inline text of a heading or paragraph; info string of a fence.
        markup: the run of backticks or tildes of a fence.
        closed: False of a fence without a closing line, which runs to the end of what holds it.
        children: items of a list; blocks of an item or a quote.
    """

    kind: BlockKind
    first_line: int
    end_line: int
    level: int = 0
    content: str = ""
    markup: str = ""
    closed: bool = True
    children: tuple["Block", ...] = ()


def parse_blocks(source: Source) -> tuple[Block, ...]:
    """The top-level blocks; together they cover every non-blank line once, in order."""
    root: list[Block] = []
    open_blocks: list[tuple[Token, str, list[Block]]] = []
    tokens = _PARSER.parse(source.text)
    for index, token in enumerate(tokens):
        kind = _KINDS.get(token.type.removesuffix("_open").removesuffix("_close"))
        if kind is None:
            continue
        if token.nesting > 0:
            inline = tokens[index + 1].content if kind in ("heading", "paragraph") else ""
            open_blocks.append((token, inline, []))
            continue
        opener, content, children = (
            open_blocks.pop() if token.nesting < 0 else (token, token.info.strip(), [])
        )
        siblings = open_blocks[-1][2] if open_blocks else root
        siblings.extend(_block(kind, opener, content, children, source))
    return tuple(_covering(root, 0, source.n_lines, source))


def code_blocks(blocks: Iterable[Block]) -> Iterator[Block]:
    """Fences and indented code at any depth, in document order."""
    for block in blocks:
        if block.kind in CODE:
            yield block
        yield from code_blocks(block.children)


def _block(
    kind: BlockKind, opener: Token, content: str, children: list[Block], source: Source
) -> Iterator[Block]:
    """The token as a block without blank lines at its edges; none where nothing is left."""
    assert opener.map is not None, "every block token of the parser has its lines"
    first_line, end_line = source.trimmed(*opener.map)
    if first_line == end_line:
        return
    yield Block(
        kind=kind,
        first_line=first_line,
        end_line=end_line,
        level=int(opener.tag[1]) if kind == "heading" else 0,
        content=content,
        markup=opener.markup if kind == "fence" else "",
        closed=kind != "fence" or _has_closing_line(opener),
        children=tuple(_covering(children, first_line, end_line, source)) if children else (),
    )


def _has_closing_line(fence: Token) -> bool:
    assert fence.map is not None, "every block token of the parser has its lines"
    content = fence.content
    lines = content.count("\n") + (1 if content and not content.endswith("\n") else 0)
    return fence.map[1] - fence.map[0] == lines + 2


def _covering(
    blocks: list[Block], first_line: int, end_line: int, source: Source
) -> Iterator[Block]:
    """The blocks, with `loose` ones for the non-blank lines that none of them covers."""
    position = first_line
    for block in blocks:
        yield from _loose(position, block.first_line, source)
        yield block
        position = block.end_line
    yield from _loose(position, end_line, source)


def _loose(first_line: int, end_line: int, source: Source) -> Iterator[Block]:
    first_line, end_line = source.trimmed(first_line, end_line)
    if first_line < end_line:
        yield Block(kind="loose", first_line=first_line, end_line=end_line)

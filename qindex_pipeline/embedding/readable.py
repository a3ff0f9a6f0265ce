"""A passage as its reader sees it: words and code, without the addresses behind the links.

Addresses are no words that anyone asks for, they fill an embedder's window, and they change
when a site moves.
"""

import re

from qindex_pipeline.chunking.blocks import CODE, Block, parse_blocks
from qindex_pipeline.chunking.source import normalise

# A code span, kept; or `[text](address "title")` and `![alt](address)`, whose text and address
# may hold one more pair of brackets.
_LINK = re.compile(
    r"(?P<code>(?P<ticks>`+)(?:[^`]|(?!(?P=ticks))`)+(?P=ticks))"
    r"|!?\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]"
    r"\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)"
)


def readable(markdown: str) -> str:
    """Markdown with links and images replaced by their text; code stays as it is."""
    source = normalise(markdown)
    lines = list(source.lines)
    for block in parse_blocks(source):
        if block.kind not in CODE:
            _replace_links(lines, block)
    return "\n".join(lines)


def _replace_links(lines: list[str], block: Block) -> None:
    text = "\n".join(lines[block.first_line : block.end_line])
    if "](" not in text:
        return
    # A link's text may span lines: the block keeps its number of lines, the last ones empty.
    shown = _LINK.sub(lambda found: found["code"] or found["text"], text).split("\n")
    height = block.end_line - block.first_line
    lines[block.first_line : block.end_line] = (shown + [""] * height)[:height]

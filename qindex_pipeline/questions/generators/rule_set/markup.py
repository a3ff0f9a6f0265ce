"""What the rules see of a chunk: sections of blocks, each with its place in the source.

Text has its markup removed and every code span replaced by one private-use character, so that
no rule cuts, lower-cases or splits code; `Codes.restore` puts it back. Offsets point into the
chunk's text: a slice of it is verbatim by construction.
"""

import re
from dataclasses import dataclass, field
from typing import Literal

_CODE_BASE = 0xF0000
_CODE = re.compile("[\U000f0000-\U0010ffff]")
_UNSAFE = re.compile("[\x00\ud800-\udfff\ue000-\uf8ff\U000f0000-\U0010ffff]")
BlockKind = Literal["paragraph", "item", "code", "row"]


@dataclass
class Codes:
    """The code spans of one chunk, in order. Each stands in the text as one character."""

    spans: list[str] = field(default_factory=list[str])
    _numbers: dict[str, int] = field(default_factory=dict[str, int])

    def mask(self, code: str) -> str:
        """The character that stands for the code; the same for the same code."""
        span = " ".join(code.split())
        number = self._numbers.setdefault(span, len(self.spans))
        if number == len(self.spans):
            self.spans.append(span)
        return chr(_CODE_BASE + number)

    def restore(self, text: str) -> str:
        """The text with its code back in place."""
        return _CODE.sub(lambda found: self.spans[ord(found[0]) - _CODE_BASE], text)


@dataclass(frozen=True)
class Sentence:
    """One sentence without markup, and where it stands in the chunk."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Block:
    """One paragraph, list item, code block or table row.

    Attributes:
        text: The text without markup; the code of a code block, unmasked.
        start: First character in the chunk.
        end: Character behind the last one.
        cells: Cells of a table row.
        header: Header cells of the row's table.
        link_chars: Characters of the text that are link text.
        strong: The bold text that opens the block, or "".
        sentences: Sentences of a paragraph or item.
    """

    kind: BlockKind
    text: str
    start: int
    end: int
    cells: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    link_chars: int = 0
    strong: str = ""
    sentences: tuple[Sentence, ...] = ()


@dataclass(frozen=True)
class Section:
    """A heading with the headings above it, outermost first, and the blocks below it."""

    path: tuple[str, ...]
    in_text: bool
    blocks: tuple[Block, ...]

    @property
    def heading(self) -> str:
        """The section's own heading, or "" in front of the first one."""
        return self.path[-1] if self.path else ""


def is_code(character: str) -> bool:
    """Whether the character stands for a code span."""
    return ord(character) >= _CODE_BASE


def without_unsafe(text: str) -> str:
    """The text without what parsers refuse and what stands for code, at the same length."""
    return _UNSAFE.sub("\ufffd", text)

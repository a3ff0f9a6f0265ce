"""The normalised markdown of a page, which every span of a chunk points into.

Normalising takes away only what cannot be shown or stored (byte order mark, NUL, carriage
returns, lone surrogates) and front matter, which is metadata of the page and not its text.
"""

import re
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from qindex_pipeline.chunking.words import count_half_words

# Four bytes a number: a page of millions of lines would need ten times that as a list.
_OFFSET = "I"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_FEED = re.compile("\n")
_FENCES = {"---": ("---", "..."), "+++": ("+++",)}
_KEY = re.compile(r"[\w\"'][^:=]*[:=]")
_CONTINUATION = re.compile(r"\s|[-#\]}]|$")


@dataclass(frozen=True)
class Source:
    """Normalised markdown, with the front matter that stood before it (or nothing)."""

    text: str
    front_matter: str = ""

    @property
    def lines(self) -> list[str]:
        """All lines without their line feeds; only a line feed ends a line."""
        return self.text.split("\n")

    @cached_property
    def line_starts(self) -> Sequence[int]:
        """Character offset of each line, and one more for the end of the text."""
        starts = array(_OFFSET, [0])
        starts.extend(match.end() for match in _LINE_FEED.finditer(self.text))
        starts.append(len(self.text) + 1)
        return starts

    @property
    def n_lines(self) -> int:
        """Number of lines, at least one."""
        return len(self.line_starts) - 1

    def line(self, number: int) -> str:
        """The line without its line feed."""
        return self.text[self.line_starts[number] : self.line_starts[number + 1] - 1]

    def words(self, first_line: int, end_line: int) -> int:
        """Words of a line range, as `count_words` counts them."""
        return (self._half_words[end_line] - self._half_words[first_line] + 1) // 2

    @cached_property
    def _half_words(self) -> Sequence[int]:
        """Half words above each line, and one more for the whole text: no word spans lines."""
        counts, total = array(_OFFSET, [0]), 0
        for start, end in pairwise(self.line_starts):
            total += count_half_words(self.text[start:end])
            counts.append(total)
        return counts

    def line_at(self, offset: int) -> int:
        """Number of the line, from 0, that holds the character at `offset`."""
        return bisect_right(self.line_starts, offset) - 1

    def trimmed(self, first_line: int, end_line: int) -> tuple[int, int]:
        """The line range without blank lines at its edges; empty where all are blank."""
        while first_line < end_line and not self.line(first_line).strip():
            first_line += 1
        while first_line < end_line and not self.line(end_line - 1).strip():
            end_line -= 1
        return first_line, end_line

    def span(self, first_line: int, end_line: int) -> tuple[int, int]:
        """Character range of a line range, without the last line feed."""
        return self.line_starts[first_line], self.line_starts[end_line] - 1


def normalise(markdown: str) -> Source:
    """Markdown as the chunker reads it; see the module's docstring for what is taken away.

    A lone surrogate, which no table can store, becomes U+FFFD: one character for another, so
    that offsets stay.
    """
    text = markdown.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = _LONE_SURROGATE.sub("\ufffd", text.replace("\0", ""))
    end = _front_matter_end(text)
    return Source(text[end:], text[:end])


def _front_matter_end(text: str) -> int:
    """Offset behind YAML or TOML front matter, 0 where there is none.

    A page may also begin with a thematic break, so every line up to the closing mark must
    look like front matter.
    """
    closers = _FENCES.get(text[:3])
    if closers is None or text[3:4] != "\n":
        return 0
    position, keys = 4, 0
    while position < len(text):
        line_end = text.find("\n", position)
        line_end = len(text) if line_end < 0 else line_end
        line = text[position:line_end].rstrip()
        position = line_end + 1
        if line in closers:
            return min(position, len(text)) if keys else 0
        is_key = bool(_KEY.match(line))
        if not is_key and not _CONTINUATION.match(line):
            return 0
        keys += is_key
    return 0

"""The normalised markdown of a page, which every span of a chunk points into.

Normalising takes away only what cannot be shown or stored (byte order mark, NUL, carriage
returns, lone surrogates) and front matter, which is metadata of the page and not its text.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_FENCES = {"---": ("---", "..."), "+++": ("+++",)}
_KEY = re.compile(r"[\w\"'][^:=]*[:=]")
_CONTINUATION = re.compile(r"\s|[-#\]}]|$")


@dataclass(frozen=True)
class Source:
    """Normalised markdown, with the front matter that stood before it (or nothing)."""

    text: str
    front_matter: str = ""

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their line feeds; only a line feed ends a line."""
        return self.text.split("\n")

    @cached_property
    def line_starts(self) -> list[int]:
        """Character offset of each line, and one more for the end of the text."""
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line) + 1)
        return starts

    def line_at(self, offset: int) -> int:
        """Number of the line, from 0, that holds the character at `offset`."""
        return bisect_right(self.line_starts, offset) - 1

    def trimmed(self, first_line: int, end_line: int) -> tuple[int, int]:
        """The line range without blank lines at its edges; empty where all are blank."""
        while first_line < end_line and not self.lines[first_line].strip():
            first_line += 1
        while first_line < end_line and not self.lines[end_line - 1].strip():
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

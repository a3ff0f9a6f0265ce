"""Plain lines for people, readable at 100 columns and without a page's control characters."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlsplit

from qindex_pipeline.console import printable

WIDTH = 100

_GAP = "  "


def cut(text: str, width: int) -> str:
    """The text on one line of at most `width` characters, with an ellipsis where it is longer."""
    line = " ".join(printable(text).split())
    return line if len(line) <= width else f"{line[: max(0, width - 2)].rstrip()} …"


def wrapped(text: str, indent: str = "", first: str | None = None) -> list[str]:
    """The text in lines of at most WIDTH characters; a longer word stands on a line of its own.

    Args:
        text: What is said.
        indent: Before every line.
        first: Before the first line instead.
    """
    return textwrap.wrap(
        printable(text),
        WIDTH,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def grid(header: Sequence[str], rows: Iterable[Sequence[str]], indent: str = "  ") -> Iterator[str]:
    """Rows in columns under a header; the last column takes what is left of a line."""
    cells = [header, *([" ".join(printable(cell).split()) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header) - 1)]
    room = WIDTH - len(indent) - sum(widths) - len(_GAP) * len(widths)
    for row in cells:
        fixed = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield f"{indent}{_GAP.join([*fixed, cut(row[-1], room)])}".rstrip()


def address(url: str, anchor: str | None) -> str:
    """A page without its scheme and host, which every line would repeat."""
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.path or '/'}{query}{f'#{anchor}' if anchor else ''}"

"""The texts that are embedded: windows of a chunk and questions, each behind its place.

`Page > Section` stands before every passage and every question: a bare question loses 6 to
18 points of page hit@1 (see the design's retrieval section). A chunk longer than the embedder
reads becomes several windows; nothing is ever cut off.
"""

import re
from collections.abc import Callable, Iterator, Sequence

CountTokens = Callable[[Sequence[str]], list[int]]

PLACE_SHARE = 4
"""The place takes at most this fraction of a window: 1/4, so that the text keeps most of it."""

LEAST_ROOM = 4
"""Tokens that a window leaves for text at least: any one character in bytes."""


def place(title: str, heading_path: Sequence[str]) -> str:
    """`Page > Section > Subsection`, without a heading that only repeats the page's title."""
    path = [heading for heading in heading_path if heading.strip() != title.strip()]
    return " > ".join(part.strip() for part in (title, *path) if part.strip())


def at_place(where: str, text: str) -> str:
    """`text` behind its place, as it is embedded."""
    return f"{where}\n{text}" if where else text


def windows(where: str, text: str, max_tokens: int, count_tokens: CountTokens) -> list[str]:
    """Cut `text` into windows that fit the embedder with their place before them.

    Cuts fall between lines, else between words, else inside a word that alone is too long.

    Args:
        where: The place; cut to a quarter of a window when it is longer.
        text: The chunk's own text.
        max_tokens: What the embedder reads, the place included.
        count_tokens: The embedder's counter.

    Returns:
        Texts to embed, at least one; without their places they join to the words of `text`.
    """
    where = _shorten(where, max_tokens // PLACE_SHARE, count_tokens)
    whole = at_place(where, text)
    if count_tokens([whole])[0] <= max_tokens:
        return [whole]
    frame = count_tokens([""])[0]

    def count(texts: Sequence[str]) -> list[int]:
        return [tokens - frame for tokens in count_tokens(texts)]

    # One token more for the line end between place and text.
    room = max(LEAST_ROOM, max_tokens - count_tokens([where])[0] - 1)
    while True:
        cut = [at_place(where, window) for window in _pack(text, room, count)]
        # A tokenizer may make more of a window than of its pieces.
        if room == LEAST_ROOM or max(count_tokens(cut)) <= max_tokens:
            return cut
        room = max(LEAST_ROOM, room * 3 // 4)


def _shorten(where: str, max_tokens: int, count_tokens: CountTokens) -> str:
    words = where.split()
    while words and count_tokens([" ".join(words)])[0] > max_tokens:
        words = words[: len(words) * 3 // 4]
    return " ".join(words)


def _pack(text: str, room: int, count_tokens: CountTokens) -> Iterator[str]:
    pieces = list(_pieces(text, room, count_tokens))
    lengths = count_tokens(pieces) if pieces else []
    window, used = "", 0
    for piece, length in zip(pieces, lengths, strict=True):
        if window and used + length > room:
            yield window.strip()
            window, used = "", 0
        window += piece
        used += length
    if window.strip():
        yield window.strip()


def _pieces(text: str, room: int, count_tokens: CountTokens) -> Iterator[str]:
    """Pieces of at most `room` tokens: lines, else words, else slices of a word."""
    for pattern in (r"[^\n]*\n+|[^\n]+", r"\s*\S+\s*"):
        parts = re.findall(pattern, text)
        if len(parts) > 1:
            break
    else:
        parts = [text]
    for part, length in zip(parts, count_tokens(parts), strict=True):
        if not part.strip():
            continue
        if length <= room:
            yield part
        elif len(parts) > 1:
            yield from _pieces(part, room, count_tokens)
        else:
            middle = len(part) // 2
            yield from _pieces(part[:middle], room, count_tokens)
            yield from _pieces(part[middle:], room, count_tokens)

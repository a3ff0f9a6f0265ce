"""Cutting running text: sentences first, then clauses, spaces and, last, between words.

Inline code, links and images stay whole. Every function works with offsets, so that what they
cut can always be put together again.
"""

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise

from sentencex import segment  # pyright: ignore[reportAttributeAccessIssue]  # compiled, no stubs

from qindex_pipeline.chunking.words import count_half_words, count_words, word_starts

Span = tuple[int, int]
_Cutter = Callable[[str], Iterable[int]]

# The splitter is quadratic in the number of quotation marks: it gets this much at a time.
_WINDOW = 2000
_BACKTICKS = re.compile("`+")
# A link or image, with at most one level of brackets in its target, or an autolink. Possessive
# quantifiers keep the search linear on brackets that never close.
_LINK = re.compile(r"!?\[[^\[\]]*+\]\((?:[^()]|\([^()]*+\))*+\)|<[^<>\s]++>")
_MARKUP = re.compile(r"[\W_]")
# The splitter ends a sentence behind "Dr." before some words, and behind an item's number.
_NO_END = re.compile(r"(?:.*[\s(])?(?:Dr|Mr|Mrs|Ms|Prof|St)\.\s*|\s*\d{1,3}[.)]\s*", re.DOTALL)
_LONGEST_NO_END = 20
_SEMICOLON = re.compile(r";\s+|；")
_COMMA = re.compile(r",\s+|[，、]")
_SPACE = re.compile(r"\s+")


def sentences(text: str, lang: str) -> Iterator[Span]:
    """The sentences of a paragraph; the spans join to the whole text.

    Args:
        text: one paragraph of markdown.
        lang: ISO 639-1 code; an unknown one is treated like English.
    """
    masked = _masked(text, _protected(text))
    return _between(_certain_ends(masked, lang), len(text))


def cut(text: str, limit: int) -> list[Span]:
    """Cut text behind semicolons, commas or spaces, last between words, to `limit` words.

    The spans join to the whole text. A longer one is a token without a place to cut it.
    """
    return list(_cut(text, limit, _CUTTERS))


def pack_spans(text: str, spans: Iterable[Span], limit: int) -> Iterator[Span]:
    """Join neighbouring spans of `text`, greedily, while they hold at most `limit` words."""
    packed: Span | None = None
    size = 0
    for start, end in spans:
        added = count_half_words(text[start:end])
        if packed and size + added <= 2 * limit:
            packed = packed[0], end
            size += added
            continue
        if packed:
            yield packed
        packed, size = (start, end), added
    if packed:
        yield packed


def trimmed(text: str, span: Span) -> Span:
    """The span without white space at its edges."""
    start, end = span
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def tail(text: str, limit: int, lang: str) -> str:
    """The end of `text`, at most `limit` characters: whole sentences, else whole words."""
    text = text.rstrip()
    earliest = len(text) - limit
    starts = [start for start, _ in sentences(text, lang)]
    for candidates in (starts, list(_behind_spaces(text))):
        first = bisect_left(candidates, earliest)
        if first < len(candidates):
            return text[candidates[first] :]
    return ""


def code_spans(text: str) -> Iterator[Span]:
    """Inline code: from a run of backticks to the next run of the same length."""
    runs = [match.span() for match in _BACKTICKS.finditer(text)]
    by_length: dict[int, list[int]] = {}
    for index, (start, end) in enumerate(runs):
        by_length.setdefault(end - start, []).append(index)
    index = 0
    while index < len(runs):
        start, end = runs[index]
        same = by_length[end - start]
        following = bisect_right(same, index)
        if following < len(same):
            index = same[following]
            yield start, runs[index][1]
        index += 1


def _cut(text: str, limit: int, cutters: Sequence[_Cutter]) -> Iterator[Span]:
    if not cutters or count_words(text) <= limit:
        return iter([(0, len(text))])
    return pack_spans(text, _pieces(text, limit, cutters), limit)


def _pieces(text: str, limit: int, cutters: Sequence[_Cutter]) -> Iterator[Span]:
    """Pieces between the places of the first cutter; what is still too long, by the others."""
    for start, end in _between(cutters[0](text), len(text)):
        if end - start <= limit:
            yield start, end
            continue
        for left, right in _cut(text[start:end], limit, cutters[1:]):
            yield start + left, start + right


def _behind(pattern: re.Pattern[str]) -> _Cutter:
    """A cutter behind each match of `pattern` that is not in inline code or a link."""

    def cutter(text: str) -> Iterator[int]:
        ends = (match.end() for match in pattern.finditer(text))
        spans = _protected(text)
        return _outside(spans, ends) if spans else ends

    return cutter


def _behind_any_space(text: str) -> Iterator[int]:
    return (match.end() for match in _SPACE.finditer(text))


_behind_spaces = _behind(_SPACE)
_CUTTERS: tuple[_Cutter, ...] = (
    _behind(_SEMICOLON),
    _behind(_COMMA),
    _behind_spaces,
    _behind_any_space,
    word_starts,  # never before a combining mark: no word begins with one
)


def _between(cuts: Iterable[int], length: int) -> Iterator[Span]:
    ends = pairwise(chain((0,), cuts, (length,)))
    return (span for span in ends if span[0] < span[1])


def _outside(spans: list[Span], cuts: Iterable[int]) -> Iterator[int]:
    """The sorted cuts that are not inside one of the sorted, disjoint spans."""
    following = iter(spans)
    nothing = sys.maxsize, sys.maxsize
    start, end = next(following, nothing)
    for position in cuts:
        while end <= position:
            start, end = next(following, nothing)
        if position <= start:
            yield position


def _certain_ends(text: str, lang: str) -> Iterator[int]:
    """Ends of sentences without those that only look like one, and without the last."""
    last, start = len(text.rstrip()), 0
    for end in _sentence_ends(text, lang):
        close = text[max(start, end - _LONGEST_NO_END) : end]
        if end < last and not _NO_END.fullmatch(close):
            yield end
            start = end


def _sentence_ends(text: str, lang: str) -> Iterator[int]:
    position = 0
    while position < len(text):
        window = text[position : position + _WINDOW]
        lengths = [len(sentence) for sentence in segment(lang, window)]
        if position + len(window) == len(text):
            for length in lengths:
                position += length
                yield position
            return
        # The last sentence may go on behind the window, so it is read again from its start.
        if len(lengths) < 2:
            position += len(window)
        for length in lengths[:-1]:
            position += length
            yield position


def _protected(text: str) -> list[Span]:
    """Inline code, links, images and autolinks, in order; those that overlap are joined."""
    spans = sorted([*code_spans(text), *(match.span() for match in _LINK.finditer(text))])
    joined: list[Span] = []
    for start, end in spans:
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _masked(text: str, spans: list[Span]) -> str:
    """The text with markup in the spans, and stray backticks, made plain letters.

    Same length; nothing in a span can end a sentence, and the span still begins like the word
    that it shows.
    """
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        pieces.append(text[position:start])
        pieces.append(_MARKUP.sub("x", text[start:end]))
        position = end
    pieces.append(text[position:])
    return "".join(pieces).replace("`", "x")

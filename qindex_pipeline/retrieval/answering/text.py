"""From a model's text, as it streams in, to the parts of an answer.

Held back until it is clear what it is: a beginning that may become a refusal, a bracket that may
become a citation, white space that may stand before one.
"""

import logging
import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing

from qindex_pipeline.retrieval.answering.answerer import NOT_ANSWERED, Cited, Ended, Part
from qindex_pipeline.retrieval.answering.prompt import NO_ANSWER
from qindex_pipeline.retrieval.result import REFUSAL

_LOG = logging.getLogger(__name__)

EMPTY = Ended(refused=True, reason="the model gave an empty answer")

_REFUSALS = (NO_ANSWER.casefold(), REFUSAL.casefold())
"""The word that the model is told, and the sentence that it may know from elsewhere."""

_ORNAMENTS = " \n\r\t\"'*_`>“"
_THINKING, _THOUGHT = "<think>", "</think>"
_NUMBER = re.compile(r"\d+")
_MARK = re.compile(
    r"(?P<fence>`+|~{3,})|(?P<blank>\n[ \t]*\n)|(?P<citation>\s*\[\d+(?:\s*[,;]\s*\d+)*\])"
)
# What a mark may begin with, at the end of what has come so far.
_UNFINISHED = re.compile(r"(?:`+|~+|\s+|\s*\[[\d,;\s]{0,40})\Z")


def read_answer(pieces: Generator[str | Ended], given: int) -> Iterator[Part]:
    """The parts of an answer that a model writes.

    Args:
        pieces: The model's text; `Ended` where it did not simply end. Closed when a refusal is
            recognised, whatever would follow.
        given: Number of passages that the model was given. A citation of any other is dropped
            and logged.
    """
    citations = _Citations(given)
    head, ending = "", None
    with closing(pieces):
        for piece in without_thinking(pieces):
            if isinstance(piece, Ended):
                ending = piece
                break
            if head is None:
                yield from citations.feed(piece)
                continue
            head += piece
            if _is_refusal(head):
                yield NOT_ANSWERED
                return
            if not _may_become_refusal(head):
                yield from citations.feed(head.lstrip())
                head = None
    if head is not None and not head.strip():
        yield Ended(refused=True, reason=ending.reason) if ending else EMPTY
        return
    yield from citations.end(head or "")
    if ending is not None:
        yield ending


def without_thinking(pieces: Iterable[str | Ended]) -> Iterator[str | Ended]:
    """The pieces without the `<think>` block that some local models write before their answer.

    A block that never ends leaves nothing: it is no answer.
    """
    head: str | None = ""
    for piece in pieces:
        if head is None or isinstance(piece, Ended):
            yield piece
            continue
        head = (head + piece).lstrip()
        if not _THINKING.startswith(head[: len(_THINKING)]):
            yield head
            head = None
        elif _THOUGHT in head:
            yield head.partition(_THOUGHT)[2]
            head = None


def _is_refusal(head: str) -> bool:
    return _plain(head).startswith(_REFUSALS)


def _may_become_refusal(head: str) -> bool:
    plain = _plain(head)
    return any(refusal.startswith(plain) for refusal in _REFUSALS)


def _plain(head: str) -> str:
    return head.lstrip(_ORNAMENTS).replace("’", "'").casefold()


class _Citations:
    """Finds citations in text that arrives in pieces; brackets in code are no citations."""

    def __init__(self, given: int) -> None:
        self._given = given
        self._held = ""
        self._fence = ""

    def feed(self, text: str) -> Iterator[str | Cited]:
        """What is certain, now that `text` has come."""
        self._held += text
        unfinished = _UNFINISHED.search(self._held)
        end = unfinished.start() if unfinished else len(self._held)
        certain, self._held = self._held[:end], self._held[end:]
        yield from self._read(certain)

    def end(self, text: str) -> Iterator[str | Cited]:
        """The rest, with `text` as its last piece; white space at the end is dropped."""
        rest, self._held = (self._held + text).rstrip(), ""
        yield from self._read(rest)

    def _read(self, text: str) -> Iterator[str | Cited]:
        position = 0
        for mark in _MARK.finditer(text):
            if mark["citation"] and not self._fence:
                if position < mark.start():
                    yield text[position : mark.start()]
                yield from self._cited(mark["citation"])
                position = mark.end()
            elif not mark["citation"]:
                self._follow(mark)
        if position < len(text):
            yield text[position:]

    def _follow(self, mark: re.Match[str]) -> None:
        """Keep track of whether code is open. Inline code ends with its paragraph."""
        fence = mark["fence"]
        if not fence:
            self._fence = self._fence if len(self._fence) >= 3 else ""
        elif not self._fence:
            self._fence = fence
        elif fence == self._fence or (len(self._fence) >= 3 and fence.startswith(self._fence)):
            self._fence = ""

    def _cited(self, mark: str) -> Iterator[str | Cited]:
        numbers = [int(number) for number in _NUMBER.findall(mark)]
        known = [number for number in numbers if 1 <= number <= self._given]
        for number in numbers:
            if number not in known:
                _LOG.warning(
                    "the answer cites [%d], but passages 1 to %d were given: citation dropped",
                    number,
                    self._given,
                )
        before = mark[: mark.index("[")]
        if known and before:
            yield before
        yield from (Cited(number) for number in known)

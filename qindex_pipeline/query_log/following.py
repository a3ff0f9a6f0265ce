"""What is taken down of an answer: while its text is written, or when nobody reads on."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from qindex_pipeline.query_log.masking import masked
from qindex_pipeline.retrieval.answering.answerer import Cited, Ended, Part
from qindex_pipeline.retrieval.result import Answer

Row = dict[str, Any]


def answered_row(answer: Answer, pages: Sequence[str], refused: bool | None = None) -> Row:
    """What is kept of an answer, without the time and the id of the ask.

    Args:
        answer: Its results; nothing else of who asked is known here.
        pages: URLs of the pages that it rests on.
        refused: Whether it was refused, where that was decided after the search.
    """
    results = answer.results
    return {
        "site": answer.site or (results[0].site if results else None),
        "question": masked(answer.question),
        "confidence": max((result.confidence for result in results), default=None),
        "threshold": answer.threshold,
        "refused": answer.refused if refused is None else refused,
        "pages": list(dict.fromkeys(pages)),
        "nearest": results[0].url if results else None,
    }


class Followed:
    """The parts of an answer, handed on; the ask is added when they end, however they end.

    A stream that is never read, or not to its end, is added when it is collected.
    """

    _add: Callable[[Row], None] | None = None

    def __init__(self, ranked: Answer, parts: Iterable[Part], add: Callable[[Row], None]) -> None:
        """Hand on `parts`, which are written from what `ranked` found."""
        self._ranked, self._parts = ranked, iter(parts)
        self._cited: list[str] = []
        self._refused = ranked.refused
        self._add = add

    def __iter__(self) -> Iterator[Part]:
        return self

    def __next__(self) -> Part:
        try:
            part = next(self._parts)
        except BaseException:  # also the end, and what a provider raises: it was asked
            self._finish()
            raise
        if isinstance(part, Cited):
            self._cited.append(self._ranked.passing[part.number - 1].url)
        elif isinstance(part, Ended):
            self._refused = part.refused
        return part

    def __del__(self) -> None:
        self._finish()

    def _finish(self) -> None:
        add, self._add = self._add, None
        if add is not None:
            pages = self._cited or [result.url for result in self._ranked.passing]
            add(answered_row(self._ranked, [] if self._refused else pages, self._refused))

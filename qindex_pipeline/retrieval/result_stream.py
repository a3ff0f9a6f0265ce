"""An answer as it is written: its text in pieces, and in the end the whole `Answer`."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace

from qindex_pipeline.errors import WorkError
from qindex_pipeline.retrieval.answering.answerer import Cited, Ended, Part
from qindex_pipeline.retrieval.result import REFUSAL, Answer, Result, citations

CUT_OFF_MARK = " …"
"""Closes the text of an answer that was cut off."""


class AnswerStream:
    """The text of an answer, to iterate over once; `answer` is the whole, with its sources.

    stream = index.stream("How do I install it?")
    for text in stream:
        print(text, end="", flush=True)
    print(stream.answer.citations)

    The pieces join to `answer.answer`, but where a model breaks off by declining: the answer is
    then the refusal alone.
    """

    def __init__(self, ranked: Answer, parts: Iterable[Part], started: float) -> None:
        """Write `parts` into `ranked`.

        Args:
            ranked: The answer so far: its results, without a text.
            parts: What the answerer writes.
            started: `time.perf_counter()` when the question came.
        """
        self._ranked, self._started = ranked, started
        self._answer: Answer | None = None
        self._sources: dict[str, Result] = {}
        self._texts = self._written(parts)

    def __iter__(self) -> Iterator[str]:
        return self._texts

    @property
    def results(self) -> list[Result]:
        """The ranked chunks, known before the answer is written."""
        return self._ranked.results

    @property
    def answer(self) -> Answer:
        """The whole answer; reads what was not iterated over yet.

        Raises WorkError when the provider fails, and when it failed before.
        """
        for _ in self._texts:
            pass
        if self._answer is None:
            raise WorkError("the answer broke off: ask again")
        return self._answer

    def _written(self, parts: Iterable[Part]) -> Iterator[str]:
        written: list[str] = []
        ending: Ended | None = None
        last = 0
        for part in parts:
            if isinstance(part, Ended):
                ending = part
                continue
            number = self._number(part) if isinstance(part, Cited) else 0
            # Two parts of a section share an address: [1][1] would say the same twice.
            if number and number == last:
                continue
            last = number
            text = f"[{number}]" if isinstance(part, Cited) else part
            written.append(text)
            yield text
        if ending is not None:
            closing = _closing(ending, bool(written))
            written.append(closing)
            yield closing
        self._answer = self._finished("".join(written), ending)

    def _number(self, cited: Cited) -> int:
        """The citation's number in this answer, by order of first mention."""
        result = self._ranked.passing[cited.number - 1]
        self._sources.setdefault(result.citation, result)
        return 1 + list(self._sources).index(result.citation)

    def _finished(self, text: str, ending: Ended | None) -> Answer:
        refused = ending is not None and ending.refused
        cited = self._sources.values() or self._ranked.passing
        answer = replace(
            self._ranked,
            refused=refused,
            reason=ending.reason if ending else None,
            answer=REFUSAL if refused else text,
            citations=[] if refused else citations(cited),
        )
        return answer.after(time.perf_counter() - self._started)


def _closing(ending: Ended, has_text: bool) -> str:
    """What is shown behind a text that did not simply end."""
    if not ending.refused:
        return CUT_OFF_MARK
    return f"\n\n{REFUSAL}" if has_text else REFUSAL

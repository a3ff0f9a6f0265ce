"""What an answerer is, and what an answer arrives as.

An answerer sees only results that passed the threshold, and is never called without one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from qindex_pipeline.retrieval.result import Result


@dataclass(frozen=True)
class Cited:
    """A citation inside an answer.

    Attributes:
        number: Position of the cited result among those that the answerer was given, from 1.
    """

    number: int


@dataclass(frozen=True)
class Ended:
    """How an answer ended that did not simply end.

    Attributes:
        refused: Whether what was written before, if anything, is no answer.
        reason: What happened, in one line for people.
    """

    refused: bool
    reason: str


Part = str | Cited | Ended
"""What an answer arrives as; `Ended`, if it comes at all, comes last."""

NOT_ANSWERED = Ended(refused=True, reason="the passages do not answer it")


class Answerer(Protocol):
    """Writes an answer from passing results."""

    def stream(self, question: str, results: Sequence[Result]) -> Iterator[Part]:
        """The answer, piece by piece, as it is written.

        Raises WorkError when the provider fails, also in the middle of an answer.
        """
        ...

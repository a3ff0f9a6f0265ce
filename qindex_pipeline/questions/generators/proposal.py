"""What every generator of candidate questions returns."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Proposal:
    """A question about one chunk and the words of the chunk that answer it.

    Attributes:
        question: One self-contained question.
        evidence: A verbatim part of the chunk's own text.
    """

    question: str
    evidence: str

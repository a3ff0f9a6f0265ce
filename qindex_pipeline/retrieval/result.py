"""What asking returns: results, citations, and the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from qindex_pipeline.retrieval.fusion import Ranked
from qindex_pipeline.retrieval.legs import Leg

REFUSAL = "I don't have enough information about that"
"""The whole answer when no result passes the threshold."""


@dataclass(frozen=True)
class Result:
    """A ranked chunk, with the question that led to it."""

    rank: int
    chunk_id: str
    site: str
    url: str
    anchor: str | None
    title: str
    heading_path: list[str]
    text: str
    matched_question: str | None
    evidence: str | None
    confidence: float
    confident: bool
    score: float
    legs: Mapping[Leg, float | None]

    @property
    def citation(self) -> str:
        """`url#anchor`, the address a reader is sent to."""
        return f"{self.url}#{self.anchor}" if self.anchor else self.url

    @property
    def place(self) -> str:
        """`Page > Section`, for people and for titles of citations."""
        path = [heading for heading in self.heading_path if heading != self.title]
        return " > ".join([self.title, *path])


@dataclass(frozen=True)
class Citation:
    """A source of an answer."""

    url: str
    title: str


@dataclass(frozen=True)
class Answer:
    """The answer to a question; `refused` says that nothing passed the threshold."""

    question: str
    normalized_query: str
    site: str | None
    threshold: float
    refused: bool
    reason: str | None
    answer: str | None
    citations: list[Citation]
    results: list[Result]
    fingerprint: str
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The fields of `qindex ask --json`."""
        return asdict(self)


def judge(rank: int, item: Ranked, passage: Mapping[str, Any], limit: float) -> Result:
    """A ranked chunk with its passage's payload, held against the threshold `limit`."""
    question = item.question or {}
    return Result(
        rank=rank,
        chunk_id=item.chunk_id,
        site=passage["site"],
        url=passage["url"],
        anchor=passage["anchor"],
        title=passage["title"],
        heading_path=list(passage["heading_path"]),
        text=passage["text"],
        matched_question=question.get("question"),
        evidence=question.get("evidence"),
        confidence=item.confidence,
        confident=item.confidence >= limit,
        score=item.score,
        legs=item.legs,
    )


def reason(results: Sequence[Result], passing: Sequence[Result], limit: float) -> str:
    """Why nothing was answered, in one line."""
    if passing:
        return "the passages that were found do not answer it"
    best = max((result.confidence for result in results), default=None)
    if best is None:
        return "nothing was found"
    return f"the best result has confidence {best:.2f}, the threshold is {limit:.2f}"


def citations(passing: Sequence[Result]) -> list[Citation]:
    """The sources of an answer, best first, each address once."""
    titles = {result.citation: result.place for result in reversed(passing)}
    return [
        Citation(url, titles[url]) for url in dict.fromkeys(result.citation for result in passing)
    ]

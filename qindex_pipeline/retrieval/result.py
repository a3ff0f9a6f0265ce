"""What asking returns: results, citations, and the answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from qindex_pipeline.retrieval.fusion import Ranked
from qindex_pipeline.retrieval.legs import Leg

REFUSAL = "I don't have enough information about that"
"""The whole answer to a question that is refused."""


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
    lang: str = "en"
    """Language of the page, for cutting its text into sentences; no field of the JSON output."""

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
    """The answer to a question.

    Attributes:
        question: As it was asked.
        normalized_query: What was looked up.
        site: The only site that was asked, None for all.
        threshold: Confidence that a result needed.
        refused: Whether the question is not answered; `answer` is then REFUSAL.
        reason: Why it was refused, or what an answer that was cut off lacks; None for a good one.
        answer: The text; its `[n]` is the n-th of `citations`. None where none was wanted.
        citations: What the answer cites, in order of first mention; all passing results' addresses
            where a model cited none of them.
        results: The ranked chunks, passing or not.
        fingerprint: Digest of the index's fingerprint.
        seconds: From the question to the end of the answer.
    """

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

    @property
    def passing(self) -> list[Result]:
        """The results that reached the threshold: what an answerer is given."""
        return [result for result in self.results if result.confident]

    def after(self, seconds: float) -> Self:
        """The same answer, `seconds` after its question."""
        return replace(self, seconds=round(seconds, 4))

    def to_json(self) -> dict[str, Any]:
        """The fields of `qindex ask --json`."""
        fields = asdict(self)
        for result in fields["results"]:
            del result["lang"]
        return fields


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
        lang=passage.get("lang") or "en",
    )


def reason(results: Sequence[Result], limit: float) -> str:
    """Why no result passed, in one line."""
    best = max((result.confidence for result in results), default=None)
    if best is None:
        return "nothing was found"
    return f"the best result has confidence {best:.2f}, the threshold is {limit:.2f}"


def citations(cited: Iterable[Result]) -> list[Citation]:
    """The sources of an answer in the given order, each address once."""
    places: dict[str, str] = {}
    for result in cited:
        places.setdefault(result.citation, result.place)
    return [Citation(url, title) for url, title in places.items()]

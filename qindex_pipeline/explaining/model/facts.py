"""What is known of a page that should have won: its crawl, its chunks, its questions, a verdict.

The fields are part of the JSON output of `qindex explain` and `qindex show`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from qindex_pipeline.retrieval.legs import Leg

VerdictKind = Literal[
    "not_crawled",
    "out_of_scope",
    "gone",
    "unknown",
    "duplicate_page",
    "no_chunk",
    "duplicate_chunk",
    "not_published",
    "won",
    "shown",
    "below_threshold",
    "passage",
    "question",
    "no_question",
    "filter",
    "bm25",
    "fusion",
    "not_returned",
]
"""What became of a page that should have won; `docs/explaining.html` has a line for each."""


@dataclass(frozen=True)
class Section:
    """Where a chunk stands."""

    chunk_id: str
    site: str
    url: str
    anchor: str | None
    title: str
    heading_path: Sequence[str]

    @property
    def citation(self) -> str:
        """`url#anchor`, the address a reader is sent to."""
        return f"{self.url}#{self.anchor}" if self.anchor else self.url


@dataclass(frozen=True)
class Made:
    """How a question came to be; `origin` is generated, kept (from before an edit) or human."""

    origin: str
    generator: str
    prompt_version: str


@dataclass(frozen=True)
class OnLeg:
    """Where a chunk stands on one leg among all chunks that were asked.

    Attributes:
        rank: From 1; None where it has no point there, or lies behind all that were looked at.
        score: A cosine, or BM25's weight; None where it has no point there.
        returned: Whether the leg returned it to the search.
    """

    rank: int | None
    score: float | None
    returned: bool


@dataclass(frozen=True)
class Standing:
    """Where a chunk stands on every leg and in the fused order; parts are 0 outside of it."""

    legs: Mapping[Leg, OnLeg]
    fused_rank: int | None
    dense: float
    bm25: float
    confidence: float | None


@dataclass(frozen=True)
class Asked:
    """A question of the chunk, and how near it is to what was asked.

    Attributes:
        question: Its text.
        evidence: The words of the chunk that answer it.
        made: How it came to be; None where only the collection is there.
        accepted: Whether it is indexed.
        objections: The filters that object, the one that rejects it first.
        cosine: Nearness to what was asked; None where it was not computed.
        rank: Of its chunk on the question leg, by this question alone.
        fused_rank: Of its chunk if this question were indexed; None where it is, or changes
            nothing.
    """

    question: str
    evidence: str
    made: Made | None
    accepted: bool
    objections: Sequence[str]
    cosine: float | None
    rank: int | None
    fused_rank: int | None = None


@dataclass(frozen=True)
class PageChunk:
    """A chunk of the page; `standing` is None where it is not in the collection."""

    section: Section
    duplicate_of: str | None
    standing: Standing | None
    questions: Sequence[Asked]


@dataclass(frozen=True)
class Crawled:
    """What the crawl says of a page.

    Attributes:
        url: As it was requested, or as it would be.
        outcome: Of the last request; None where it was never asked.
        state: present, gone or unknown; None where it was never asked.
        detail: What is known beside it: an error, where it is stored instead, why it was not asked.
    """

    url: str
    outcome: str | None
    state: str | None
    detail: str


@dataclass(frozen=True)
class Verdict:
    """Why a page won or lost, in one or two sentences, and what can be done about it."""

    kind: VerdictKind
    leg: Leg | None
    text: str
    advice: Sequence[str] = ()


@dataclass(frozen=True)
class Page:
    """A page that should have won; `rank` counts chunks, `page_rank` pages."""

    asked: str
    site: str
    crawled: Crawled | None
    chunks: Sequence[PageChunk]
    rank: int | None
    page_rank: int | None
    verdict: Verdict

"""What `qindex explain` says of one question: plain facts, whose fields are the JSON output."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from qindex_pipeline.explaining.model.facts import Made, Page, Section
from qindex_pipeline.retrieval.legs import Leg

ThresholdSource = Literal["option", "setting", "calibration", "embedder"]


@dataclass(frozen=True)
class Form:
    """A text that was searched, and what made it of the question."""

    text: str
    made_by: str


@dataclass(frozen=True)
class Threshold:
    """The confidence that a result needs, and who says so."""

    value: float
    source: ThresholdSource
    detail: str


@dataclass(frozen=True)
class Candidate:
    """A chunk that a leg returned; the question is that of the question leg."""

    rank: int
    score: float
    section: Section
    question: str | None = None


@dataclass(frozen=True)
class Fused:
    """A chunk in the fused order: score = weight · dense + weight · bm25, each part in [0, 1]."""

    rank: int
    score: float
    dense: float
    bm25: float
    confidence: float
    confident: bool
    section: Section
    question: str | None


@dataclass(frozen=True)
class Shown:
    """A result as a reader gets it, with the question that led to it."""

    rank: int
    section: Section
    confidence: float
    confident: bool
    question: str | None
    evidence: str | None
    made: Made | None


@dataclass(frozen=True)
class Explanation:
    """Why a question got the results that it got."""

    question: str
    site: str | None
    forms: Sequence[Form]
    threshold: Threshold
    refused: bool
    decision: str
    results: Sequence[Shown]
    fused: Sequence[Fused]
    legs: Mapping[Leg, Sequence[Candidate]]
    candidates: Mapping[str, int]
    weights: Mapping[str, float]
    page: Page | None
    notes: Sequence[str] = field(default_factory=tuple[str, ...])

    def to_json(self) -> dict[str, Any]:
        """The fields of `qindex explain --json`."""
        return asdict(self)

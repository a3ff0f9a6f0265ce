"""How well an index answers questions whose pages are known, arm by arm, and what it refuses.

Every arm ranks the same hits; the best rank of a right page is what counts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from qindex_pipeline.retrieval.evaluation.arms import ARMS, confidence, pages
from qindex_pipeline.retrieval.evaluation.measures import (
    RESAMPLES,
    SEED,
    Interval,
    auroc,
    first_right,
    hit,
    paired_bootstrap,
    reciprocal,
    scores,
)
from qindex_pipeline.retrieval.evaluation.rows import EvalRow, UnanswerableRow
from qindex_pipeline.retrieval.evaluation.search import Searched

COMPARED: Mapping[str, Callable[[int | None], float]] = {
    "mrr@10": reciprocal,
    "hit@3": lambda rank: hit(rank, 3),
}
"""What the bootstrap compares, each as a value per question."""


@dataclass(frozen=True)
class Judged:
    """A question that the docs answer: its rank on each arm, None where no right page is found."""

    id: str
    question: str
    ranks: Mapping[str, int | None]
    confidence: float


@dataclass(frozen=True)
class Foreign:
    """A question that the docs don't answer."""

    id: str
    question: str
    kind: str
    confidence: float


@dataclass(frozen=True)
class Evaluation:
    """The outcome, of one question at least.

    `not_indexed` are pages of the rows that the index does not have.
    """

    site: str | None
    threshold: float
    rows: Sequence[Judged]
    unanswerable: Sequence[Foreign]
    not_indexed: Sequence[str] = ()

    def ranks(self, arm: str) -> list[int | None]:
        """The rank of each question on one arm, in their order."""
        return [row.ranks[arm] for row in self.rows]

    @property
    def arms(self) -> dict[str, dict[str, float]]:
        """Page hits and reciprocal rank by arm."""
        return {arm: scores(self.ranks(arm)) for arm in ARMS}

    @property
    def bootstrap(self) -> dict[str, Interval]:
        """Fused against passage, by measure."""
        return {
            name: paired_bootstrap(
                [value(rank) for rank in self.ranks("fused")],
                [value(rank) for rank in self.ranks("passage")],
            )
            for name, value in COMPARED.items()
        }

    @property
    def kinds(self) -> dict[str, list[float]]:
        """Confidences of the unanswerable questions by kind, in the order of the file."""
        kinds: dict[str, list[float]] = {}
        for row in self.unanswerable:
            kinds.setdefault(row.kind, []).append(row.confidence)
        return kinds

    @property
    def refusal(self) -> dict[str, Any]:
        """Refusals at the threshold, and how well confidence tells the two sides apart."""
        answerable = [row.confidence for row in self.rows]
        foreign = [row.confidence for row in self.unanswerable]
        kinds = {
            kind: {**_refused(values, self.threshold), "auroc": auroc(answerable, values)}
            for kind, values in self.kinds.items()
        }
        return {
            "threshold": self.threshold,
            "answerable": _refused(answerable, self.threshold),
            "unanswerable": _refused(foreign, self.threshold),
            "auroc": auroc(answerable, foreign),
            "kinds": kinds,
        }

    def to_json(self) -> dict[str, Any]:
        """The fields of `qindex eval --json`."""
        intervals = {name: asdict(interval) for name, interval in self.bootstrap.items()}
        return {
            "site": self.site,
            "n": len(self.rows),
            "arms": self.arms,
            "bootstrap": {"arms": ["fused", "passage"], "resamples": RESAMPLES, "seed": SEED}
            | intervals,
            "refusal": self.refusal,
            "not_indexed": list(self.not_indexed),
            "questions": [asdict(row) for row in self.rows],
            "unanswerable": [asdict(row) for row in self.unanswerable],
        }


def judge_rows(rows: Sequence[EvalRow], found: Searched, top_k: int) -> list[Judged]:
    """Rank the hits of each question on every arm and find its right pages.

    Args:
        rows: The questions.
        found: Their hits, in the same order.
        top_k: Results of an answer, of which the best confidence is the question's.
    """
    return [
        Judged(
            id=row.id,
            question=row.question,
            ranks={
                name: first_right(pages(arm, hits, found.urls), row.right)
                for name, arm in ARMS.items()
            },
            confidence=confidence(hits, top_k),
        )
        for row, hits in zip(rows, found.hits, strict=True)
    ]


def judge_unanswerable(
    rows: Sequence[UnanswerableRow], found: Searched, top_k: int
) -> list[Foreign]:
    """The confidence of each question that should be refused; arguments as in `judge_rows`."""
    return [
        Foreign(row.id, row.question, row.kind, confidence(hits, top_k))
        for row, hits in zip(rows, found.hits, strict=True)
    ]


def _refused(confidences: Sequence[float], threshold: float) -> dict[str, Any]:
    refused = sum(value < threshold for value in confidences)
    rate = refused / len(confidences) if confidences else None
    return {"n": len(confidences), "refused": refused, "rate": rate}

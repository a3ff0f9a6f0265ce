"""How a ranking of labels is scored: page hits for sites, F1 and MRR for ready chunks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from qindex_pipeline.retrieval.evaluation.measures import Interval, bootstrap, hit, reciprocal

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Scoring:
    """What a question's ranking gives, and the measures that are made of the means.

    Attributes:
        values: From a question's ranked labels, each once, and the right ones to its numbers.
        measures: By name: from the means of those numbers, shape (..., columns), to the measure.
        mrr: The measure by which fusion forms are chosen.
    """

    values: Callable[[Sequence[str], frozenset[str]], tuple[float, ...]]
    measures: Mapping[str, Callable[[Values], Values]]
    mrr: str

    def table(self, rankings: Sequence[Sequence[str]], right: Sequence[frozenset[str]]) -> Values:
        """The numbers of every question, shape (questions, columns)."""
        pairs = zip(rankings, right, strict=True)
        return np.array([self.values(ranked, wanted) for ranked, wanted in pairs])

    def scores(self, values: Values) -> dict[str, float]:
        """Every measure over the questions."""
        means = values.mean(axis=0)
        return {name: float(measure(means)) for name, measure in self.measures.items()}

    def against(self, values: Values, others: Values) -> dict[str, Interval]:
        """Every measure of `values` minus that of `others`, resampled over the questions."""
        width = values.shape[1]
        both = np.concatenate([values, others], axis=1)
        return {
            name: bootstrap(
                both,
                lambda means, measure=measure: (
                    measure(means[..., :width]) - measure(means[..., width:])
                ),
            )
            for name, measure in self.measures.items()
        }


def interval_text(interval: Interval) -> str:
    """`+0.012 [-0.003, +0.027]`, with a star where zero lies outside."""
    star = "*" if interval.is_significant else ""
    return f"{interval.difference:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]{star}"


def page_scoring() -> Scoring:
    """Page hit@1, @3, @10 and MRR within the first ten."""

    def values(ranked: Sequence[str], right: frozenset[str]) -> tuple[float, ...]:
        rank = next((rank for rank, page in enumerate(ranked, start=1) if page in right), None)
        return hit(rank, 1), hit(rank, 3), hit(rank, 10), reciprocal(rank)

    names = ("hit@1", "hit@3", "hit@10", "mrr@10")
    return Scoring(values, {name: _column(index) for index, name in enumerate(names)}, "mrr@10")


def chunk_scoring(k: int) -> Scoring:
    """F1 of mean precision and mean recall, and MRR, all at k, as rag_docs was published."""

    def values(ranked: Sequence[str], right: frozenset[str]) -> tuple[float, ...]:
        shown = [label in right for label in ranked[:k]]
        rank = shown.index(True) + 1 if any(shown) else None
        return sum(shown) / k, sum(shown) / len(right), reciprocal(rank)

    measures = {
        "precision": _column(0),
        "recall": _column(1),
        "F1": lambda means: _f1(means[..., 0], means[..., 1]),
        "MRR": _column(2),
    }
    return Scoring(values, measures, "MRR")


def _column(index: int) -> Callable[[Values], Values]:
    return lambda means: means[..., index]


def _f1(precision: Values, recall: Values) -> Values:
    total = precision + recall
    return 2 * precision * recall / np.where(total == 0, 1, total)

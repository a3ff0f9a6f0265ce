"""The stored results of the evaluation, and the statistics that the page makes of them.

Every interval holds 95 %: percentiles of the product's own bootstrap for means and differences,
always the same resamples; Wilson's for a share of few questions, which is never of no width.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray
from retrieval_measures import Values, chunk_scoring, page_scoring

from qindex_pipeline.retrieval.evaluation.measures import (
    LEVEL,
    RESAMPLES,
    SEED,
    Interval,
    hit,
    reciprocal,
)

Row = Mapping[str, Any]
Rows = Sequence[int]
Measure = Callable[[Values], Values]
Measures = Mapping[str, Measure]
Figure = tuple[str, str]
"""A set and one of its measures."""

SHOWN = 3
"""Chunks that count where labels are chunks."""

_PAGE = {name.replace("mrr", "MRR"): made for name, made in page_scoring().measures.items()}
_CHUNK = {
    "hit@1": lambda means: means[..., 3],
    **{f"{name}@{SHOWN}": made for name, made in chunk_scoring(SHOWN).measures.items()},
}


@dataclass(frozen=True)
class Results:
    """What was measured."""

    raw: Row

    @classmethod
    def read(cls, file: Path) -> "Results":
        """The results in `file`."""
        return cls(json.loads(file.read_text(encoding="utf-8")))

    @property
    def sets(self) -> Mapping[str, Row]:
        """The figures of each set, by its name."""
        return self.raw["sets"]

    def measures(self, name: str) -> Measures:
        """The measures of a set, by name."""
        return _CHUNK if self.sets[name]["labels"] == "chunks" else _PAGE

    def main(self, name: str) -> Sequence[str]:
        """The measures of a set that sentences are about: MRR, and F1 where there is one."""
        return [each for each in self.measures(name) if each.startswith(("F1", "MRR"))]

    def mrr(self, name: str) -> str:
        """The name of a set's MRR."""
        return self.main(name)[-1]

    def values(self, name: str, arm: str) -> Values:
        """The numbers of each question of a set on one arm, shape (questions, columns)."""
        figures = self.sets[name]
        ranks = figures["ranks"][arm]
        if figures["labels"] == "pages":
            return np.array([[*(hit(r, k) for k in (1, 3, 10)), reciprocal(r)] for r in ranks])
        counted = zip(ranks, figures["right_shown"][arm], figures["right"], strict=True)
        return np.array(
            [
                [found / SHOWN, found / right, hit(rank, SHOWN) * reciprocal(rank), hit(rank, 1)]
                for rank, found, right in counted
            ]
        )

    def level(self, name: str, arm: str, rows: Rows | None = None) -> dict[str, Interval]:
        """Every measure of an arm, over all questions of a set or over `rows` of them."""
        return intervals(_of(self.values(name, arm), rows), self.measures(name))

    def gain(
        self, name: str, arm: str, other: str, rows: Rows | None = None
    ) -> dict[str, Interval]:
        """Every measure of `arm` minus that of `other`, paired by question."""
        one, two = (_of(self.values(name, each), rows) for each in (arm, other))
        width = one.shape[1]

        def minus(made: Measure) -> Measure:
            return lambda means: made(means[..., :width]) - made(means[..., width:])

        measures = {measure: minus(made) for measure, made in self.measures(name).items()}
        return intervals(np.concatenate([one, two], axis=1), measures)

    def main_gain(
        self, name: str, arm: str, other: str, rows: Rows | None = None
    ) -> dict[Figure, Interval]:
        """The measures of a set that sentences are about."""
        found = self.gain(name, arm, other, rows)
        return {(name, measure): found[measure] for measure in self.main(name)}

    def main_gains(self, arm: str, other: str) -> dict[Figure, Interval]:
        """The same of every set."""
        return {
            key: gain
            for name in self.sets
            for key, gain in self.main_gain(name, arm, other).items()
        }


def _of(values: Values, rows: Rows | None) -> Values:
    return values if rows is None else values[list(rows)]


def intervals(values: Values, measures: Measures) -> dict[str, Interval]:
    """`measures.bootstrap` of the product for several statistics of the same resamples.

    Args:
        values: A row per question, shape (n, columns).
        measures: By name: from means, shape (..., columns), to numbers, shape (...).
    """
    resampled = counts(len(values)) @ values / len(values)
    means = values.mean(axis=0)
    return {
        name: percentiles(float(measure(means)), measure(resampled))
        for name, measure in measures.items()
    }


def percentiles(value: float, resampled: Values) -> Interval:
    """A figure with the percentiles of its resamples, to a billionth.

    Sums differ in their last bit between processors; what is shown must not.
    """
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return Interval(*(round(float(number), 9) + 0.0 for number in (value, low, high)))


def counts(questions: int, stream: int = 0) -> Values:
    """How often each resample holds each question, shape (resamples, questions).

    Args:
        questions: How many there are.
        stream: Another number draws others, as for a second group.
    """
    return _drawn(questions, stream).astype(np.float64)


@cache
def _drawn(questions: int, stream: int) -> NDArray[np.uint16]:
    drawn = np.random.default_rng(SEED + stream).integers(0, questions, (RESAMPLES, questions))
    flat = (drawn + np.arange(RESAMPLES)[:, None] * questions).ravel()
    found = np.bincount(flat, minlength=RESAMPLES * questions).reshape(drawn.shape)
    return found.astype(np.uint16)


def share(found: int, of: int) -> Interval:
    """A share of few with Wilson's interval (1927)."""
    z = NormalDist().inv_cdf(1 - (1 - LEVEL) / 2)
    rate, weight = found / of, z * z / of
    middle = (rate + weight / 2) / (1 + weight)
    half = z * sqrt(rate * (1 - rate) / of + weight / (4 * of)) / (1 + weight)
    return Interval(rate, max(0.0, middle - half), min(1.0, middle + half))


def separation(own: Sequence[float], foreign: Sequence[float]) -> Interval:
    """AUROC of confidences, both sides resampled."""
    return percentiles(*_auroc(own, foreign))


def separation_gain(own: Sequence[Sequence[float]], foreign: Sequence[Sequence[float]]) -> Interval:
    """AUROC of the first confidences minus that of the second, of the same questions."""
    (value, drawn), (other, others) = (_auroc(*sides) for sides in zip(own, foreign, strict=True))
    return percentiles(value - other, drawn - others)


def _auroc(own: Sequence[float], foreign: Sequence[float]) -> tuple[float, Values]:
    """The chance that an own question scores above a foreign one, and its resamples."""
    above = np.greater.outer(np.array(own), np.array(foreign))
    equal = np.equal.outer(np.array(own), np.array(foreign))
    won: NDArray[np.float64] = above + equal / 2
    drawn = ((counts(len(own)) @ won) * counts(len(foreign), 1)).sum(axis=1)
    return float(won.mean()), drawn / won.size

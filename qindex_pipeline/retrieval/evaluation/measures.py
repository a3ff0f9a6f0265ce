"""The numbers of an evaluation: ranks, page hits, a paired bootstrap, the AUROC.

Pure functions over ranks and scores; nothing here knows where they come from.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Values = NDArray[np.float64]

CUTOFFS = (1, 3, 10)
"""Ranks within which a hit is counted; reciprocal ranks end at the last."""

RESAMPLES, SEED, LEVEL = 10_000, 20_260_101, 0.95
"""The bootstrap: resamples, the generator's seed, and the share that its interval covers."""

_BLOCK = 1_000_000
"""Numbers drawn at once: 8 MB, whatever the number of questions."""


def first_right(ranked: Iterable[Collection[str]], right: Collection[str]) -> int | None:
    """Rank, from 1, of the first page of which a name is right; None where there is none.

    Args:
        ranked: The names of each page, best page first, each page once.
        right: Names of the right pages.
    """
    hits = (rank for rank, names in enumerate(ranked, start=1) if not set(right).isdisjoint(names))
    return next(hits, None)


def hit(rank: int | None, k: int) -> float:
    """1 where a right page stands among the first `k`, else 0."""
    return float(rank is not None and rank <= k)


def reciprocal(rank: int | None) -> float:
    """1 / rank among the first ten, else 0."""
    return 1 / rank if rank is not None and rank <= CUTOFFS[-1] else 0.0


def scores(ranks: Sequence[int | None]) -> dict[str, float]:
    """hit@1, hit@3, hit@10 and mrr@10: means over the questions, 0 where there is none."""
    count = max(1, len(ranks))
    hits = {f"hit@{k}": sum(hit(rank, k) for rank in ranks) / count for k in CUTOFFS}
    return hits | {f"mrr@{CUTOFFS[-1]}": sum(map(reciprocal, ranks)) / count}


@dataclass(frozen=True)
class Interval:
    """A difference of two arms' means, and the interval that holds it with 95 %."""

    difference: float
    low: float
    high: float

    @property
    def is_significant(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.low > 0 or self.high < 0


def paired_bootstrap(first: Sequence[float], second: Sequence[float]) -> Interval:
    """The mean of `first` minus that of `second`, resampled over the questions of both.

    Args:
        first: A value per question.
        second: The other arm's, for the same questions in the same order.

    Returns:
        The difference and its percentile interval (10,000 resamples, always the same ones).
    """
    import numpy as np

    pairs = np.array([first, second], dtype=np.float64).T
    return bootstrap(pairs, lambda means: means[..., 0] - means[..., 1])


def bootstrap(values: "Values", statistic: "Callable[[Values], Values]") -> Interval:
    """A statistic of column means and its percentile interval, resampled over the rows.

    Args:
        values: A row per question, shape (n, columns); n >= 1.
        statistic: From means, shape (..., columns), to numbers, shape (...).
    """
    import numpy as np

    generator = np.random.default_rng(SEED)
    count, block = len(values), max(1, _BLOCK // len(values))
    resampled: list[Values] = []
    for start in range(0, RESAMPLES, block):
        size = (min(block, RESAMPLES - start), count)
        means = values[generator.integers(0, count, size)].mean(axis=1)
        resampled.append(statistic(means))
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(np.concatenate(resampled), [tail, 1 - tail])
    return Interval(float(statistic(values.mean(axis=0))), float(low), float(high))


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float | None:
    """The chance that a positive scores above a negative, a tie counting half; exact, by ranks.

    None where either side is empty. See Hanley and McNeil 1982: it equals the Mann-Whitney U
    over the number of pairs.
    """
    import numpy as np

    if not positives or not negatives:
        return None
    ordered = np.sort(np.array(negatives, dtype=np.float64))
    below = np.searchsorted(ordered, positives, side="left").sum()
    not_above = np.searchsorted(ordered, positives, side="right").sum()
    return float(below + not_above) / (2 * len(positives) * len(negatives))

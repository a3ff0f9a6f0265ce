"""Fusion forms beside the product's: one family, chosen leave-one-corpus-out.

score = (1 - w) · scaled(dense) + w · scaled(bm25), scaled = min-max over the query's candidates,
0 where BM25 did not return the chunk; then a page's second and third chunk may add to its best
one, or to all of its chunks. A form is a choice of the dense part, of w, and of that.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from qindex_pipeline.retrieval.fusion import fuse
from qindex_pipeline.retrieval.legs import LEGS, Hits, Leg

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Candidates:
    """The chunks that any leg returned for one question, with each leg's score; nan: not returned.

    Attributes:
        hits: The legs' hits, as the product fuses them.
        chunks: Sorted, so that ties stand in the order of their ids.
        passage: Best cosine of the chunk's passages.
        question: Best cosine of its questions.
        bm25: Sparse score.
        page: Number of each chunk's page.
    """

    hits: Hits
    chunks: list[str]
    passage: Scores
    question: Scores
    bm25: Scores
    page: NDArray[np.int64]

    @cached_property
    def filled(self) -> tuple[Scores, Scores]:
        """Passage and question, the lowest returned cosine where a leg returned nothing."""
        return _filled(self.passage), _filled(self.question)


def candidates(hits: Hits, pages: Mapping[str, str]) -> Candidates:
    """The legs' hits as arrays."""
    chunks = sorted({chunk for found in hits.values() for chunk in found})
    numbers = {page: number for number, page in enumerate({pages[chunk]: 0 for chunk in chunks})}

    def scores(leg: Leg) -> Scores:
        found = hits[leg]
        return np.array([found[chunk].score if chunk in found else np.nan for chunk in chunks])

    page = np.array([numbers[pages[chunk]] for chunk in chunks])
    return Candidates(hits, chunks, scores("passage"), scores("question"), scores("bm25"), page)


@dataclass(frozen=True)
class Form:
    """A way to fuse.

    Attributes:
        dense: Name in `DENSE`.
        bm25: Weight of BM25.
        further: Name in `FURTHER`.
    """

    dense: str
    bm25: float
    further: str

    def __str__(self) -> str:
        return f"{self.dense}, bm25 {self.bm25:g}, further chunks {self.further}"

    def rank(self, found: Candidates) -> list[str]:
        """Chunks, best first."""
        if not found.chunks:
            return []
        score = (1 - self.bm25) * scaled(DENSE[self.dense](found))
        score = score + self.bm25 * _scaled_known(found.bm25)
        shares, to_all = FURTHER[self.further]
        score = score + _further(score, found.page, shares, to_all)
        return [found.chunks[index] for index in np.argsort(-score, kind="stable")]


@dataclass(frozen=True)
class Product:
    """The product's own fusion, whatever it is now."""

    def __str__(self) -> str:
        return "the product"

    def rank(self, found: Candidates) -> list[str]:
        """Chunks, best first."""
        return [item.chunk_id for item in fuse(found.hits, LEGS)]


def scaled(values: Scores) -> Scores:
    """Min-max to [0, 1]; values that are all equal are all 1."""
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.ones_like(values)


def _scaled_known(values: Scores) -> Scores:
    result, known = np.zeros_like(values), ~np.isnan(values)
    if known.any():
        result[known] = scaled(values[known])
    return result


def _filled(values: Scores) -> Scores:
    known = values[~np.isnan(values)]
    return np.where(np.isnan(values), known.min() if len(known) else 0.0, values)


def _further(
    score: Scores, page: NDArray[np.int64], shares: Sequence[float], to_all: bool
) -> Scores:
    """What the second and third chunk of each page add to its best one, or to all its chunks."""
    added = np.zeros_like(score)
    if not shares:
        return added
    for number in range(page.max() + 1):
        members = np.flatnonzero(page == number)
        best = members[np.argsort(-score[members], kind="stable")]
        bonus = sum(share * score[other] for share, other in zip(shares, best[1:], strict=False))
        added[best if to_all else best[:1]] = bonus
    return added


def _weighted(weight: float) -> Callable[[Candidates], Scores]:
    return lambda found: found.filled[0] + weight * found.filled[1]


def _above(weight: float) -> Callable[[Candidates], Scores]:
    def dense(found: Candidates) -> Scores:
        passage, _ = found.filled
        above = np.where(np.isnan(found.question), 0.0, found.question - passage)
        return passage + weight * np.maximum(0.0, above)

    return dense


def _own(weight: float) -> Callable[[Candidates], Scores]:
    """Passage + weight · question, a chunk without a question hit counting its own passage."""

    def dense(found: Candidates) -> Scores:
        passage, _ = found.filled
        return passage + weight * np.where(np.isnan(found.question), passage, found.question)

    return dense


DENSE: Mapping[str, Callable[[Candidates], Scores]] = {
    "passage": lambda found: found.filled[0],
    "sum": _weighted(1.0),
    "max": lambda found: np.maximum(*found.filled),
    **{f"passage + {w:g} question": _weighted(w) for w in (0.25, 0.5, 0.75)},
    **{f"passage + {w:g} what the question is above": _above(w) for w in (0.25, 0.5, 0.75, 1.0)},
    **{f"passage + {w:g} question, else passage": _own(w) for w in (0.5, 1.0)},
}

FURTHER: Mapping[str, tuple[Sequence[float], bool]] = {
    "no": ((), False),
    "1/4 1/16 to the best": ((0.25, 0.0625), False),
    "1/2 1/4 to the best": ((0.5, 0.25), False),
    "1/2 1/4 to all": ((0.5, 0.25), True),
}
"""What the second and third chunk of a page add, and whether to all of its chunks."""

PASSAGE, PRODUCT = Form("passage", 0.0, "no"), Product()

WEIGHTS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)

FORMS = tuple(Form(*choice) for choice in product(DENSE, WEIGHTS, FURTHER))

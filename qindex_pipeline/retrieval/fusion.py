"""From the legs' hits to one ranking of chunks, and how sure it is of each.

The score orders, the confidence judges: a fused score has no absolute meaning, so only a
cosine is ever compared with a threshold.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from qindex_pipeline.retrieval.legs import Hits, Leg

DENSE_WEIGHT, BM25_WEIGHT = 0.7, 0.3
"""One weight set for every corpus, chosen leave-one-corpus-out (`benchmarks/retrieval.py --forms`):
BM25 weights from 0.2 to 0.4 differ by less than their intervals on all that were measured, and
0.4 costs keyword queries. Adding a page's further chunks wins on one corpus what it loses on
another."""


class Parts(NamedTuple):
    """What a fused score is made of: the legs' scores, scaled to [0, 1] over the candidates."""

    dense: float
    bm25: float

    @property
    def score(self) -> float:
        """The fused score."""
        return DENSE_WEIGHT * self.dense + BM25_WEIGHT * self.bm25


@dataclass(frozen=True)
class Ranked:
    """A chunk in the ranking.

    Attributes:
        chunk_id: The chunk.
        score: Orders the chunks of one query; comparable with nothing else.
        confidence: The best cosine of its points, in [-1, 1]; what a threshold judges.
        legs: Each asked leg's own score, None where the leg did not return the chunk.
        question: Payload of its best question point, if the question leg returned one.
    """

    chunk_id: str
    score: float
    confidence: float
    legs: Mapping[Leg, float | None]
    question: Mapping[str, Any] | None


def fuse(hits: Hits, legs: Sequence[Leg], top: int | None = None) -> list[Ranked]:
    """Rank every chunk that a leg returned, or the first `top`, best first; ties by chunk_id.

    dense = the better of passage and question, each the best cosine of the chunk's points; a leg
    that did not return the chunk counts with the lowest cosine that it returned. (Their sum, which
    punishes chunks that nobody found a question for, lost to passages alone on two of three
    corpora.) score = 0.7 · scaled(dense) + 0.3 · scaled(bm25), scaled = min-max over the
    candidates, 0 where BM25 did not return the chunk. With fewer legs the score is what is left.

    Args:
        hits: Best hit by chunk, per asked leg; may hold more legs than rank.
        legs: The legs that rank.
        top: Chunks, at most; None gives all.
    """
    lowest = _lowest(hits)
    scores = _dense(hits, legs, lowest)
    if set(legs) == {"bm25"}:
        scores = _sparse(hits)
    elif "bm25" in legs:
        scores = {chunk: part.score for chunk, part in _parts(scores, _sparse(hits)).items()}
    return [
        Ranked(
            chunk_id=chunk,
            score=scores[chunk],
            confidence=_confidence(hits, lowest, chunk),
            legs={leg: hit.score if (hit := hits[leg].get(chunk)) else None for leg in legs},
            question=_question(hits, chunk),
        )
        for chunk in sorted(scores, key=lambda chunk: (-scores[chunk], chunk))[:top]
    ]


def parts(hits: Hits) -> dict[str, Parts]:
    """The parts of the score that `fuse` gives each candidate when all legs of `hits` rank."""
    return _parts(_dense(hits, list(hits), _lowest(hits)), _sparse(hits))


def _lowest(hits: Hits) -> dict[Leg, float]:
    return {
        leg: min((hit.score for hit in found.values()), default=0.0) for leg, found in hits.items()
    }


def _dense(hits: Hits, legs: Sequence[Leg], lowest: Mapping[Leg, float]) -> dict[str, float]:
    """The better cosine of the dense legs, for every chunk that one of `legs` returned."""
    candidates = {chunk for leg in legs for chunk in hits[leg]}
    dense_legs: list[Leg] = [leg for leg in legs if leg != "bm25"]
    return {
        chunk: max((_cosine(hits, lowest, leg, chunk) for leg in dense_legs), default=0.0)
        for chunk in candidates
    }


def _sparse(hits: Hits) -> dict[str, float]:
    return {chunk: hit.score for chunk, hit in hits["bm25"].items()}


def _parts(dense: Mapping[str, float], sparse: Mapping[str, float]) -> dict[str, Parts]:
    scaled_dense, scaled_sparse = _scaled(dense), _scaled(sparse)
    return {
        chunk: Parts(part, scaled_sparse.get(chunk, 0.0)) for chunk, part in scaled_dense.items()
    }


def _scaled(scores: Mapping[str, float]) -> dict[str, float]:
    """Min-max to [0, 1]; scores that are all equal are all 1."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high == low:
        return dict.fromkeys(scores, 1.0)
    return {chunk: (score - low) / (high - low) for chunk, score in scores.items()}


def _cosine(hits: Hits, lowest: Mapping[Leg, float], leg: Leg, chunk: str) -> float:
    hit = hits[leg].get(chunk)
    return lowest[leg] if hit is None else hit.score


def _confidence(hits: Hits, lowest: Mapping[Leg, float], chunk: str) -> float:
    asked: list[Leg] = [leg for leg in hits if leg != "bm25"]
    known = [hits[leg][chunk].score for leg in asked if chunk in hits[leg]]
    # A chunk that only BM25 returned lies at most as near as the last hit of the dense legs.
    return max(known) if known else max((lowest[leg] for leg in asked), default=0.0)


def _question(hits: Hits, chunk: str) -> Mapping[str, Any] | None:
    hit = hits.get("question", {}).get(chunk)
    return hit.payload if hit else None

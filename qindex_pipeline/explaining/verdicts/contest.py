"""A page's best chunk against the chunk that won: which leg decided between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qindex_pipeline.explaining.model.facts import Asked, Section, Standing
from qindex_pipeline.retrieval.fusion import BM25_WEIGHT, DENSE_WEIGHT
from qindex_pipeline.retrieval.legs import LEGS, Leg


@dataclass(frozen=True)
class Side:
    """A chunk in the contest; `question` is its nearest accepted one, by the question leg."""

    section: Section
    standing: Standing
    question: str | None

    def cosine(self, leg: Leg) -> float:
        """Its score on a dense leg, -1 where it has no point there."""
        score = self.standing.legs[leg].score
        return -1.0 if score is None else score


@dataclass(frozen=True)
class Contest:
    """What is known of a page that is in the collection, and of what won.

    Attributes:
        own: The page's best chunk.
        winner: The first chunk that is not the page's; None where there is no other.
        top_k: Results that a reader gets.
        best: The page's best chunk on each leg that has one of its chunks.
        ahead: Candidates that are ahead of `own` by their dense part, and by BM25.
        missing: Words of the question that `own` lacks, the rarest first.
        decisive: Those of them that put the winner ahead on BM25, the heaviest first.
        questions: Questions of `own`; rejected ones too, where the tables are at hand.
        rejected: The rejected question of the page that would have lifted it most, and where it
            belongs; None where none would.
        as_human: Fused rank of `own` if what was asked were one of its questions.
    """

    own: Side
    winner: Side | None
    top_k: int
    best: Mapping[Leg, Side]
    ahead: tuple[int, int]
    missing: Sequence[str]
    decisive: Sequence[str]
    questions: Sequence[Asked]
    rejected: tuple[Section, Asked] | None
    as_human: int | None

    @property
    def is_shown(self) -> bool:
        """Whether a reader gets the page."""
        rank = self.own.standing.fused_rank
        return rank is not None and rank <= self.top_k

    @property
    def is_filtered(self) -> bool:
        """Whether a rejected question would have shown the page, which is not shown now."""
        lifted = None if self.rejected is None else self.rejected[1].fused_rank
        return lifted is not None and lifted <= self.top_k and not self.is_shown

    @property
    def carried(self) -> dict[Leg, Side]:
        """The legs that alone would have shown the page, each with its best chunk there."""
        return {
            leg: side
            for leg, side in self.best.items()
            if (side.standing.legs[leg].rank or self.top_k + 1) <= self.top_k
        }


def deciding_leg(own: Standing, winner: Standing) -> Leg:
    """The leg on which the winner gained most of what it is ahead.

    Of the fused score's two parts the one with the greater weighted distance. For the dense part,
    the leg from which the winner has it: that on which its cosine is better.
    """
    dense = DENSE_WEIGHT * (winner.dense - own.dense)
    if BM25_WEIGHT * (winner.bm25 - own.bm25) > dense:
        return "bm25"
    passage, question = winner.legs["passage"].score, winner.legs["question"].score
    is_by_question = question is not None and (passage is None or question > passage)
    return "question" if is_by_question else "passage"


def best_sides(sides: Sequence[Side]) -> dict[Leg, Side]:
    """Of a page's chunks the best one on each leg that has a point of one."""
    found: dict[Leg, Side] = {}
    for leg in LEGS:
        scored = [
            (score, side) for side in sides if (score := side.standing.legs[leg].score) is not None
        ]
        if scored:
            found[leg] = max(scored, key=lambda pair: pair[0])[1]
    return found


def best_side(sides: Sequence[Side]) -> Side:
    """The chunk that speaks for a page: the first in the fused order, else the nearest one."""
    return min(sides, key=_order)


def _order(side: Side) -> tuple[float, float]:
    rank = side.standing.fused_rank
    nearest = max(side.cosine("passage"), side.cosine("question"))
    return (float("inf") if rank is None else rank, -nearest)

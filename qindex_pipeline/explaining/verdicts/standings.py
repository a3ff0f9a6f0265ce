"""Where chunks stand on every leg, however far behind the leg's limit.

The legs are asked once more for many more points, each compared; what they returned to the search
itself stays what it was.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qindex_pipeline.explaining.gathering.depth import Deep
from qindex_pipeline.explaining.gathering.searched import Searched
from qindex_pipeline.explaining.model.facts import OnLeg, Standing
from qindex_pipeline.retrieval.fusion import Parts
from qindex_pipeline.retrieval.legs import LEGS, Hits, Leg
from qindex_pipeline.retrieval.search import find

NOWHERE = Parts(0.0, 0.0)
"""The parts of a chunk that no leg returned: it lies behind every candidate."""


@dataclass(frozen=True)
class DeepLegs:
    """The legs' hits as far as they go.

    Attributes:
        far: Hits of all chunks, up to DEEP_LIMIT points a leg.
        own: Hits of the chunks that are looked at, however far they lie.
        scores: Scores of `far` by leg, ascending.
    """

    far: Hits
    own: Hits
    scores: Mapping[Leg, Sequence[float]]

    def rank(self, leg: Leg, score: float) -> int:
        """Rank of a chunk with this score among those of `far`."""
        known = self.scores[leg]
        return len(known) - bisect_right(known, score) + 1

    def on_leg(self, leg: Leg, chunk: str, *, returned: bool) -> OnLeg:
        """Where a chunk that is looked at stands on a leg."""
        hit = self.far[leg].get(chunk)
        if hit is not None:
            return OnLeg(self.rank(leg, hit.score), hit.score, returned)
        behind = self.own[leg].get(chunk)
        return OnLeg(None, None if behind is None else behind.score, returned)


def deep_legs(searched: Searched, chunks: Sequence[str]) -> DeepLegs:
    """Ask the legs of a search again, for all points and for those of `chunks`."""
    collection = searched.index.collection
    forms, vectors, site = searched.forms, searched.vectors, searched.site
    far = find(Deep(collection), LEGS, forms, vectors, site)
    own = find(Deep(collection, chunks), LEGS, forms, vectors, site)
    scores: dict[Leg, list[float]] = {
        leg: sorted(hit.score for hit in hits.values()) for leg, hits in far.items()
    }
    return DeepLegs(far, own, scores)


def standing(searched: Searched, deep: DeepLegs, chunk: str) -> Standing:
    """Where a chunk stands: its rank and score on every leg, and in the fused order."""
    part = searched.parts.get(chunk, NOWHERE)
    rank = searched.fused_ranks.get(chunk)
    return Standing(
        legs={leg: deep.on_leg(leg, chunk, returned=chunk in searched.hits[leg]) for leg in LEGS},
        fused_rank=rank,
        dense=part.dense,
        bm25=part.bm25,
        confidence=None if rank is None else searched.ranked[rank - 1].confidence,
    )

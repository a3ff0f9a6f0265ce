"""The arms of an evaluation: ways to rank the hits of one question, each what a user would see."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from qindex_pipeline.page_names import names_of
from qindex_pipeline.retrieval.fusion import fuse
from qindex_pipeline.retrieval.legs import LEGS, Hits, Leg


@dataclass(frozen=True)
class Arm:
    """A way to rank: which legs, and what of the ranking a user sees.

    Attributes:
        legs: The legs that rank, and that judge where there is a threshold.
        threshold: A chunk below this confidence is not shown; None shows all.
        top_k: Chunks shown, at most; None shows all that were found.
    """

    legs: tuple[Leg, ...]
    threshold: float | None = None
    top_k: int | None = None


ARMS: Mapping[str, Arm] = {
    "passage": Arm(("passage",)),
    "question": Arm(("question",)),
    "bm25": Arm(("bm25",)),
    "fused": Arm(LEGS),
    # As the seed asked: questions only, its threshold, its number of results.
    "seed": Arm(("question",), threshold=0.60, top_k=3),
}


def shown(arm: Arm, hits: Hits) -> list[str]:
    """The chunks that an arm shows, best first.

    Args:
        arm: Which legs rank, and what of the ranking is shown.
        hits: Hits of all legs of one question.
    """
    ranked = fuse({leg: hits[leg] for leg in arm.legs}, arm.legs)[: arm.top_k]
    least = arm.threshold
    return [item.chunk_id for item in ranked if least is None or item.confidence >= least]


def pages(arm: Arm, hits: Hits, urls: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The names of each page that an arm shows, in the order of first appearance.

    Args:
        arm: As for `shown`.
        hits: As for `shown`.
        urls: URL by chunk.
    """
    yield from dict.fromkeys(names_of(urls[chunk]) for chunk in shown(arm, hits))


def confidence(hits: Hits, top_k: int) -> float:
    """The best confidence among the first `top_k` fused results: what decides on a refusal."""
    return max((item.confidence for item in fuse(hits, LEGS)[:top_k]), default=-1.0)

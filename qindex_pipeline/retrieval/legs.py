"""The legs: three ways to score a chunk, asked in one batch."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, cast, get_args

from qindex_pipeline.errors import UsageError
from qindex_pipeline.index.engine import Collection, QueryRequest
from qindex_pipeline.index.sparse import SparseVector

Leg = Literal["passage", "question", "bm25"]
LEGS: tuple[Leg, ...] = get_args(Leg)

LEG_LIMIT = 50
"""Points a leg returns. A chunk has up to 8 questions, so 50 points are at least 6 chunks."""


QUESTION_KEYS = ("chunk_id", "question", "evidence")
PASSAGE_KEYS = ("chunk_id",)
PASSAGE_TEXT_KEYS = ("chunk_id", "title", "text")
"""What is read of the points that legs return. Texts of 100 passages, to show three, would take
longer than finding them: the three are read by their ids."""


class Hit(NamedTuple):
    """The best point of a chunk on one leg."""

    score: float
    payload: Mapping[str, Any]


Hits = Mapping[Leg, Mapping[str, Hit]]
"""Best hit by chunk_id, for each leg that was asked."""


def parse_legs(names: Iterable[str]) -> tuple[Leg, ...]:
    """Leg names in their fixed order. Raises UsageError for an unknown name or none at all."""
    given = {name.strip() for name in names if name.strip()}
    unknown = given - set(LEGS)
    if unknown or not given:
        raise UsageError(
            f"legs {','.join(sorted(given)) or '(none)'}: use one or more of {','.join(LEGS)}"
        )
    return tuple(leg for leg in LEGS if leg in given)


def ask_legs(
    collection: Collection,
    legs: Sequence[Leg],
    dense: list[float],
    sparse: SparseVector,
    site: str | None,
    *,
    texts: bool = False,
) -> Hits:
    """Ask the legs of one question in a single batch and keep the best point of each chunk.

    Args:
        collection: Where to ask.
        legs: The legs that are asked.
        dense: The question's vector.
        sparse: The question's words.
        site: Only this site; None asks all.
        texts: Whether the passages' hits are to carry their titles and texts.
    """
    passage_keys = PASSAGE_TEXT_KEYS if texts else PASSAGE_KEYS
    requests = [
        QueryRequest(
            vector=sparse if leg == "bm25" else dense,
            kind="question" if leg == "question" else "passage",
            limit=LEG_LIMIT,
            site=site,
            payload=QUESTION_KEYS if leg == "question" else passage_keys,
        )
        for leg in legs
    ]
    replies = collection.query_batch(requests)
    hits: dict[Leg, dict[str, Hit]] = {}
    for leg, points in zip(legs, replies, strict=True):
        best: dict[str, Hit] = {}
        for _, score, payload in points:
            chunk_id = cast("str", payload["chunk_id"])
            if chunk_id not in best or best[chunk_id].score < score:
                best[chunk_id] = Hit(score, payload)
        hits[leg] = best
    return hits

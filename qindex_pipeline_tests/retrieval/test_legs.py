"""Legs: what one question asks of a collection, and which point speaks for a chunk."""

from collections.abc import Sequence
from typing import Any

import pytest

from qindex_pipeline.errors import UsageError
from qindex_pipeline.index.engine import QueryRequest, ScoredPoint
from qindex_pipeline.index.sparse import SparseVector
from qindex_pipeline.retrieval.legs import LEG_LIMIT, LEGS, ask_legs, parse_legs
from qindex_pipeline_tests.conftest import made_manifest

DENSE = [0.6, 0.8]
SPARSE = SparseVector([3], [1.0])


class RecordedCollection:
    """Answers each request with the points that are put in for it, and remembers the batches."""

    manifest = made_manifest()
    name = state = "docs"

    def __init__(self, *replies: list[ScoredPoint]) -> None:
        self.replies, self.batches = list(replies), list[Sequence[QueryRequest]]()

    def query_batch(self, requests: Sequence[QueryRequest]) -> list[list[ScoredPoint]]:
        self.batches.append(requests)
        return self.replies

    def retrieve(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        return {identity: {} for identity in ids}

    def sites(self) -> dict[str, int]:
        return {}

    def close(self) -> None:
        """Nothing is open."""


def point(chunk: str, score: float, name: str) -> ScoredPoint:
    return ScoredPoint(name, score, {"chunk_id": chunk, "name": name})


@pytest.mark.parametrize("site", ["a", None])
@pytest.mark.parametrize(
    ("texts", "keys"), [(False, ("chunk_id",)), (True, ("chunk_id", "title", "text"))]
)
def test_all_legs_are_asked_in_one_batch_and_for_no_text_that_is_not_wanted(
    texts: bool, keys: tuple[str, ...], site: str | None
) -> None:
    collection = RecordedCollection([], [], [])
    ask_legs(collection, LEGS, DENSE, SPARSE, site, texts=texts)
    asked = ("chunk_id", "question", "evidence")
    assert collection.batches == [
        [
            QueryRequest(DENSE, "passage", LEG_LIMIT, site, keys),
            QueryRequest(DENSE, "question", LEG_LIMIT, site, asked),
            QueryRequest(SPARSE, "passage", LEG_LIMIT, site, keys),
        ]
    ]
    assert LEG_LIMIT == 50


def test_only_the_legs_that_are_named_are_asked() -> None:
    collection = RecordedCollection([point("a", 0.5, "q")])
    hits = ask_legs(collection, ["question"], DENSE, SPARSE, None)
    assert [[request.kind for request in batch] for batch in collection.batches] == [["question"]]
    assert list(hits) == ["question"]


def test_the_best_point_speaks_for_its_chunk_whatever_the_order() -> None:
    replies = [
        [point("a", 0.9, "a1"), point("b", 0.8, "b1"), point("a", 0.7, "a2")],
        [point("a", 0.2, "q1"), point("a", 0.4, "q2")],
        [],
    ]
    hits = ask_legs(RecordedCollection(*replies), LEGS, DENSE, SPARSE, None)
    best = {
        leg: {chunk: (hit.score, hit.payload["name"]) for chunk, hit in found.items()}
        for leg, found in hits.items()
    }
    assert best == {
        "passage": {"a": (0.9, "a1"), "b": (0.8, "b1")},
        "question": {"a": (0.4, "q2")},
        "bm25": {},
    }


@pytest.mark.parametrize(
    ("names", "legs"),
    [
        (["question"], ("question",)),
        (["bm25", " passage "], ("passage", "bm25")),
        (["bm25", "question", "passage", "question"], LEGS),
        (["passage", ""], ("passage",)),
    ],
)
def test_legs_are_read_in_their_own_order(names: list[str], legs: tuple[str, ...]) -> None:
    assert parse_legs(names) == legs


@pytest.mark.parametrize("names", [[], [""], ["dense"], ["question", "sparse"], ["Question"]])
def test_unknown_legs_and_none_at_all_are_refused_with_what_there_is(names: list[str]) -> None:
    with pytest.raises(UsageError, match="use one or more of passage,question,bm25"):
        parse_legs(names)

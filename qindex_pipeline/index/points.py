"""From the tables to the points of the collection.

A `question` point carries a dense vector; its payload leads to its chunk. A chunk's first
`passage` point carries the chunk's text, once, and its sparse vector; its id is the chunk_id.
Further windows of a long chunk carry a dense vector only.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qindex_pipeline.embedding.places import places
from qindex_pipeline.embedding.readable import readable
from qindex_pipeline.ids import content_hash, point_id
from qindex_pipeline.index.sparse import Bm25Model, SparseVector

Row = Mapping[str, Any]

HASH_KEY = "content_hash"
"""Payload key with the hash of all that a point holds: an unchanged point is not written."""


@dataclass(frozen=True)
class Point:
    """A point as both engines take it."""

    id: str
    vector: list[float]
    sparse: SparseVector | None
    payload: dict[str, Any]

    @property
    def content_hash(self) -> str:
        """Hash of everything that this point holds."""
        return self.payload[HASH_KEY]


def build_points(
    chunks: Sequence[Row],
    questions: Sequence[Row],
    embeddings: Sequence[Row],
    calibrations: Sequence[Row] = (),
) -> list[Point]:
    """The points of one site.

    Args:
        chunks: Rows of the chunks table.
        questions: Rows of the grounded_questions table.
        embeddings: Rows of the embeddings table made from them.
        calibrations: Rows of the calibrations table; none or one.

    Returns:
        One point per row of embeddings, in its order, then the site's own.
    """
    chunk_by_id = {chunk["chunk_id"]: chunk for chunk in chunks}
    question_by_id = {question["question_id"]: question for question in questions}
    asked: dict[str, list[str]] = defaultdict(list)
    for question in questions:
        if question["accepted"]:
            asked[question["chunk_id"]].append(question["question"])
    bm25, where = Bm25Model(), places(chunks)
    points: list[Point] = []
    for row in embeddings:
        chunk = chunk_by_id[row["chunk_id"]]
        sparse = None
        if row["kind"] == "question":
            payload = _question_payload(question_by_id[row["question_id"]])
        elif row["window"] == 0:
            payload = _passage_payload(chunk)
            chunk_id = row["chunk_id"]
            sparse = bm25.document(_sparse_text(where[chunk_id], chunk["text"], asked[chunk_id]))
        else:
            payload = {"kind": "passage", "site": chunk["site"], "chunk_id": chunk["chunk_id"]}
        payload[HASH_KEY] = _hash(row, payload, sparse)
        points.append(Point(row["point_id"], row["vector"], sparse, payload))
    points.extend(site_point(row, embeddings) for row in calibrations)
    return points


def site_point_id(site: str) -> str:
    """The id of the point that says what is known of a site as a whole."""
    return point_id(content_hash("site", site))


def site_point(calibration: Row, embeddings: Sequence[Row]) -> Point:
    """The point that carries a site's calibration to whoever asks the collection.

    No leg returns it: its kind is `site`. Its vector, which means nothing, is the first row's.

    Args:
        calibration: The row of the calibrations table.
        embeddings: Rows of the embeddings table, at least one.
    """
    first = embeddings[0]
    payload: dict[str, Any] = {"kind": "site", **calibration}
    facts = json.dumps(payload, sort_keys=True)
    payload[HASH_KEY] = content_hash(facts, first["text_hash"])
    return Point(site_point_id(calibration["site"]), first["vector"], None, payload)


def _question_payload(question: Row) -> dict[str, Any]:
    return {
        "kind": "question",
        "site": question["site"],
        "chunk_id": question["chunk_id"],
        "question": question["question"],
        "evidence": question["evidence"],
    }


def _passage_payload(chunk: Row) -> dict[str, Any]:
    return {
        "kind": "passage",
        "site": chunk["site"],
        "chunk_id": chunk["chunk_id"],
        "url": chunk["url"],
        "anchor": chunk["anchor"],
        "title": chunk["title"],
        "heading_path": list(chunk["heading_path"]),
        "text": chunk["text"],
        "lang": chunk["lang"],
    }


def _sparse_text(where: str, text: str, asked: Sequence[str]) -> str:
    """Document expansion: the place, the text, and the questions that the chunk answers."""
    return "\n".join([where, readable(text), *asked])


def _hash(row: Row, payload: Mapping[str, Any], sparse: SparseVector | None) -> str:
    weights = "" if sparse is None else json.dumps([sparse.indices, sparse.values])
    return content_hash(
        row["fingerprint"], row["text_hash"], json.dumps(payload, sort_keys=True), weights
    )

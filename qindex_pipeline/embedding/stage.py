"""From chunks and accepted questions to the rows of the embeddings table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qindex_pipeline.embedding.cache import VectorCache
from qindex_pipeline.embedding.embedder import Embedder
from qindex_pipeline.embedding.fingerprint import Fingerprint
from qindex_pipeline.embedding.places import places
from qindex_pipeline.embedding.readable import readable
from qindex_pipeline.embedding.windows import windows
from qindex_pipeline.ids import content_hash, derived_point_id, point_id
from qindex_pipeline.progress import Progress, silent

Row = dict[str, Any]


@dataclass(frozen=True)
class Embedded:
    """The rows of the embeddings table, and how many texts had to be embedded for them."""

    rows: list[Row]
    texts_embedded: int


def embed_site(
    chunks: Sequence[Mapping[str, Any]],
    questions: Sequence[Mapping[str, Any]],
    embedder: Embedder,
    made_by: Fingerprint,
    cache: VectorCache,
    progress: Progress = silent,
) -> Embedded:
    """One row per window of a chunk and per accepted question.

    Args:
        chunks: Rows of the chunks table.
        questions: Rows of the grounded_questions table; only accepted ones are embedded.
        embedder: Makes the vectors.
        made_by: Its fingerprint.
        cache: Vectors of earlier runs.
        progress: Told of each batch.
    """
    rows = texts_of_site(chunks, questions, embedder)
    vectors, embedded = cache.embed(
        made_by.digest,
        {row["text_hash"]: row["text"] for row in rows},
        embedder.embed,
        lambda done, total: progress("embeddings", done, total, embedder.spec),
    )
    for row in rows:
        row["embedder"] = embedder.spec
        row["fingerprint"] = made_by.digest
        row["vector"] = vectors[row["text_hash"]]
    return Embedded(rows, embedded)


def texts_of_site(
    chunks: Sequence[Mapping[str, Any]],
    questions: Sequence[Mapping[str, Any]],
    embedder: Embedder,
) -> list[Row]:
    """The rows of `embed_site` without their vectors: nothing is embedded."""
    where = places(chunks)
    return _passages(chunks, where, embedder) + _questions(chunks, where, questions, embedder)


def _passages(
    chunks: Sequence[Mapping[str, Any]], where: Mapping[str, str], embedder: Embedder
) -> list[Row]:
    rows: list[Row] = []
    for chunk in chunks:
        chunk_id = chunk["chunk_id"]
        text = readable(chunk["text"])
        texts = windows(where[chunk_id], text, embedder.max_tokens, embedder.count_tokens)
        for number, window in enumerate(texts):
            identity = point_id(chunk_id) if number == 0 else derived_point_id(chunk_id, number)
            rows.append(_row(chunk, "passage", identity, window, number, None))
    return rows


def _questions(
    chunks: Sequence[Mapping[str, Any]],
    where: Mapping[str, str],
    questions: Sequence[Mapping[str, Any]],
    embedder: Embedder,
) -> list[Row]:
    by_id = {chunk["chunk_id"]: chunk for chunk in chunks}
    rows: list[Row] = []
    for question in questions:
        if not question["accepted"]:
            continue
        chunk = by_id[question["chunk_id"]]
        limit, asked = embedder.max_tokens, question["question"]
        # A question never fills a window; if one did, its first window is what it asks.
        text = windows(where[question["chunk_id"]], asked, limit, embedder.count_tokens)[0]
        identity = point_id(question["question_id"])
        rows.append(_row(chunk, "question", identity, text, 0, question["question_id"]))
    return rows


def _row(
    chunk: Mapping[str, Any],
    kind: str,
    identity: str,
    text: str,
    window: int,
    question_id: str | None,
) -> Row:
    return {
        "site": chunk["site"],
        "point_id": identity,
        "kind": kind,
        "chunk_id": chunk["chunk_id"],
        "question_id": question_id,
        "window": window,
        "text": text,
        "text_hash": content_hash(text),
    }

"""A page's questions, accepted and rejected: how near each is, and what it would have changed.

What would have been, is computed: the hits of the search with one more question are fused again.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from qindex_pipeline.embedding.windows import windows
from qindex_pipeline.explaining.gathering.depth import DEEP_LIMIT, Deep
from qindex_pipeline.explaining.gathering.records import Records, made_of
from qindex_pipeline.explaining.gathering.searched import Searched
from qindex_pipeline.explaining.model.facts import Asked
from qindex_pipeline.explaining.verdicts.standings import DeepLegs
from qindex_pipeline.index.engine import QueryRequest
from qindex_pipeline.retrieval.fusion import fuse
from qindex_pipeline.retrieval.legs import LEGS, QUESTION_KEYS, Hit, Hits
from qindex_pipeline.retrieval.normalizing.forms import merge_forms
from qindex_pipeline.retrieval.normalizing.words import option_names

MOST_EMBEDDED = 200
"""Rejected questions of a page whose nearness is computed: they have no vector in the collection,
and an embedder may cost money."""

Row = Mapping[str, Any]
Near = Mapping[tuple[str, str], Hit]
"""The nearness of questions, by their chunk and their text."""


def indexed_questions(searched: Searched, chunks: Sequence[str]) -> Near:
    """The questions of chunks that are in the collection."""
    collection = Deep(searched.index.collection, chunks)
    replies = collection.query_batch(
        [
            QueryRequest(vector.tolist(), "question", DEEP_LIMIT, payload=QUESTION_KEYS)
            for vector in searched.vectors
        ]
    )
    return _merged(
        searched.forms,
        [[(payload, score) for _, score, payload in points] for points in replies],
    )


def embedded_questions(searched: Searched, rows: Sequence[Row], where: Mapping[str, str]) -> Near:
    """Questions that are not in the collection, as near as they would be in it.

    Args:
        searched: The search.
        rows: Chunk, question and evidence of each.
        where: The place of each chunk, which is embedded before its questions.
    """
    if not rows:
        return {}
    embedder = searched.index.embedder
    # Cut as the index cuts it, though a question never fills a window.
    texts = [
        windows(
            where[row["chunk_id"]], row["question"], embedder.max_tokens, embedder.count_tokens
        )[0]
        for row in rows
    ]
    vectors = embedder.embed(texts)
    return _merged(
        searched.forms,
        [
            [(row, float(vector @ form)) for row, vector in zip(rows, vectors, strict=True)]
            for form in searched.vectors
        ],
    )


def fused_rank_with(searched: Searched, chunk: str, more: Hit) -> int | None:
    """The fused rank of a chunk if one more question led to it; None where that changes nothing."""
    asked = searched.hits["question"]
    least = (
        asked[chunk].score
        if chunk in asked
        else min((hit.score for hit in asked.values()), default=-1.0)
    )
    if more.score <= least:
        return None
    hits: Hits = {**searched.hits, "question": {**asked, chunk: more}}
    ranked = [item.chunk_id for item in fuse(hits, LEGS)]
    return ranked.index(chunk) + 1


def questions_of(
    searched: Searched,
    deep: DeepLegs,
    records: Records,
    chunks: Sequence[str],
    where: Mapping[str, str],
) -> dict[str, list[Asked]]:
    """All questions of chunks, accepted ones first, nearest first.

    Args:
        searched: The search.
        deep: The legs as far as they go.
        records: What the tables know of the chunks' site.
        chunks: Ids of chunks that are in the collection.
        where: The place of each chunk.
    """
    indexed = indexed_questions(searched, chunks)
    if records.questions is None:
        asked = [
            (chunk, _asked(hit.payload, hit, deep, accepted=True))
            for (chunk, _), hit in indexed.items()
        ]
    else:
        rows = [row for chunk in chunks for row in records.questions.get(chunk, ())]
        rejected = [row for row in rows if not row["accepted"]][:MOST_EMBEDDED]
        near = {**indexed, **embedded_questions(searched, rejected, where)}
        asked = [(row["chunk_id"], _judged(searched, row, near, deep)) for row in rows]
    found: dict[str, list[Asked]] = {chunk: [] for chunk in chunks}
    for chunk, one in sorted(asked, key=lambda pair: _nearest_first(pair[1])):
        found[chunk].append(one)
    return found


def _judged(searched: Searched, row: Row, near: Near, deep: DeepLegs) -> Asked:
    hit = near.get((row["chunk_id"], row["question"]))
    accepted = row["accepted"]
    lifted = None
    if hit is not None and not accepted:
        lifted = fused_rank_with(searched, row["chunk_id"], hit)
    return _asked(row, hit, deep, accepted=accepted, fused_rank=lifted)


def _asked(
    row: Row, hit: Hit | None, deep: DeepLegs, *, accepted: bool, fused_rank: int | None = None
) -> Asked:
    return Asked(
        question=row["question"],
        evidence=row["evidence"],
        made=made_of(row) if "origin" in row else None,
        accepted=accepted,
        objections=list(row.get("objections", ())),
        cosine=None if hit is None else hit.score,
        rank=None if hit is None else deep.rank("question", hit.score),
        fused_rank=fused_rank,
    )


def _nearest_first(asked: Asked) -> tuple[bool, float]:
    return not asked.accepted, -2.0 if asked.cosine is None else -asked.cosine


def _merged(
    forms: Sequence[str], replies: Sequence[Sequence[tuple[Row, float]]]
) -> dict[tuple[str, str], Hit]:
    """The best hit of each question over all forms, as the search merges those of chunks."""
    keys: dict[str, tuple[str, str]] = {}
    hits: list[Hits] = []
    for reply in replies:
        found: dict[str, Hit] = {}
        for row, score in reply:
            name = f"{row['chunk_id']} {row['question']}"
            keys[name] = (row["chunk_id"], row["question"])
            found[name] = Hit(score, row)
        hits.append({"question": found})
    best = merge_forms(hits, option_names(forms[0]))["question"]
    return {keys[name]: hit for name, hit in best.items()}

"""From a question to ranked, judged results: embed, ask the legs, fuse, fetch the texts."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, cast

from qindex_pipeline.ids import point_id
from qindex_pipeline.index.engine import Collection
from qindex_pipeline.index.sparse import Bm25Model
from qindex_pipeline.retrieval.fusion import Ranked, fuse
from qindex_pipeline.retrieval.held import Published
from qindex_pipeline.retrieval.legs import Hits, Leg, ask_legs
from qindex_pipeline.retrieval.normalizing.forms import merge_forms
from qindex_pipeline.retrieval.normalizing.words import option_names
from qindex_pipeline.retrieval.result import Result, judge


def search(
    index: Published,
    forms: Sequence[str],
    site: str | None,
    top_k: int,
    limit: Callable[[str], float],
    legs: Sequence[Leg],
) -> list[Result]:
    """The best `top_k` chunks for a question, each held against its site's threshold.

    Args:
        index: What is asked.
        forms: The question as it was asked, then its canonical form where there is another;
            the better confidence counts.
        site: Only this site; None asks all.
        top_k: Results, at most.
        limit: Confidence that a result of a site needs.
        legs: The legs that rank.
    """
    vectors = index.embedder.embed_queries(list(forms))
    # Without a dense leg there would be no cosine to judge a result by.
    asked: tuple[Leg, ...] = tuple(legs) if set(legs) - {"bm25"} else ("passage", *legs)
    found = [
        ask_legs(
            index.collection, asked, cast("list[float]", vector.tolist()), _bm25().query(form), site
        )
        for form, vector in zip(forms, vectors, strict=True)
    ]
    hits = merge_forms(found, option_names(forms[0]))
    ranked = fuse(hits, legs)[:top_k]
    texts = _passages(index.collection, ranked, hits)
    found_at = [(item, texts[item.chunk_id]) for item in ranked]
    return [
        judge(rank, item, passage, limit(passage["site"]))
        for rank, (item, passage) in enumerate(found_at, start=1)
    ]


@cache
def _bm25() -> Bm25Model:
    return Bm25Model()


def _passages(
    collection: Collection, ranked: Sequence[Ranked], hits: Hits
) -> dict[str, Mapping[str, Any]]:
    """The payload that carries each chunk's text: seen by a leg, else read by its id."""
    seen = {
        chunk: hit.payload
        for leg in hits
        if leg != "question"
        for chunk, hit in hits[leg].items()
        if "text" in hit.payload
    }
    missing = [item.chunk_id for item in ranked if item.chunk_id not in seen]
    read = collection.retrieve([point_id(chunk) for chunk in missing]) if missing else {}
    return {
        item.chunk_id: seen.get(item.chunk_id) or read[point_id(item.chunk_id)] for item in ranked
    }

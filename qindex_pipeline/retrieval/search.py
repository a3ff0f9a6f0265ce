"""From a question to ranked, judged results: embed, ask the legs, fuse, fetch the texts."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, cast

from qindex_pipeline.ids import point_id
from qindex_pipeline.index.engine import Collection
from qindex_pipeline.index.sparse import Bm25Model
from qindex_pipeline.retrieval.fusion import Ranked, fuse
from qindex_pipeline.retrieval.held import Published
from qindex_pipeline.retrieval.legs import Hits, Leg, ask_legs
from qindex_pipeline.retrieval.normalizing.forms import merge_forms
from qindex_pipeline.retrieval.normalizing.words import option_names
from qindex_pipeline.retrieval.result import Result, judge

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = Sequence[NDArray[np.float32]] | NDArray[np.float32]


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
    hits = find(index.collection, asked, forms, vectors, site)
    return judged(index.collection, fuse(hits, legs, top_k), limit)


def judged(
    collection: Collection, ranked: Sequence[Ranked], limit: Callable[[str], float]
) -> list[Result]:
    """The ranked chunks with their texts, each held against its site's threshold.

    Args:
        collection: Where they were found.
        ranked: What `fuse` gave.
        limit: Confidence that a result of a site needs.
    """
    passages = collection.retrieve([point_id(item.chunk_id) for item in ranked])
    # On a server, a chunk may have gone since the legs found it.
    found_at = [
        (item, passages[identity])
        for item in ranked
        if (identity := point_id(item.chunk_id)) in passages
    ]
    return [
        judge(rank, item, passage, limit(passage["site"]))
        for rank, (item, passage) in enumerate(found_at, start=1)
    ]


def find(
    collection: Collection,
    legs: Sequence[Leg],
    forms: Sequence[str],
    vectors: "Vectors",
    site: str | None,
) -> Hits:
    """The hits of a question in all its forms, as whoever asks or evaluates gets them.

    Args:
        collection: Where to ask, published or not.
        legs: The legs that are asked.
        forms: The question as it was asked, then its canonical form where there is another.
        vectors: The embedder's vector of each form as a query.
        site: Only this site; None asks all.
    """
    bm25, options = _bm25(), option_names(forms[0])
    found = [
        ask_legs(
            collection,
            legs,
            cast("list[float]", vector.tolist()),
            bm25.query(form),
            site,
            # A further form counts only for passages that name the options.
            texts=bool(options) and form != forms[0],
        )
        for form, vector in zip(forms, vectors, strict=True)
    ]
    return merge_forms(found, options)


@cache
def _bm25() -> Bm25Model:
    return Bm25Model()

"""The hits of many questions for an evaluation: all legs of each asked once, for every arm."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from qindex_pipeline.embedding.embedder import Embedder
from qindex_pipeline.ids import point_id
from qindex_pipeline.index.engine import Collection
from qindex_pipeline.index.sparse import Bm25Model
from qindex_pipeline.retrieval.legs import LEGS, Hits, ask_legs
from qindex_pipeline.retrieval.normalizing.forms import merge_forms, search_forms

Forms = Callable[[str], Sequence[str]]
"""From a question to the texts that are searched for it, the best hit of which counts."""

BATCH = 256
"""Payloads read at once; a chunk's payload carries its text."""


@dataclass(frozen=True)
class Searched:
    """What was found: all legs' hits per question in order, and the URL of every chunk in them."""

    hits: Sequence[Hits]
    urls: Mapping[str, str]

    def split(self, count: int) -> "tuple[Searched, Searched]":
        """The first `count` questions, and the others."""
        return Searched(self.hits[:count], self.urls), Searched(self.hits[count:], self.urls)


def search(
    collection: Collection,
    embedder: Embedder,
    questions: Sequence[str],
    site: str | None,
    forms: Forms = search_forms,
) -> Searched:
    """Embed all that is asked together, ask all legs of it in one batch, and name the pages.

    Args:
        collection: Where to ask, published or not.
        embedder: The embedder that it was built with.
        questions: What is asked, each as a user would.
        site: Only this site; None asks all.
        forms: What is searched for a question.
    """
    if not questions:
        return Searched([], {})
    asked = [forms(question) for question in questions]
    texts = list(dict.fromkeys(text for each in asked for text in each))
    bm25 = Bm25Model()
    hits = {
        text: ask_legs(collection, LEGS, vector.tolist(), bm25.query(text), site)
        for text, vector in zip(texts, embedder.embed_queries(texts), strict=True)
    }
    found = [merge_forms([hits[text] for text in each]) for each in asked]
    return Searched(found, _urls(collection, found))


def _urls(collection: Collection, found: Sequence[Hits]) -> dict[str, str]:
    """URL by chunk: from a payload that carries it, else read from the chunk's first point."""
    urls: dict[str, str] = {}
    chunks: dict[str, None] = {}
    for hits in found:
        for best in hits.values():
            for chunk, hit in best.items():
                chunks[chunk] = None
                if "url" in hit.payload:
                    urls[chunk] = hit.payload["url"]
    missing = [point_id(chunk) for chunk in chunks if chunk not in urls]
    for start in range(0, len(missing), BATCH):
        for payload in collection.retrieve(missing[start : start + BATCH]).values():
            urls[payload["chunk_id"]] = payload["url"]
    return urls

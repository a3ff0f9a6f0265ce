"""The hits of many questions for an evaluation: all legs of each asked once, for every arm."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qindex_pipeline.ids import point_id
from qindex_pipeline.index.engine import Collection
from qindex_pipeline.retrieval.legs import LEGS, Hits
from qindex_pipeline.retrieval.normalizing.forms import search_forms
from qindex_pipeline.retrieval.search import find

if TYPE_CHECKING:
    from qindex_pipeline.retrieval.search import Vectors

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
    embed_queries: Callable[[Sequence[str]], "Vectors"],
    questions: Sequence[str],
    site: str | None,
    forms: Forms = search_forms,
) -> Searched:
    """Embed all that is asked together, find each question's hits as `ask` does, name the pages.

    Args:
        collection: Where to ask, published or not.
        embed_queries: Vectors of queries, by the embedder that the collection was built with;
            each text is asked for once.
        questions: What is asked, each as a user would.
        site: Only this site; None asks all.
        forms: What is searched for a question.
    """
    if not questions:
        return Searched([], {})
    asked = [forms(question) for question in questions]
    texts = list(dict.fromkeys(text for each in asked for text in each))
    vectors = dict(zip(texts, embed_queries(texts), strict=True))
    found = [find(collection, LEGS, each, [vectors[text] for text in each], site) for each in asked]
    return Searched(found, _urls(collection, found))


def _urls(collection: Collection, found: Sequence[Hits]) -> dict[str, str]:
    """URL by chunk, read from the chunks' first points."""
    chunks = dict.fromkeys(chunk for hits in found for best in hits.values() for chunk in best)
    ids = [point_id(chunk) for chunk in chunks]
    urls: dict[str, str] = {}
    for start in range(0, len(ids), BATCH):
        for payload in collection.retrieve(ids[start : start + BATCH]).values():
            urls[payload["chunk_id"]] = payload["url"]
    return urls

"""One question, searched as `ask` searches it, with all that a search throws away."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qindex_pipeline.explaining.model.facts import Section
from qindex_pipeline.ids import point_id
from qindex_pipeline.index.engine import Collection
from qindex_pipeline.retrieval.fusion import Parts, Ranked, fuse, parts
from qindex_pipeline.retrieval.held import Published
from qindex_pipeline.retrieval.legs import LEGS, Hits
from qindex_pipeline.retrieval.result import Result
from qindex_pipeline.retrieval.search import find, judged

if TYPE_CHECKING:
    from qindex_pipeline.retrieval.search import Vectors

_BATCH = 256
"""Payloads read at once; a chunk's payload carries its text."""


@dataclass(frozen=True)
class Searched:
    """A question's search.

    Attributes:
        index: What was asked.
        site: The only site that was asked; None for all.
        forms: The texts that were searched, the question as it was asked first.
        vectors: A vector of each form.
        hits: What the legs returned.
        ranked: Every candidate in the fused order.
        parts: The parts of each candidate's score.
        results: The first of them, as a reader gets them.
    """

    index: Published
    site: str | None
    forms: Sequence[str]
    vectors: "Vectors"
    hits: Hits
    ranked: Sequence[Ranked]
    parts: Mapping[str, Parts]
    results: Sequence[Result]

    @property
    def fused_ranks(self) -> dict[str, int]:
        """Rank of every candidate in the fused order, by chunk."""
        return {item.chunk_id: rank for rank, item in enumerate(self.ranked, start=1)}


def search(
    index: Published,
    forms: Sequence[str],
    site: str | None,
    top_k: int,
    limit: Callable[[str], float],
) -> Searched:
    """Search a question in all its forms by all legs.

    Args:
        index: What is asked.
        forms: As for `ask`.
        site: Only this site; None asks all.
        top_k: Results, at most.
        limit: Confidence that a result of a site needs.
    """
    vectors = index.embedder.embed_queries(list(forms))
    hits = find(index.collection, LEGS, forms, vectors, site)
    ranked = fuse(hits, LEGS)
    results = judged(index.collection, ranked[:top_k], limit)
    return Searched(index, site, forms, vectors, hits, ranked, parts(hits), results)


def sections(collection: Collection, chunks: Iterable[str]) -> dict[str, Section]:
    """Where chunks stand, by chunk, of those that the collection has."""
    ids = [point_id(chunk) for chunk in chunks]
    found: dict[str, Section] = {}
    for start in range(0, len(ids), _BATCH):
        for payload in collection.retrieve(ids[start : start + _BATCH]).values():
            found[payload["chunk_id"]] = section_of(payload)
    return found


def section_of(row: Mapping[str, object]) -> Section:
    """Where a chunk stands, from its payload or its row of the chunks table."""
    headings = row["heading_path"]
    assert isinstance(headings, Iterable)
    return Section(
        chunk_id=str(row["chunk_id"]),
        site=str(row["site"]),
        url=str(row["url"]),
        anchor=None if row["anchor"] is None else str(row["anchor"]),
        title=str(row["title"]),
        heading_path=[str(heading) for heading in headings],
    )

"""Which words of a question a chunk has, and what each of them weighs for it on the BM25 leg."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from qindex_pipeline.explaining.gathering.depth import DEEP_LIMIT
from qindex_pipeline.explaining.gathering.searched import Searched
from qindex_pipeline.index.engine import QueryRequest
from qindex_pipeline.index.sparse import Bm25Model, SparseVector

COMMON, FEW = 0.1, 10
"""A word that more than this share of the chunks has, and more than so many, decides nothing: it
is not called missing."""


@dataclass(frozen=True)
class Words:
    """The words of a question in a collection.

    Attributes:
        weights: By chunk, by word: what the word adds to the chunk's BM25 score; words that the
            chunk lacks, in its text, its place and its questions, are absent.
        frequency: Chunks that have a word, by word.
        chunks: Chunks that were asked.
    """

    weights: Mapping[str, Mapping[str, float]]
    frequency: Mapping[str, int]
    chunks: int

    def missing(self, chunk: str) -> list[str]:
        """The words that a chunk lacks, the rarest first, without those that are common."""
        lacking = self.frequency.keys() - self.weights[chunk].keys()
        most = max(FEW, COMMON * self.chunks)
        rare = [word for word in lacking if self.frequency[word] <= most]
        return sorted(rare, key=lambda word: (self.frequency[word], word))

    def decisive(self, own: str, winner: str) -> list[str]:
        """The words that put a winner ahead since a chunk lacks them, the heaviest first.

        None where they make up less than half of the distance: the words that both have decide.
        """
        theirs = self.weights[winner]
        lacking = theirs.keys() & set(self.missing(own))
        distance = sum(theirs.values()) - sum(self.weights[own].values())
        if sum(theirs[word] for word in lacking) < distance / 2:
            return []
        return sorted(lacking, key=lambda word: -theirs[word])


def words_of(forms: Iterable[str]) -> dict[int, str]:
    """The words that the BM25 leg looks for, as they were typed first, by their token id.

    Stop words are none; two inflections of a word are one.
    """
    bm25 = Bm25Model()
    words: dict[int, str] = {}
    for form in forms:
        for word in _split(form):
            for token in bm25.query(word).indices:
                words.setdefault(token, word.casefold())
    return words


def words_in(searched: Searched, chunks: Sequence[str], total: int) -> Words:
    """Look up the words of a question for some chunks.

    The collection is asked for each word alone: only it knows what a word weighs there.

    Args:
        searched: The search.
        chunks: Chunks that the collection has.
        total: All chunks that were asked.
    """
    words, collection = words_of(searched.forms), searched.index.collection
    requests = [
        QueryRequest(
            SparseVector([token], [1.0]), "passage", DEEP_LIMIT, searched.site, ("chunk_id",)
        )
        for token in words
    ]
    of_chunks = [replace(request, chunks=tuple(chunks)) for request in requests]
    replies = collection.query_batch([*requests, *of_chunks])
    weights: dict[str, dict[str, float]] = {chunk: {} for chunk in chunks}
    for word, points in zip(words.values(), replies[len(words) :], strict=True):
        for _, score, payload in points:
            weights[payload["chunk_id"]][word] = score
    counts = [len(points) for points in replies[: len(words)]]
    return Words(weights, dict(zip(words.values(), counts, strict=True)), total)


def _split(text: str) -> list[str]:
    """Pieces of a text that hold one word each, or more where a script joins them."""
    return "".join(" " if _separates(character) else character for character in text).split()


def _separates(character: str) -> bool:
    """Whether no tokenizer has the character inside a word.

    Which further characters are letters depends on the version of Unicode: they stay in the piece.
    """
    if character.isascii():
        return not character.isalnum()
    return unicodedata.category(character)[0] in "PZ"

"""The sparse leg's vectors: Qdrant's BM25, computed here for every engine."""

from dataclasses import dataclass

from qdrant_edge import Bm25, Bm25Config

_K, _B, _AVG_LEN, _LANGUAGE = 1.2, 0.75, 256.0, "english"

SPARSE_MODEL = f"bm25 k={_K} b={_B} avg_len={_AVG_LEN:g} language={_LANGUAGE}"
"""The sparse model's parameters, part of the fingerprint. They are Qdrant's defaults."""


@dataclass(frozen=True)
class SparseVector:
    """Token ids and their weights; IDF is applied by the engine."""

    indices: list[int]
    values: list[float]


class Bm25Model:
    """Documents and queries as sparse vectors of the same token ids."""

    def __init__(self) -> None:
        """Build the tokenizer, stemmer and stop words of the declared language."""
        self._model = Bm25(Bm25Config(k=_K, b=_B, avg_len=_AVG_LEN, language=_LANGUAGE))

    def document(self, text: str) -> SparseVector:
        """Term weights of an indexed text."""
        vector = self._model.embed_document(text)
        return SparseVector(list(vector.indices), list(vector.values))

    def query(self, text: str) -> SparseVector:
        """Each token of a question once, with weight 1."""
        vector = self._model.embed_query(text)
        return SparseVector(list(vector.indices), list(vector.values))

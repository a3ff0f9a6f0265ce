"""LlamaIndex's default VectorStoreIndex with this project's embedder, in an environment of its own.

    python retrieval_llama.py REQUEST_JSON OUTPUT_JSON

Reads documents and questions, indexes the documents as `from_documents` does by default, and
writes the ranked labels of each question. Texts longer than the embedder reads are cut at its
limit, as sentence-transformers cuts them.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from pydantic import PrivateAttr
from tokenizers import Tokenizer

from qindex_pipeline.embedding import minilm_embedder
from qindex_pipeline.embedding.cache import VectorCache
from qindex_pipeline.embedding.minilm_embedder import MiniLMEmbedder
from qindex_pipeline.ids import content_hash

FOLDER = Path(minilm_embedder.__file__).parent / "minilm"
TOP = 50
"""Nodes retrieved, as many as a leg of ours; LlamaIndex's own default of 2 knows no rank 3."""


class MiniLM(BaseEmbedding):
    """The embedder `minilm` in LlamaIndex's interface; its vectors are kept in a file."""

    _model: Any = PrivateAttr()
    _tokenizer: Any = PrivateAttr()
    _cache: Any = PrivateAttr()

    def __init__(self, cache: Path) -> None:
        """Keep vectors in `cache`."""
        super().__init__(model_name="minilm")
        self._model, self._cache = MiniLMEmbedder(FOLDER), VectorCache(cache)
        self._tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def _get_text_embeddings(self, texts: Sequence[str]) -> list[list[float]]:
        cut = {content_hash(text): self._cut(text) for text in texts}
        name = f"{self._model.spec} {self._model.revision}"
        vectors, _ = self._cache.embed(name, cut, self._model.embed, lambda *_: None)
        return [vectors[content_hash(text)].tolist() for text in texts]

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _cut(self, text: str) -> str:
        """What the model reads of a text: its frame takes two of the tokens."""
        offsets = self._tokenizer.encode(text).offsets
        limit = self._model.max_tokens
        return text if len(offsets) <= limit else text[: offsets[limit - 2][1]]


def main() -> None:
    """Index, ask, write."""
    request = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    documents = [
        Document(
            text=document["text"],
            metadata={"title": document["title"], "label": document["label"]},
            excluded_embed_metadata_keys=["label"],
        )
        for document in request["documents"]
    ]
    index = VectorStoreIndex.from_documents(documents, embed_model=MiniLM(Path(request["cache"])))
    retriever = index.as_retriever(similarity_top_k=TOP)
    ranked = [
        list(dict.fromkeys(node.metadata["label"] for node in retriever.retrieve(question)))
        for question in request["questions"]
    ]
    Path(sys.argv[2]).write_text(json.dumps(ranked), encoding="utf-8")


if __name__ == "__main__":
    main()

"""LlamaIndex's VectorStoreIndex in the speed benchmark, in an environment of its own.

    python speed_llama.py build|ask REQUEST_JSON

Its in-memory store is filled with the same vectors, texts and payloads, written to its folder as
`persist` does, and loaded from there to be asked. Prints its figures as JSON.
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from llama_index.core import StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import TextNode
from pydantic import PrivateAttr
from speed_asking import Clock, asked
from speed_points import speed_points

from qindex_pipeline.embedding.minilm_embedder import MiniLMEmbedder

TOP = 50
"""As many as a leg of ours returns."""


class MiniLM(BaseEmbedding):
    """The embedder `minilm` in LlamaIndex's interface."""

    _model: Any = PrivateAttr()

    def __init__(self) -> None:
        """Load nothing yet; the first text does."""
        super().__init__(model_name="minilm")
        self._model = MiniLMEmbedder()

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._model.embed([text])[0].tolist()

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


def build(request: dict[str, Any]) -> dict[str, Any]:
    """Index nodes that have their vectors, and write them down."""
    nodes = [
        TextNode(
            id_=point.id,
            text=point.payload.get("text") or point.payload.get("question") or "",
            metadata={"site": site, "chunk_id": point.payload["chunk_id"]},
            embedding=point.vector,
        )
        for site, points in speed_points(Path(request["data"]), request["count"]).items()
        for point in points
    ]
    index = VectorStoreIndex(nodes, embed_model=MiniLM())
    index.storage_context.persist(persist_dir=str(folder_of(request)))
    return {}


def ask(request: dict[str, Any]) -> dict[str, Any]:
    """Load, and retrieve as `as_retriever` does."""
    started = time.perf_counter()
    storage = StorageContext.from_defaults(persist_dir=str(folder_of(request)))
    model = MiniLM()
    index: Any = load_index_from_storage(storage, embed_model=model)
    retriever = index.as_retriever(similarity_top_k=TOP)
    opened = time.perf_counter() - started
    embed, search = Clock(), Clock()
    model._model.embed = embed.wrap(model._model.embed)
    store: Any = index.vector_store
    type(store).query = search.wrap(type(store).query)

    def retrieve(question: str) -> Sequence[str]:
        return [node.metadata["chunk_id"] for node in retriever.retrieve(question)]

    return {"open": opened} | asked(request["questions"], retrieve, embed, search)


def folder_of(request: dict[str, Any]) -> Path:
    """Where the index is written."""
    return Path(request["folder"]) / "llama_index"


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    print(json.dumps({"build": build, "ask": ask}[sys.argv[1]](given)))

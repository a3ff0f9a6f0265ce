"""Embedders behind OpenAI's embeddings API: OpenAI itself, Ollama, and servers that speak it."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from qindex_pipeline.errors import WorkError
from qindex_pipeline.providers import openai_client, provider_errors
from qindex_pipeline.settings import Settings

if TYPE_CHECKING:
    from qindex_pipeline.embedding.embedder import Vectors

DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
    "nomic-embed-text": 768,
}
"""Dimensions of models that the profiles name; another model is asked once."""

MAX_TOKENS = {"openai": 8191, "ollama": 2048}
"""What OpenAI's models read, and nomic-embed-text behind Ollama, which cuts the rest silently."""

BATCH_TEXTS = 128
BYTES_PER_TOKEN = 2
"""A token of English prose is 4 to 5 bytes, of code 2.5 to 3: counting one token for every two
bytes is an upper bound that needs no tokenizer from a model hub."""


class OpenAIEmbedder:
    """An embedder that asks a server for its vectors."""

    revision = ""

    def __init__(self, provider: str, model: str, client: Any) -> None:
        """Embed with `model` through `client`; `provider` is `openai` or `ollama`."""
        self.spec = f"{provider}:{model}"
        self.max_tokens = MAX_TOKENS[provider]
        self._provider, self._model, self._client = provider, model, client
        self._dimension = DIMENSIONS.get(model)

    @property
    def dimension(self) -> int:
        """Length of a vector; known for the profiles' models, else one text is embedded."""
        if self._dimension is None:
            self._dimension = self.embed(["dimension"]).shape[1]
        return self._dimension

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """An upper bound of each text's tokens."""
        return [math.ceil(len(text.encode()) / BYTES_PER_TOKEN) for text in texts]

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Unit vectors, shape (len(texts), dimension), in as few requests as the API allows."""
        import numpy as np

        if any(tokens > self.max_tokens for tokens in self.count_tokens(texts)):
            raise WorkError(
                f"a text longer than {self.max_tokens} tokens was given to {self.spec}: cut it "
                "into windows first"
            )
        rows: list[Any] = []
        with provider_errors(self._provider, self._model):
            for batch in _slices(texts):
                reply = self._client.embeddings.create(
                    model=self._model, input=batch, encoding_format="float"
                )
                rows.extend(item.embedding for item in sorted(reply.data, key=_index))
        if len(rows) != len(texts):
            raise WorkError(f"{self.spec} answered {len(rows)} vectors for {len(texts)} texts")
        if not rows:
            return np.empty((0, self.dimension), dtype=np.float32)
        vectors = np.asarray(rows, dtype=np.float32)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def _index(item: Any) -> int:
    return item.index


def _slices(texts: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), BATCH_TEXTS):
        yield list(texts[start : start + BATCH_TEXTS])


def open_openai_embedder(provider: str, model: str, settings: Settings) -> OpenAIEmbedder:
    """The embedder `provider:model`. Raises UsageError when its key is missing."""
    return OpenAIEmbedder(provider, model, openai_client(provider, settings))

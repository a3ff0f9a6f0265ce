"""Embedders behind OpenAI's embeddings API: OpenAI itself, Ollama, and servers that speak it.

A server may cut a text to its context and say nothing (Ollama's `/v1/embeddings` takes no
`truncate` option, and its default is to cut). Windows are therefore made to fit by a count that
errs upwards, and the tokens that a reply says were read are held against the text.
"""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from qindex_pipeline.embedding.limits import limit_of
from qindex_pipeline.embedding.prefixes import prefixes_of
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

SHORTENED = "text-embedding-3-"
"""Models that were trained for a prefix of their vector to be a vector of its own."""

REQUEST_TEXTS = 2048
REQUEST_TOKENS = 300_000
"""What one request may hold, as OpenAI's API reference has it for embeddings."""

SHORT = 128
"""Tokens that every server reads."""

_TOO_LONG = re.compile(r"context (?:length|size)|too (?:large|long)|maximum|input length|exceed")
_REFUSALS = frozenset({400, 413, 422, 500})
"""Statuses by which servers refuse a text as too long: 500 is llama.cpp's."""


class OpenAIEmbedder:
    """An embedder that asks a server for its vectors."""

    revision = ""

    def __init__(
        self, provider: str, model: str, client: Any, dimensions: int | None = None
    ) -> None:
        """Embed with `model` through `client`; `provider` is `openai` or `ollama`.

        With `dimensions` the server is asked to shorten its vectors to that length.
        """
        self.spec = f"{provider}:{model}"
        self.prefixes = prefixes_of(model)
        self._limit = limit_of(model)
        self.max_tokens = self._limit.max_tokens
        self._provider, self._model, self._client = provider, model, client
        self._options = {} if dimensions is None else {"dimensions": dimensions}
        self._dimension = dimensions or DIMENSIONS.get(model)
        self._seen_whole = SHORT  # length of the longest text that the server has read to its end

    @property
    def dimension(self) -> int:
        """Length of a vector; known for the profiles' models, else one text is embedded."""
        if self._dimension is None:
            self._dimension = self.embed(["dimension"]).shape[1]
        return self._dimension

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """An upper bound of each text's tokens as a document."""
        return self._limit.most([self.prefixes.document + text for text in texts])

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Unit vectors of documents, in as few requests as the API allows."""
        return self._embed([self.prefixes.document + text for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> "Vectors":
        """Unit vectors of questions, in as few requests as the API allows."""
        return self._embed([self.prefixes.query + text for text in texts])

    def _embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        lengths = self._limit.most(texts)
        if max(lengths) > self.max_tokens:
            raise WorkError(
                f"a text of up to {max(lengths)} tokens was given to {self.spec}, which reads "
                f"{self.max_tokens}: cut it into windows first"
            )
        rows: list[Any] = [None] * len(texts)
        for batch in self._batches(lengths):
            vectors = self._ask([texts[index] for index in batch], max(lengths[i] for i in batch))
            for index, vector in zip(batch, vectors, strict=True):
                rows[index] = vector
        vectors = np.asarray(rows, dtype=np.float32)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)

    def _batches(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Indices of each request's texts.

        A text longer than any before goes alone: a reply's token count is a sum, which tells of
        one text only where there is one.
        """
        left = list(range(len(lengths)))
        longest = max(left, key=lambda index: lengths[index])
        if lengths[longest] > self._seen_whole:
            left.remove(longest)
            yield [longest]
        batch: list[int] = []
        tokens = 0
        for index in left:
            if len(batch) == REQUEST_TEXTS or (batch and tokens + lengths[index] > REQUEST_TOKENS):
                yield batch
                batch, tokens = [], 0
            batch.append(index)
            tokens += lengths[index]
        if batch:
            yield batch

    def _ask(self, texts: list[str], longest: int) -> list[list[float]]:
        with provider_errors(self._provider, self._model):
            reply = self._request(texts, longest)
        if len(reply.data) != len(texts):
            raise WorkError(
                f"{self.spec} answered {len(reply.data)} vectors for {len(texts)} texts"
            )
        if len(texts) == 1:
            self._require_whole(reply, texts[0])
            self._seen_whole = max(self._seen_whole, longest)
        return [item.embedding for item in sorted(reply.data, key=_index)]

    def _request(self, texts: list[str], longest: int) -> Any:
        from openai import APIStatusError

        try:
            return self._client.embeddings.create(
                model=self._model, input=texts, encoding_format="float", **self._options
            )
        except APIStatusError as error:
            if error.status_code in _REFUSALS and _TOO_LONG.search(str(error).lower()):
                raise WorkError(
                    f"{self.spec} refuses a text of at most {longest} tokens as too long (HTTP "
                    f"{error.status_code}): {self._remedy}"
                ) from error
            raise

    def _require_whole(self, reply: Any, text: str) -> None:
        usage = getattr(reply, "usage", None)  # some servers leave it out, or say 0
        read = usage.prompt_tokens if usage else 0
        (least,) = self._limit.least([text])
        if 0 < read < least:
            raise WorkError(
                f"{self.spec} read {read} tokens of a text that has {least} or more: {self._remedy}"
            )

    @property
    def _remedy(self) -> str:
        return (
            f"its server must read {self.max_tokens} tokens of a text, raise its context length "
            "(Ollama: OLLAMA_CONTEXT_LENGTH) or name another QINDEX_EMBEDDER"
        )


def _index(item: Any) -> int:
    return item.index


def open_openai_embedder(
    provider: str, model: str, settings: Settings, expected_dim: int | None
) -> OpenAIEmbedder:
    """The embedder `provider:model`, of `expected_dim` where the model can be shortened to it.

    Raises UsageError when its key is missing.
    """
    shortened = None
    if expected_dim is not None and model.startswith(SHORTENED):
        full = DIMENSIONS.get(model)
        shortened = expected_dim if full is not None and expected_dim < full else None
    return OpenAIEmbedder(provider, model, openai_client(provider, settings), shortened)

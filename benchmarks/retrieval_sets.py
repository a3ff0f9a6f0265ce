"""The corpora of the retrieval benchmark: indexes built by the product, questions, right answers.

Everything that is built lies in a cache folder, so that a second run embeds nothing. What counts
as an answer is a *label*: a page for the sites, a chunk's link for rag_docs, which comes as chunks.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urlsplit

from retrieval_index import opened, passages_only, without_questions
from retrieval_measures import Scoring, chunk_scoring, page_scoring

from qindex_pipeline.embedding.cache import VectorCache
from qindex_pipeline.embedding.embedder import Embedder
from qindex_pipeline.embedding.fingerprint import fingerprint
from qindex_pipeline.embedding.opening import open_embedder
from qindex_pipeline.embedding.site_vectors import SiteVectors
from qindex_pipeline.embedding.stage import embed_site
from qindex_pipeline.ids import content_hash
from qindex_pipeline.index.edge import EdgeEngine
from qindex_pipeline.index.engine import SCHEMA_VERSION, Collection, Manifest
from qindex_pipeline.index.points import build_points
from qindex_pipeline.index.sparse import SPARSE_MODEL
from qindex_pipeline.page_names import names_of
from qindex_pipeline.questions.asking.ledger import Ledger
from qindex_pipeline.questions.filters.judging import Tools, judge_questions
from qindex_pipeline.questions.generators.rules import RulesGenerator
from qindex_pipeline.questions.proposing import propose_questions
from qindex_pipeline.retrieval.evaluation.rows import EvalRow
from qindex_pipeline.retrieval.evaluation.search import Searched, search
from qindex_pipeline.settings import Settings
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import CHUNKS, RAW_PAGES

Row = dict[str, Any]

GIT_DOC = Path("/usr/share/doc/git/html")
GIT_PAGES, STL_PAGES = 400, 30


@dataclass(frozen=True)
class Corpus:
    """Questions, what the legs found for them, and what is right.

    Attributes:
        name: As `--set` names it.
        questions: What is asked.
        right: The right labels of each question.
        found: All legs' hits of each question.
        typed: The same for the user's words alone, without their canonical form.
        without: The same in an index of the same passages that no question was written for.
        labels: Label by chunk.
        pages: Page by chunk; the label itself where labels are pages.
        texts: The texts of a label's chunks, each behind its headings.
        documents: What another system indexes: `label`, `title` and `text` of each.
        scoring: How a ranking of labels is scored.
    """

    name: str
    questions: Sequence[str]
    right: Sequence[frozenset[str]]
    found: Searched
    typed: Searched
    without: Searched
    labels: Mapping[str, str]
    pages: Mapping[str, str]
    texts: Mapping[str, Sequence[str]]
    documents: Sequence[Row]
    scoring: Scoring


def rag_docs(shared: Path, cache: Path) -> Corpus:
    """The 232 chunks of rag_docs through every stage behind the chunker."""
    folder = shared / "eval/rag_docs"
    rows = json.loads((folder / "docs_evaluation_dataset.json").read_text(encoding="utf-8"))
    given = json.loads((folder / "anthropic_docs.json").read_text(encoding="utf-8"))
    chunks = [_chunk(item) for item in given]
    labels = {
        chunk["chunk_id"]: item["chunk_link"] for chunk, item in zip(chunks, given, strict=True)
    }
    settings = Settings(profile="offline", data=str(cache / "rag_docs"))
    embedder = open_embedder("minilm", settings, None)
    collection, embeddings = _indexed(chunks, embedder, cache / "rag_docs")
    questions, embed = [row["question"] for row in rows], embedder.embed_queries
    with closing(collection):
        found = search(collection, embed, questions, None)
        typed = search(collection, embed, questions, None, lambda question: (question,))
    with passages_only(collection.manifest, "rag-docs", chunks, embeddings) as passages:
        without = search(passages, embed, questions, None)
    return Corpus(
        name="rag_docs",
        questions=questions,
        right=[frozenset(row["correct_chunks"]) for row in rows],
        found=found,
        typed=typed,
        without=without,
        labels=labels,
        pages={chunk["chunk_id"]: chunk["url"] for chunk in chunks},
        texts={labels[chunk["chunk_id"]]: [_with_headings(chunk)] for chunk in chunks},
        documents=[
            {"label": labels[chunk["chunk_id"]], "title": chunk["title"], "text": chunk["text"]}
            for chunk in chunks
        ],
        scoring=chunk_scoring(3),
    )


def site_corpus(name: str, rows: Sequence[EvalRow], data: Path, site: str) -> Corpus:
    """The questions `rows` on `site`, ingested under the data root `data`."""
    questions = [row.question for row in rows]
    with opened(data, site) as index:
        found, typed = index.search(questions), index.search(questions, str.strip)
        with without_questions(index, data) as passages:
            without = passages.search(questions)
    store = ParquetStore(str(data))
    texts: dict[str, list[str]] = defaultdict(list)
    for chunk in store.read(CHUNKS, site).to_pylist():
        texts[names_of(chunk["url"])[1]].append(_with_headings(chunk))
    urls = found.urls | without.urls | typed.urls
    pages = {chunk: names_of(url)[1] for chunk, url in urls.items()}
    return Corpus(
        name=name,
        questions=questions,
        right=[row.right for row in rows],
        found=found,
        typed=typed,
        without=without,
        labels=pages,
        pages=pages,
        texts=texts,
        documents=list(_documents(store.read(RAW_PAGES, site).to_pylist())),
        scoring=page_scoring(),
    )


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Options that name ready indexes, and the cache in which missing ones are built."""
    parser.add_argument("--git-data", type=Path, help="QINDEX_DATA that holds the site git")
    parser.add_argument("--stl-data", type=Path, help="QINDEX_DATA that holds the site stl")
    add_cache_option(parser)


def add_cache_option(parser: argparse.ArgumentParser) -> None:
    """The option that names the cache; where the labels are comes from the environment."""
    cache = os.environ.get("QINDEX_BENCHMARK_CACHE")
    folder = Path(cache or Path(tempfile.gettempdir()) / "qindex-benchmark") / "retrieval"
    parser.add_argument(
        "--cache", type=Path, default=folder, help="indexes, vectors, the peer's environment"
    )
    shared = Path(os.environ.get("QINDEX_SHARED", "../shared")).resolve()
    parser.set_defaults(shared=shared)


def only_offline() -> None:
    """Forget what the environment says of a product's settings."""
    for name in [name for name in os.environ if name.startswith(("QINDEX_", "QDRANT_"))]:
        if name not in ("QINDEX_SHARED", "QINDEX_BENCHMARK_CACHE"):
            del os.environ[name]


def git_data(options: argparse.Namespace) -> Path:
    """The data root of the site git, ingested where no option names one."""
    return options.git_data or ingest_folder(GIT_DOC, "git", GIT_PAGES, options.cache)


def stl_data(options: argparse.Namespace) -> Path:
    """The data root of the site stl, ingested where no option names one."""
    folder = options.shared / "sites/stl"
    return options.stl_data or ingest_folder(folder, "stl", STL_PAGES, options.cache)


def ingest_folder(folder: Path, site: str, max_pages: int, cache: Path) -> Path:
    """Ingest a built site into the cache with the product's command; the data root."""
    data = cache / site
    data.mkdir(parents=True, exist_ok=True)
    variables = {
        "QINDEX_PROFILE": "offline",
        "QINDEX_DATA": str(data),
        "QINDEX_SITES": str(data / "sites.yaml"),
    }
    command = [Path(sys.executable).with_name("qindex"), "--quiet", "ingest", folder]
    command += [str(max_pages), "--site", site]
    subprocess.run(command, check=True, env=os.environ | variables)
    return data


def _chunk(item: Mapping[str, str]) -> Row:
    """A given chunk as a row of the chunks table; its page is named by its address."""
    url, anchor = urldefrag(item["chunk_link"])
    title = urlsplit(url).path.rsplit("/", 1)[-1].replace("-", " ").capitalize()
    return {
        "site": "rag-docs",
        "chunk_id": content_hash(item["chunk_link"]),
        "url": url,
        "anchor": anchor,
        "title": title,
        "lang": "en",
        "heading_path": [item["chunk_heading"]],
        "text": item["text"],
        "duplicate_of": None,
    }


def _with_headings(chunk: Row) -> str:
    return "\n".join([chunk["title"], *chunk["heading_path"], chunk["text"]])


def _indexed(
    chunks: Sequence[Row], embedder: Embedder, folder: Path
) -> tuple[Collection, Sequence[Row]]:
    """The chunks' questions, vectors and points, made as the assets make them, and published.

    Returns:
        What was published, and the rows of its embeddings.
    """
    ledger = Ledger(folder / "ledger")
    generator = RulesGenerator(Settings().max_questions)
    proposed = propose_questions(chunks, generator, ledger, now=lambda: datetime.now(UTC))
    made_by = fingerprint(embedder, SPARSE_MODEL)
    vectors = VectorCache(folder / "vectors.sqlite")
    site = SiteVectors(chunks, embedder, made_by, vectors)
    questions = judge_questions(proposed.rows, chunks, Tools(site.embed, site.rank))
    rows = embed_site(chunks, questions, embedder, made_by, vectors).rows
    engine = EdgeEngine(folder / "index")
    points = build_points(chunks, questions, rows)
    engine.sync("rag_docs", Manifest(SCHEMA_VERSION, made_by), "rag-docs", points)
    collection = engine.open("rag_docs")
    assert collection is not None
    return collection, rows


def _documents(pages: Iterable[Row]) -> Iterable[Row]:
    for page in pages:
        if page["markdown"] is not None and page["outcome"] != "duplicate_content":
            url = page["canonical_url"] or page["url"]
            title = page["h1"] or page["title"] or ""
            yield {"label": names_of(url)[1], "title": title, "text": page["markdown"]}

"""The corpora of the retrieval benchmark: indexes built by the product, questions, right answers.

Everything that is built lies in a cache folder, so that a second run embeds nothing. What counts
as an answer is a *label*: a page for the sites, a chunk's link for rag_docs, which comes as chunks.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urlsplit

from retrieval_measures import Scoring, chunk_scoring, page_scoring

from qindex_pipeline.embedding.cache import VectorCache
from qindex_pipeline.embedding.embedder import Embedder
from qindex_pipeline.embedding.fingerprint import fingerprint
from qindex_pipeline.embedding.opening import open_embedder
from qindex_pipeline.embedding.stage import embed_site
from qindex_pipeline.ids import content_hash
from qindex_pipeline.index.edge import EdgeEngine
from qindex_pipeline.index.engine import SCHEMA_VERSION, Collection, Manifest
from qindex_pipeline.index.points import build_points
from qindex_pipeline.index.sparse import SPARSE_MODEL
from qindex_pipeline.questions.grounding import ground
from qindex_pipeline.questions.ledger import Ledger
from qindex_pipeline.questions.proposing import propose_questions
from qindex_pipeline.questions.rules_generator import RulesGenerator
from qindex_pipeline.retrieval.evaluation.rows import names_of, read_rows
from qindex_pipeline.retrieval.evaluation.search import Searched, search
from qindex_pipeline.retrieval.opening import index_embedder, open_collection
from qindex_pipeline.settings import Settings
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import RAW_PAGES

Row = dict[str, Any]


@dataclass(frozen=True)
class Corpus:
    """Questions, what the legs found for them, and what is right.

    Attributes:
        name: As `--set` names it.
        questions: What is asked.
        right: The right labels of each question.
        found: All legs' hits of each question.
        labels: Label by chunk.
        pages: Page by chunk; the label itself where labels are pages.
        documents: What another system indexes: `label`, `title` and `text` of each.
        scoring: How a ranking of labels is scored.
    """

    name: str
    questions: Sequence[str]
    right: Sequence[frozenset[str]]
    found: Searched
    labels: Mapping[str, str]
    pages: Mapping[str, str]
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
    collection = _indexed(chunks, embedder, cache / "rag_docs")
    questions = [row["question"] for row in rows]
    found = search(collection, embedder, questions, None)
    collection.close()
    return Corpus(
        name="rag_docs",
        questions=questions,
        right=[frozenset(row["correct_chunks"]) for row in rows],
        found=found,
        labels=labels,
        pages={chunk["chunk_id"]: chunk["url"] for chunk in chunks},
        documents=[
            {"label": labels[chunk["chunk_id"]], "title": chunk["title"], "text": chunk["text"]}
            for chunk in chunks
        ],
        scoring=chunk_scoring(3),
    )


def site_corpus(name: str, file: Path, data: Path) -> Corpus:
    """The questions of `file` on the site `name`, ingested under the data root `data`."""
    settings = Settings(profile="offline", data=str(data))
    collection, models = open_collection(settings)
    embedder = index_embedder(collection.manifest, models, settings)
    rows = read_rows(file)
    found = search(collection, embedder, [row.question for row in rows], name)
    collection.close()
    pages = {chunk: names_of(url)[1] for chunk, url in found.urls.items()}
    stored = ParquetStore(str(data)).read(RAW_PAGES, name).to_pylist()
    return Corpus(
        name=name,
        questions=[row.question for row in rows],
        right=[row.right for row in rows],
        found=found,
        labels=pages,
        pages=pages,
        documents=list(_documents(stored)),
        scoring=page_scoring(),
    )


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


def _indexed(chunks: Sequence[Row], embedder: Embedder, folder: Path) -> Collection:
    """The chunks' questions, vectors and points, made as the assets make them, and published."""
    ledger = Ledger(folder / "ledger")
    generator = RulesGenerator(Settings().max_questions)
    proposed = propose_questions(chunks, generator, ledger, now=lambda: datetime.now(UTC))
    questions = ground(proposed.rows, chunks)
    made_by = fingerprint(embedder, SPARSE_MODEL)
    vectors = VectorCache(folder / "vectors.sqlite")
    rows = embed_site(chunks, questions, embedder, made_by, vectors).rows
    engine = EdgeEngine(folder / "index")
    points = build_points(chunks, questions, rows)
    engine.sync("rag_docs", Manifest(SCHEMA_VERSION, made_by), "rag-docs", points)
    collection = engine.open("rag_docs")
    assert collection is not None
    return collection


def _documents(pages: Iterable[Row]) -> Iterable[Row]:
    for page in pages:
        if page["markdown"] is not None and page["outcome"] != "duplicate_content":
            url = page["canonical_url"] or page["url"]
            title = page["h1"] or page["title"] or ""
            yield {"label": names_of(url)[1], "title": title, "text": page["markdown"]}

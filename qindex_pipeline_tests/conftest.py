"""What the tests of the core share: an isolated environment, and rows and points made by hand."""

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from qindex_pipeline.embedding.fingerprint import Fingerprint
from qindex_pipeline.ids import content_hash, point_id
from qindex_pipeline.index.engine import SCHEMA_VERSION, Manifest
from qindex_pipeline.index.points import Point, build_points
from qindex_pipeline.settings import Settings
from qindex_pipeline_tests.command import CLOSED
from qindex_pipeline_tests.fakes.hashed_embedding import embed

DIMENSION = 32
"""Of the vectors of `made_points`."""

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)

Row = dict[str, Any]
MakeSettings = Callable[..., Settings]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that start processes: the last worker must not end with the longest."""
    slow = (
        *("test_cli", "test_profiles", "test_crash", "test_dagster_", "test_readme"),
        *(
            "test_query_install",
            "test_object_store",
            "test_workflows",
            "test_secrets",
            "test_evaluation",
        ),
    )
    items.sort(key=lambda item: not item.path.stem.startswith(slow))


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> MakeSettings:
    """Settings of the given variables alone: data in tmp_path, no key, no Ollama, no retries."""
    for name in tuple(os.environ):
        if name.startswith(("QINDEX_", "QDRANT_", "OPENAI_", "ANTHROPIC_")):
            monkeypatch.delenv(name)

    def make(**variables: object) -> Settings:
        given: dict[str, object] = {
            "QINDEX_DATA": tmp_path / "data",
            "QINDEX_OLLAMA_URL": CLOSED,
            "QINDEX_LLM_RETRIES": 0,
        }
        for name, value in (given | variables).items():
            monkeypatch.setenv(name, str(value))
        return Settings.from_env()

    return make


def chunk_row(text: str, **values: Any) -> Row:
    """A row of the chunks table with this text."""
    site = values.get("site", "docs")
    row: Row = {
        "site": site,
        "chunk_id": content_hash("chunk", site, text),
        "page_id": content_hash("page", site),
        "url": f"http://{site}.example.com/guide",
        "anchor": "setup",
        "title": "Guide",
        "heading_path": ["Setup"],
        "chunk_index": 0,
        "kind": "section",
        "text": text,
        "overlap": "",
        "text_for_llm": f"Source: Guide > Setup\n\n{text}",
        "n_words": len(text.split()),
        "part": 1,
        "parts": 1,
        "start_line": 0,
        "end_line": 1,
        "start_char": 0,
        "end_char": len(text),
        "has_code": False,
        "lang": "en",
        "duplicate_of": None,
        "duplicate_reason": None,
    }
    return row | values


def candidate_row(chunk: Mapping[str, Any], question: str, **values: Any) -> Row:
    """A row of the candidate_questions table; the chunk's whole text is its evidence."""
    row: Row = {
        "site": chunk["site"],
        "question_id": content_hash(chunk["chunk_id"], question),
        "chunk_id": chunk["chunk_id"],
        "question": question,
        "evidence": chunk["text"],
        "generator": "rules",
        "prompt_version": "1",
        "input_hash": content_hash(chunk["text"]),
        "tokens_in": 0,
        "tokens_out": 0,
        "cost_usd": 0.0,
        "created_at": NOON,
        "origin": "generated",
    }
    return row | values


def question_row(chunk: Mapping[str, Any], question: str, **values: Any) -> Row:
    """A row of the grounded_questions table, accepted unless `values` say otherwise."""
    verdict: Row = {
        "accepted": True,
        "reject_reason": None,
        "objections": [],
        "shared_words": [],
        "seed_grounded": False,
        "shared_terms": [],
        "round_trip_rank": None,
        "duplicate_of": None,
        "targets": [],
        "ambiguous": False,
    }
    return candidate_row(chunk, question) | verdict | values


def embedding_row(chunk: Mapping[str, Any], question: Mapping[str, Any] | None = None) -> Row:
    """The row of the embeddings table for a chunk's first window, or for one of its questions."""
    text = question["question"] if question else chunk["text"]
    return {
        "site": chunk["site"],
        "point_id": point_id(question["question_id"] if question else chunk["chunk_id"]),
        "kind": "question" if question else "passage",
        "chunk_id": chunk["chunk_id"],
        "question_id": question["question_id"] if question else None,
        "window": 0,
        "text": text,
        "text_hash": content_hash(text),
        "embedder": "hashed",
        "fingerprint": "0" * 8,
        "vector": embed(text, DIMENSION).tolist(),
    }


def made_points(site: str, texts: Sequence[str]) -> list[Point]:
    """A passage point and a question point for each text, in the pipeline's own layout."""
    chunks = [chunk_row(text, site=site) for text in texts]
    questions = [question_row(chunk, f"What about {chunk['text']}?") for chunk in chunks]
    rows = [embedding_row(chunk) for chunk in chunks]
    rows += [embedding_row(*pair) for pair in zip(chunks, questions, strict=True)]
    return build_points(chunks, questions, rows)


def made_manifest(embedder: str = "hashed") -> Manifest:
    """The manifest of a collection of `made_points`."""
    fingerprint = Fingerprint(
        embedder=embedder,
        revision="",
        dimension=DIMENSION,
        distance="Cosine",
        text_preparation="place-1",
        sparse="bm25",
    )
    return Manifest(SCHEMA_VERSION, fingerprint)

"""A small indexed site whose points lie exactly as near to one question as a test wants."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from qindex_pipeline.crawl.outcomes import Outcome, state_of
from qindex_pipeline.crawl.pages import Page
from qindex_pipeline.embedding.fingerprint import fingerprint
from qindex_pipeline.embedding.opening import open_embedder
from qindex_pipeline.ids import content_hash
from qindex_pipeline.index.engine import SCHEMA_VERSION, Manifest
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.index.points import build_points
from qindex_pipeline.index.sparse import SPARSE_MODEL
from qindex_pipeline.settings import Settings
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import CHUNKS, GROUNDED_QUESTIONS, RAW_PAGES
from qindex_pipeline_tests.conftest import NOON, chunk_row, embedding_row, question_row

ALIAS = "lantern"
QUESTION = "How do I polish the brass mirror?"
ROOT = "http://docs.example.com/"

Row = dict[str, Any]
Vector = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Asked:
    """A question of a page: how near it is to QUESTION, and what objects to it."""

    question: str
    cosine: float = 0.0
    objections: Sequence[str] = ()
    origin: str = "generated"


@dataclass(frozen=True)
class Entry:
    """A page of one chunk: its text, how near that is to QUESTION, and its questions."""

    name: str
    text: str
    cosine: float
    questions: Sequence[Asked] = ()
    repeats: str | None = None

    @property
    def chunk(self) -> Row:
        return chunk_row(
            self.text,
            chunk_id=content_hash("chunk", self.name),
            url=f"{ROOT}{self.name}",
            title=self.name.title(),
            anchor="use",
            heading_path=[f"Using the {self.name}"],
            duplicate_of=content_hash("chunk", self.repeats) if self.repeats else None,
            duplicate_reason="same text" if self.repeats else None,
        )

    @property
    def rows(self) -> list[Row]:
        return [
            question_row(
                self.chunk,
                asked.question,
                accepted=not asked.objections,
                objections=list(asked.objections),
                reject_reason=next(iter(asked.objections), None),
                origin=asked.origin,
            )
            for asked in self.questions
        ]


def publish(settings: Settings, *entries: Entry, site: str = "docs") -> None:
    """Make the entries the whole site in the index, without any table."""
    embedder = open_embedder("ollama:nomic-embed-text", settings, None)
    aim = embedder.embed_queries([QUESTION])[0]
    chunks = [entry.chunk | {"site": site} for entry in entries if entry.repeats is None]
    questions = [row | {"site": site} for entry in entries for row in entry.rows]
    rows: list[Row] = []
    for entry in entries:
        if entry.repeats is None:
            rows.append(embedding_row(entry.chunk) | _vector(aim, entry.cosine, entry.name))
        for asked, row in zip(entry.questions, entry.rows, strict=True):
            if row["accepted"]:
                near = _vector(aim, asked.cosine, asked.question)
                rows.append(embedding_row(entry.chunk, row) | near)
    manifest = Manifest(SCHEMA_VERSION, fingerprint(embedder, SPARSE_MODEL))
    open_engine(settings).sync(ALIAS, manifest, site, build_points(chunks, questions, rows))


def write_tables(settings: Settings, *entries: Entry, pages: Sequence[Page] = ()) -> None:
    """Write what a run would have left of the entries, and of further pages."""
    store = ParquetStore(settings.data)
    stored = [page(entry.name) for entry in entries]
    store.write(RAW_PAGES, "docs", [*stored, *pages])
    store.write(CHUNKS, "docs", [entry.chunk for entry in entries])
    store.write(GROUNDED_QUESTIONS, "docs", [row for entry in entries for row in entry.rows])


def page(name: str, outcome: Outcome = Outcome.OK, **values: Any) -> Page:
    """A row of raw_pages."""
    url = f"{ROOT}{name}"
    row: dict[str, Any] = {
        "site": "docs",
        "url": url,
        "page_id": content_hash("docs", url),
        "depth": 0,
        "discovered_by": "start",
        "outcome": outcome,
        "state": state_of(outcome),
        "elapsed_ms": 1,
        "fetched_at": NOON,
        "final_url": url,
        "canonical_url": url,
    }
    return Page(**(row | values))


def _vector(aim: Vector, cosine: float, seed: str) -> dict[str, list[float]]:
    """A unit vector with this cosine to `aim`, in a direction of its own."""
    draws = np.random.default_rng(int(content_hash(seed)[:8], 16))
    aside = draws.standard_normal(len(aim)).astype(np.float32)
    aside -= aside @ aim * aim
    aside /= np.linalg.norm(aside)
    return {"vector": (cosine * aim + np.sqrt(1 - cosine**2) * aside).tolist()}

"""The embeddings table: a row per window and accepted question, each behind its place."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qindex_pipeline.embedding.cache import VectorCache
from qindex_pipeline.embedding.fingerprint import Fingerprint, fingerprint
from qindex_pipeline.embedding.prefixes import Prefixes
from qindex_pipeline.embedding.stage import Embedded, embed_site
from qindex_pipeline.ids import content_hash, derived_point_id, point_id
from qindex_pipeline.tables import EMBEDDINGS, to_arrow
from qindex_pipeline_tests.conftest import Row, chunk_row, question_row
from qindex_pipeline_tests.fakes.hashed_embedding import embed


class WordEmbedder:
    """An embedder of words: one token each, 20 a text."""

    spec = "words"
    revision = "1"
    prefixes = Prefixes()
    max_tokens = 20
    dimension = 16

    def __init__(self) -> None:
        self.longest = 0

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def embed(self, texts: Sequence[str]) -> Any:
        self.longest = max([self.longest, *self.count_tokens(texts)])
        return np.stack([embed(text, self.dimension) for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> Any:
        raise AssertionError(f"the index holds documents, not {texts}")


SHORT = chunk_row("Run make install.")
LONG = chunk_row(" ".join(f"word{number}" for number in range(50)), title="Words")
QUESTIONS = [
    question_row(SHORT, "How do I install it?"),
    question_row(SHORT, "What is make?", accepted=False, reject_reason="duplicate"),
    question_row(LONG, "Which words are there?"),
]
WORDS = fingerprint(WordEmbedder(), "bm25")


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def cache(tmp_path: Path) -> VectorCache:
    return VectorCache(tmp_path / "vectors.sqlite")


@pytest.fixture
def embedded(embedder: WordEmbedder, cache: VectorCache) -> Embedded:
    return embed_site([SHORT, LONG], QUESTIONS, embedder, WORDS, cache)


def of_chunk(embedded: Embedded, chunk: Row, kind: str) -> list[Row]:
    return [
        row for row in embedded.rows if row["chunk_id"] == chunk["chunk_id"] and row["kind"] == kind
    ]


def test_the_rows_fit_their_table(embedded: Embedded) -> None:
    assert to_arrow(EMBEDDINGS, embedded.rows).num_rows == len(embedded.rows)


def test_a_chunk_is_embedded_behind_its_place(embedded: Embedded) -> None:
    (row,) = of_chunk(embedded, SHORT, "passage")
    assert row["text"] == "Guide > Setup\nRun make install."
    assert row["text_hash"] == content_hash(row["text"])
    assert row["vector"] == pytest.approx(embed(row["text"], 16).tolist())
    assert (row["embedder"], row["fingerprint"]) == ("words", WORDS.digest)


def test_a_chunk_longer_than_the_embedder_reads_becomes_several_windows(
    embedded: Embedded, embedder: WordEmbedder
) -> None:
    rows = of_chunk(embedded, LONG, "passage")
    assert [row["window"] for row in rows] == list(range(len(rows)))
    assert len(rows) > 1
    words = [row["text"].removeprefix("Words > Setup\n") for row in rows]
    assert " ".join(words) == LONG["text"]
    assert embedder.longest <= embedder.max_tokens


def test_the_first_windows_id_leads_from_the_chunk_and_the_others_derive(
    embedded: Embedded,
) -> None:
    first, *others = of_chunk(embedded, LONG, "passage")
    assert first["point_id"] == point_id(LONG["chunk_id"])
    assert [row["point_id"] for row in others] == [
        derived_point_id(LONG["chunk_id"], row["window"]) for row in others
    ]
    assert len({row["point_id"] for row in embedded.rows}) == len(embedded.rows)


def test_only_accepted_questions_are_embedded_behind_their_chunks_place(
    embedded: Embedded,
) -> None:
    rows = [row for row in embedded.rows if row["kind"] == "question"]
    assert [(row["text"], row["question_id"], row["point_id"]) for row in rows] == [
        ("Guide > Setup\nHow do I install it?", QUESTIONS[0]["question_id"], _id(QUESTIONS[0])),
        ("Words > Setup\nWhich words are there?", QUESTIONS[2]["question_id"], _id(QUESTIONS[2])),
    ]


def _id(question: Row) -> str:
    return point_id(question["question_id"])


def test_a_second_run_embeds_nothing_and_gives_the_same_rows(
    embedded: Embedded, embedder: WordEmbedder, cache: VectorCache
) -> None:
    again = embed_site([SHORT, LONG], QUESTIONS, embedder, WORDS, cache)
    assert (embedded.texts_embedded, again.texts_embedded) == (len(embedded.rows), 0)
    assert to_arrow(EMBEDDINGS, again.rows).equals(to_arrow(EMBEDDINGS, embedded.rows))


def test_an_edited_chunk_embeds_its_own_texts_alone(
    embedded: Embedded, embedder: WordEmbedder, cache: VectorCache
) -> None:
    edited = SHORT | {"text": "Run make all."}
    again = embed_site([edited, LONG], QUESTIONS, embedder, WORDS, cache)
    assert again.texts_embedded == 1


def test_equal_texts_are_embedded_once(embedder: WordEmbedder, cache: VectorCache) -> None:
    twins = [SHORT, SHORT | {"chunk_id": content_hash("twin")}]
    result = embed_site(twins, [], embedder, WORDS, cache)
    assert (len(result.rows), result.texts_embedded) == (2, 1)


def test_a_site_without_chunks_has_no_rows(embedder: WordEmbedder, cache: VectorCache) -> None:
    assert embed_site([], [], embedder, WORDS, cache) == Embedded([], 0)


def test_progress_names_stage_and_embedder(embedder: WordEmbedder, cache: VectorCache) -> None:
    told: list[tuple[str, int, int | None, str]] = []

    def listen(stage: str, done: int, total: int | None, note: str = "") -> None:
        told.append((stage, done, total, note))

    embed_site([SHORT], [], embedder, WORDS, cache, listen)
    assert told == [("embeddings", 0, 1, "words"), ("embeddings", 1, 1, "words")]


@pytest.mark.parametrize(
    "change",
    [
        {"embedder": "other"},
        {"revision": "2"},
        {"dimension": 17},
        {"distance": "Dot"},
        {"text_preparation": "another"},
        {"sparse": "bm25 k=2"},
    ],
)
def test_whatever_makes_vectors_incomparable_changes_the_digest(change: dict[str, Any]) -> None:
    assert fingerprint(WordEmbedder(), "bm25").digest == WORDS.digest
    assert Fingerprint(**(vars(WORDS) | change)).digest != WORDS.digest
    assert len(WORDS.digest) == 8


@pytest.mark.parametrize("prefixes", [Prefixes(query="query: "), Prefixes(document="passage: ")])
def test_a_prefix_changes_the_digest(prefixes: Prefixes) -> None:
    embedder = WordEmbedder()
    embedder.prefixes = prefixes
    assert fingerprint(embedder, "bm25").digest != WORDS.digest

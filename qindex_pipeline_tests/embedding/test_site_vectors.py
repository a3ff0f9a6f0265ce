"""The vectors that the filters of the questions look at."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from qindex_pipeline.embedding.cache import VectorCache
from qindex_pipeline.embedding.fingerprint import Fingerprint
from qindex_pipeline.embedding.site_vectors import SiteVectors
from qindex_pipeline.embedding.stage import embed_site
from qindex_pipeline_tests.conftest import DIMENSION, Row, candidate_row, chunk_row
from qindex_pipeline_tests.fakes.hashed_embedding import embed

MADE_BY = Fingerprint("hashed", "", DIMENSION, "Cosine", "place-1", "bm25")


class Hashed:
    """An embedder that hashes words; a window holds 12 of them."""

    spec, max_tokens, dimension, revision = "hashed", 12, DIMENSION, ""

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([embed(text, DIMENSION) for text in texts], dtype=np.float32)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


@pytest.fixture
def cache(tmp_path: Path) -> VectorCache:
    return VectorCache(tmp_path / "vectors.sqlite")


CHUNKS = [
    chunk_row("Install the package with pip and conda on a machine of your own choice today."),
    chunk_row("Restart the service after each change of the configuration."),
    chunk_row("Delete a user who has left."),
]


def asked() -> list[Row]:
    return [
        candidate_row(CHUNKS[1], "Restart the service after each change?"),
        candidate_row(CHUNKS[1], "Delete a user who has left?"),
        candidate_row(CHUNKS[0], "Install the package with pip and conda?"),
    ]


def test_what_the_filters_had_embedded_is_not_embedded_again(cache: VectorCache) -> None:
    site = SiteVectors(CHUNKS, Hashed(), MADE_BY, cache)
    vectors = site.embed(asked())
    assert vectors.shape == (3, DIMENSION)
    judged = [row | {"accepted": True} for row in asked()]
    embedded = embed_site(CHUNKS, judged, Hashed(), MADE_BY, cache)
    assert site.texts_embedded == len(embedded.rows) == 7  # the first chunk has two windows
    assert embedded.texts_embedded == 0
    stored = {row["question_id"]: row["vector"] for row in embedded.rows}
    for row, vector in zip(asked(), vectors, strict=True):
        assert np.array_equal(stored[row["question_id"]], vector)
    again = SiteVectors(CHUNKS, Hashed(), MADE_BY, cache)
    again.embed(asked())
    assert again.texts_embedded == 0


def test_a_question_ranks_its_chunk_among_all_of_its_site(cache: VectorCache) -> None:
    site = SiteVectors(CHUNKS, Hashed(), MADE_BY, cache)
    site.embed(asked())
    ranks = site.rank(asked())
    assert [ranks[0], ranks[2]] == [1, 1]
    assert ranks[1] > 1
    assert site.rank([]) == []


def test_chunks_with_the_same_score_do_not_stand_before_each_other(cache: VectorCache) -> None:
    twins = [CHUNKS[0], CHUNKS[0] | {"chunk_id": "f" * 32}]
    site = SiteVectors(twins, Hashed(), MADE_BY, cache)
    questions = [candidate_row(chunk, "Install the package with pip?") for chunk in twins]
    site.embed(questions)
    assert site.rank(questions) == [1, 1]

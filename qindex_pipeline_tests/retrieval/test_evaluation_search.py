"""An evaluation finds what asking finds: the same forms, the same hits, the same scores."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from qindex_pipeline.embedding.prefixes import Prefixes
from qindex_pipeline.index.edge import EdgeEngine
from qindex_pipeline.profiles import PROFILES, models_of
from qindex_pipeline.retrieval.evaluation.search import search as evaluate
from qindex_pipeline.retrieval.fusion import fuse
from qindex_pipeline.retrieval.held import Published
from qindex_pipeline.retrieval.legs import LEGS
from qindex_pipeline.retrieval.normalizing.forms import search_forms
from qindex_pipeline.retrieval.search import search as ask
from qindex_pipeline.settings import Settings
from qindex_pipeline_tests.conftest import DIMENSION, made_manifest, made_points
from qindex_pipeline_tests.fakes.hashed_embedding import embed

TEXTS = [
    "The --force option of push overwrites the remote branch.",
    "The --quiet option of push prints nothing; no option does more.",
    "A branch is deleted with one command.",
    "What an option does stands in the manual.",
]
QUERIES = ["--force", "delete branch", "How do I delete a branch?", "manual"]


class HashedEmbedder:
    """The hashed embedding as an embedder; counts what it is asked for."""

    spec, revision, prefixes = "hashed", "", Prefixes()
    max_tokens, dimension = 1000, DIMENSION

    def __init__(self) -> None:
        self.asked: list[str] = []

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text) for text in texts]

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.stack([embed(text, DIMENSION) for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.asked += texts
        return self.embed(texts)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Published]:
    engine = EdgeEngine(tmp_path)
    engine.sync("docs", made_manifest(), "docs", made_points("docs", TEXTS))
    collection = engine.open("docs")
    assert collection is not None
    models = models_of(PROFILES["offline"], "a test", Settings())
    with closing(collection):
        yield Published(collection, models, HashedEmbedder(), frozenset({"docs"}), {}, {})


@pytest.mark.parametrize("query", QUERIES)
def test_an_evaluation_ranks_and_scores_as_asking_does(index: Published, query: str) -> None:
    asked = ask(index, search_forms(query), "docs", 3, lambda _: 0.5, LEGS)
    found = evaluate(index.collection, index.embedder.embed_queries, [query], "docs")
    ranked = fuse(found.hits[0], LEGS)[:3]
    assert [(result.chunk_id, result.score, result.confidence) for result in asked] == [
        (item.chunk_id, item.score, item.confidence) for item in ranked
    ]
    assert [found.urls[item.chunk_id] for item in ranked] == [result.url for result in asked]


def test_a_form_that_names_an_option_counts_for_texts_with_that_option_alone(
    index: Published,
) -> None:
    assert len(search_forms("--force")) == 2
    embed_queries = index.embedder.embed_queries
    (both,) = evaluate(index.collection, embed_queries, ["--force"], "docs").hits
    (typed,) = evaluate(
        index.collection, embed_queries, ["--force"], "docs", lambda text: [text]
    ).hits
    better = {
        chunk for chunk, hit in both["passage"].items() if hit.score > typed["passage"][chunk].score
    }
    names_it = {points.payload["chunk_id"] for points in made_points("docs", TEXTS[:1])}
    assert better <= names_it


def test_each_text_is_embedded_once_and_the_questions_keep_their_order(index: Published) -> None:
    embedder = HashedEmbedder()
    asked = [*QUERIES, *reversed(QUERIES)]
    found = evaluate(index.collection, embedder.embed_queries, asked, "docs")
    assert len(embedder.asked) == len(set(embedder.asked))
    assert {text for query in asked for text in search_forms(query)} == set(embedder.asked)
    assert list(found.hits[: len(QUERIES)]) == list(reversed(found.hits[len(QUERIES) :]))
    first, rest = found.split(1)
    assert (len(first.hits), len(rest.hits)) == (1, len(asked) - 1)


def test_nothing_asked_is_nothing_embedded(index: Published) -> None:
    embedder = HashedEmbedder()
    assert evaluate(index.collection, embedder.embed_queries, [], "docs").hits == []
    assert embedder.asked == []

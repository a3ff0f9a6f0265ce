"""Embedders behind OpenAI's protocol, through the real SDK against loopback servers."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from qindex_pipeline.embedding.embedder import Embedder
from qindex_pipeline.embedding.opening import open_embedder
from qindex_pipeline.errors import UsageError, WorkError
from qindex_pipeline_tests.conftest import CLOSED, MakeSettings
from qindex_pipeline_tests.fakes.hashed_embedding import embed
from qindex_pipeline_tests.fakes.ollama_server import OllamaServer
from qindex_pipeline_tests.fakes.openai_server import OpenAIServer

SMALL = "openai:text-embedding-3-small"
NOMIC = "ollama:nomic-embed-text"


@pytest.fixture
def openai_server() -> Iterator[OpenAIServer]:
    with OpenAIServer(embedding_models={"text-embedding-3-small": 1536, "own": 12}) as server:
        yield server


@pytest.fixture
def ollama_server() -> Iterator[OllamaServer]:
    with OllamaServer() as server:
        yield server


def at_openai(settings: MakeSettings, url: str, spec: str = SMALL, key: str = "key") -> Embedder:
    made = settings(QINDEX_OPENAI_BASE_URL=f"{url}/v1", OPENAI_API_KEY=key)
    return open_embedder(spec, made, None)


def test_openai_gives_the_vectors_of_its_model(
    settings: MakeSettings, openai_server: OpenAIServer
) -> None:
    embedder = at_openai(settings, openai_server.url)
    vectors = embedder.embed(["How do I install it?", "Themes"])
    assert (vectors.shape, vectors.dtype) == ((2, 1536), np.float32)
    assert np.allclose(vectors[0], embed("How do I install it?", 1536), atol=1e-6)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    (request,) = openai_server.requests
    assert request.body["model"] == "text-embedding-3-small"
    assert request.headers["authorization"] == "Bearer key"


def test_ollama_is_reached_without_a_key(
    settings: MakeSettings, ollama_server: OllamaServer
) -> None:
    made = settings(QINDEX_OLLAMA_URL=f"{ollama_server.url}/")
    embedder = open_embedder(NOMIC, made, 768)
    assert embedder.embed(["a text"]).shape == (1, 768)
    assert [request.path for request in ollama_server.requests] == ["/v1/embeddings"]


def test_many_texts_take_requests_of_128_and_keep_their_order(
    settings: MakeSettings, openai_server: OpenAIServer
) -> None:
    texts = [f"text number {number}" for number in range(300)]
    vectors = at_openai(settings, openai_server.url, "openai:own").embed(texts)
    sizes = [len(request.body["input"]) for request in openai_server.requests]
    assert sizes == [128, 128, 44]
    assert np.allclose(vectors, [embed(text, 12) for text in texts], atol=1e-6)


def test_no_text_asks_nobody(settings: MakeSettings, openai_server: OpenAIServer) -> None:
    assert at_openai(settings, openai_server.url).embed([]).shape == (0, 1536)
    assert openai_server.requests == []


def test_vectors_are_put_in_the_order_of_their_index(settings: MakeSettings) -> None:
    class Shuffling(OpenAIServer):
        def _embeddings(self, body: Any) -> object:
            reply: Any = super()._embeddings(body)
            reply["data"].reverse()
            return reply

    with Shuffling() as server:
        vectors = at_openai(settings, server.url).embed(["first", "second"])
    assert np.allclose(vectors[0], embed("first", 1536), atol=1e-6)


def test_an_answer_with_fewer_vectors_than_texts_is_refused(settings: MakeSettings) -> None:
    class Forgetting(OpenAIServer):
        def _embeddings(self, body: Any) -> object:
            reply: Any = super()._embeddings(body)
            del reply["data"][-1]
            return reply

    with Forgetting() as server, pytest.raises(WorkError, match="text-embedding-3-small"):
        at_openai(settings, server.url).embed(["first", "second"])


@pytest.mark.parametrize(("spec", "dimension"), [(SMALL, 1536), (NOMIC, 768)])
def test_the_profiles_dimensions_are_known_without_asking(
    spec: str, dimension: int, settings: MakeSettings
) -> None:
    made = settings(OPENAI_API_KEY="key", QINDEX_OPENAI_BASE_URL=f"{CLOSED}/v1")
    assert open_embedder(spec, made, dimension).dimension == dimension
    with pytest.raises(UsageError, match=f"EMBED_DIM is 5, but {spec} gives vectors of"):
        open_embedder(spec, made, 5)


def test_another_models_dimension_is_asked_once(
    settings: MakeSettings, openai_server: OpenAIServer
) -> None:
    embedder = at_openai(settings, openai_server.url, "openai:own")
    assert [embedder.dimension, embedder.dimension] == [12, 12]
    assert len(openai_server.requests) == 1


def test_a_text_longer_than_the_model_reads_is_refused_unsent(
    settings: MakeSettings, openai_server: OpenAIServer
) -> None:
    embedder = at_openai(settings, openai_server.url)
    with pytest.raises(WorkError, match="longer than 8191 tokens"):
        embedder.embed(["short", "x" * (2 * 8191 + 1)])
    assert openai_server.requests == []
    assert embedder.count_tokens(["", "ab", "abc", "é"]) == [0, 1, 2, 1]


def test_a_wrong_key_names_its_variable(
    settings: MakeSettings, openai_server: OpenAIServer
) -> None:
    embedder = at_openai(settings, openai_server.url, key="wrong")
    with pytest.raises(WorkError) as refused:
        embedder.embed(["text"])
    assert str(refused.value) == f"{SMALL} refused the key (HTTP 401): check OPENAI_API_KEY"


def test_a_missing_key_names_its_variable(settings: MakeSettings) -> None:
    with pytest.raises(UsageError, match=r"OPENAI_API_KEY is not set.*QINDEX_PROFILE=offline"):
        open_embedder(SMALL, settings(), None)


def test_a_server_of_ones_own_needs_no_key(
    settings: MakeSettings, openai_server: OpenAIServer
) -> None:
    made = settings(QINDEX_OPENAI_BASE_URL=openai_server.base_url)
    assert open_embedder("openai:own", made, 12).embed(["text"]).shape == (1, 12)


def test_an_unknown_model_is_named_with_what_to_do(
    settings: MakeSettings, openai_server: OpenAIServer, ollama_server: OllamaServer
) -> None:
    with pytest.raises(WorkError, match=r"openai:none does not exist .*check the model's name"):
        at_openai(settings, openai_server.url, "openai:none").embed(["text"])
    made = settings(QINDEX_OLLAMA_URL=ollama_server.url)
    with pytest.raises(WorkError, match=r"ollama:none does not exist .*`ollama pull none`"):
        open_embedder("ollama:none", made, None).embed(["text"])


@pytest.mark.parametrize("spec", [SMALL, NOMIC])
def test_a_provider_that_cannot_be_reached_is_named(spec: str, settings: MakeSettings) -> None:
    made = settings(
        OPENAI_API_KEY="key", QINDEX_OPENAI_BASE_URL=f"{CLOSED}/v1", QINDEX_OLLAMA_URL=CLOSED
    )
    with pytest.raises(WorkError, match=f"^{spec} cannot be reached") as refused:
        open_embedder(spec, made, None).embed(["text"])
    assert "\n" not in str(refused.value)


def test_a_passing_failure_is_retried(settings: MakeSettings, openai_server: OpenAIServer) -> None:
    openai_server.fail_next(429, headers={"retry-after-ms": "1"})
    made = settings(
        OPENAI_API_KEY="key",
        QINDEX_OPENAI_BASE_URL=openai_server.base_url,
        QINDEX_LLM_RETRIES=1,
    )
    assert open_embedder(SMALL, made, None).embed(["text"]).shape == (1, 1536)
    assert len(openai_server.requests) == 2


def test_a_lasting_failure_is_told_with_its_status(
    settings: MakeSettings, openai_server: OpenAIServer
) -> None:
    openai_server.fail_next(500)
    with pytest.raises(WorkError, match=f"{SMALL} answered HTTP 500: "):
        at_openai(settings, openai_server.url).embed(["text"])

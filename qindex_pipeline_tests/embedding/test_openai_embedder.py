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


def sizes_of(server: OpenAIServer) -> list[int]:
    """Texts of each embeddings request."""
    return [len(request.body["input"]) for request in server.requests]


def test_many_texts_take_requests_of_2048_and_keep_their_order(
    settings: MakeSettings, openai_server: OpenAIServer
) -> None:
    texts = [f"text number {number}" for number in range(2500)]
    vectors = at_openai(settings, openai_server.url, "openai:own").embed(texts)
    assert sizes_of(openai_server) == [2048, 452]
    assert np.allclose(vectors, [embed(text, 12) for text in texts], atol=1e-6)


def test_no_request_holds_more_than_300_000_tokens(
    settings: MakeSettings, openai_server: OpenAIServer
) -> None:
    texts = [f"{number:04} " + "x" * 7995 for number in range(80)]
    at_openai(settings, openai_server.url).embed(texts)
    sent = [request.body["input"] for request in openai_server.requests]
    assert [len(batch) for batch in sent] == [1, 37, 37, 5]
    assert sorted(text for batch in sent for text in batch) == texts
    assert max(sum(len(text) + 2 for text in batch) for batch in sent) <= 300_000


def test_a_text_longer_than_any_before_goes_alone_once(
    settings: MakeSettings, openai_server: OpenAIServer
) -> None:
    embedder = at_openai(settings, openai_server.url, "openai:own")
    for _ in range(2):
        embedder.embed(["short", "x" * 200, "x" * 150])
    embedder.embed(["short", "x" * 201])
    assert sizes_of(openai_server) == [1, 2, 3, 1, 1]
    assert openai_server.requests[0].body["input"] == ["x" * 200]


@pytest.mark.parametrize(
    ("method", "prefix"), [("embed", "search_document: "), ("embed_queries", "search_query: ")]
)
def test_a_prefix_stands_before_documents_and_queries(
    method: str, prefix: str, settings: MakeSettings, ollama_server: OllamaServer
) -> None:
    embedder = open_embedder(NOMIC, settings(QINDEX_OLLAMA_URL=ollama_server.url), 768)
    vectors = getattr(embedder, method)(["How do I install it?"])
    (request,) = ollama_server.requests
    assert request.body["input"] == [f"{prefix}How do I install it?"]
    assert np.allclose(vectors[0], embed(f"{prefix}How do I install it?", 768), atol=1e-6)


def test_a_model_without_prefixes_embeds_queries_as_documents(
    settings: MakeSettings, openai_server: OpenAIServer
) -> None:
    embedder = at_openai(settings, openai_server.url)
    assert np.array_equal(embedder.embed(["a text"]), embedder.embed_queries(["a text"]))


# 500 words that nomic's vocabulary has: 500 tokens, the prefix and the frame.
LONG = " ".join(["word"] * 500)


@pytest.mark.parametrize("method", ["embed", "embed_queries"])
def test_a_text_that_ollama_cuts_silently_is_told(method: str, settings: MakeSettings) -> None:
    with OllamaServer(context_length=256) as server:
        embedder = open_embedder(NOMIC, settings(QINDEX_OLLAMA_URL=server.url), 768)
        texts = ["short", LONG, "another"]
        with pytest.raises(
            WorkError,
            match=rf"^{NOMIC} read 256 tokens of a text that has 45\d or more: its server must "
            r"read 2048 tokens of a text, raise its context length \(Ollama: OLLAMA_CONTEXT",
        ):
            getattr(embedder, method)(texts)


def test_a_text_that_ollama_refuses_is_told(settings: MakeSettings) -> None:
    with OllamaServer(context_length=256, refuses_long_texts=True) as server:
        embedder = open_embedder(NOMIC, settings(QINDEX_OLLAMA_URL=server.url), 768)
        with pytest.raises(
            WorkError,
            match=rf"^{NOMIC} refuses a text of at most 50\d tokens as too long \(HTTP 400\): its "
            "server must read 2048 tokens",
        ):
            embedder.embed([LONG, "short"])


def test_texts_that_a_small_context_holds_are_embedded(settings: MakeSettings) -> None:
    with OllamaServer(context_length=256) as server:
        embedder = open_embedder(NOMIC, settings(QINDEX_OLLAMA_URL=server.url), 768)
        assert embedder.embed(["word " * 240, "short"]).shape == (2, 768)


def test_another_refusal_is_not_taken_for_a_text_that_is_too_long(
    settings: MakeSettings, openai_server: OpenAIServer
) -> None:
    openai_server.fail_next(400)
    with pytest.raises(WorkError, match=f"^{SMALL} answered HTTP 400: "):
        at_openai(settings, openai_server.url).embed(["text"])


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": 0, "total_tokens": 0}])
def test_a_server_that_counts_no_tokens_is_believed(usage: Any, settings: MakeSettings) -> None:
    class Silent(OpenAIServer):
        def _embeddings(self, body: Any) -> object:
            reply: Any = super()._embeddings(body)
            del reply["usage"]
            return reply if usage is None else reply | {"usage": usage}

    with Silent(embedding_models={"own": 12}) as server:
        assert at_openai(settings, server.url, "openai:own").embed(["a text"]).shape == (1, 12)


@pytest.mark.parametrize("asked", [1, 512, 1535])
def test_embed_dim_shortens_the_vectors_of_text_embedding_3(
    asked: int, settings: MakeSettings, openai_server: OpenAIServer
) -> None:
    made = settings(QINDEX_OPENAI_BASE_URL=openai_server.base_url)
    embedder = open_embedder(SMALL, made, asked)
    assert embedder.dimension == asked
    assert embedder.embed(["a text"]).shape == (1, asked)
    assert openai_server.requests[0].body["dimensions"] == asked


@pytest.mark.parametrize("asked", [None, 1536])
def test_the_full_dimension_is_not_asked_for(
    asked: int | None, settings: MakeSettings, openai_server: OpenAIServer
) -> None:
    made = settings(QINDEX_OPENAI_BASE_URL=openai_server.base_url)
    assert open_embedder(SMALL, made, asked).embed(["a text"]).shape == (1, 1536)
    assert "dimensions" not in openai_server.requests[0].body


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
    with pytest.raises(UsageError, match=f"EMBED_DIM is 4000, but {spec} gives vectors of"):
        open_embedder(spec, made, 4000)


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
    with pytest.raises(WorkError, match=f"8192 tokens was given to {SMALL}, which reads 8191"):
        embedder.embed(["short", "x" * 8190])
    assert openai_server.requests == []
    embedder.embed(["short", "x" * 8189])


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

"""The model servers, each driven by the client library that it stands in for."""

import json
import threading
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import numpy as np
import openai
import pytest

from qindex_pipeline_tests.fakes.anthropic_server import AnthropicServer, key_of
from qindex_pipeline_tests.fakes.hashed_embedding import embed
from qindex_pipeline_tests.fakes.language_model import NO_ANSWER, write_answer, write_questions
from qindex_pipeline_tests.fakes.ollama_server import OllamaServer
from qindex_pipeline_tests.fakes.openai_server import OpenAIServer
from qindex_pipeline_tests.fakes.standalone import standalone

HAIKU = "claude-haiku-4-5-20251001"
CHUNK = """Source: http://docs.example.com/cache
Page: Cache / Every answer of the interpreter is cached on disk
Section: Cache > Eviction

## Eviction
- The scheduler evicts the oldest entries when memory runs low. Short one.
```
a fenced line of code with many descriptive words inside
```
Persistent snapshots survive a restart of the whole cluster.
"""
PROMPT = f"Write questions for the text between <chunk> and </chunk>.\n<chunk>\n{CHUNK}</chunk>"
EVICTION = "The scheduler evicts the oldest entries when memory runs low."
SNAPSHOTS = "Persistent snapshots survive a restart of the whole cluster."
PASSAGES = '<passage n="1" url="u">\nFirst fact. More.\n</passage>\n<passage n="2">Other.</passage>'
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["questions"],
    "properties": {
        "questions": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["question", "evidence"],
                "properties": {"question": {"type": "string"}, "evidence": {"type": "string"}},
            },
        }
    },
}


# The language model and the embedder


def test_questions_come_from_sentences_and_never_from_code_or_the_prefix() -> None:
    questions = write_questions(PROMPT)
    assert [row["evidence"] for row in questions] == [EVICTION, SNAPSHOTS]
    assert questions[0]["question"] == (
        "What does the documentation say about scheduler, evicts and entries?"
    )


def test_a_prompt_without_texts_yields_no_question_and_a_refusal() -> None:
    assert write_questions("nothing here") == []
    assert write_answer("nothing here") == NO_ANSWER


def test_texts_that_share_words_are_nearer_than_others() -> None:
    question = embed("How does the scheduler evict entries?", 768)
    assert question @ embed(EVICTION, 768) > 0.4
    assert abs(question @ embed("What is the capital of France?", 768)) < 0.2
    assert np.linalg.norm(question) == pytest.approx(1, abs=1e-6)


# Anthropic


@pytest.fixture
def claude() -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        yield server


def _anthropic(server: AnthropicServer, key: str = "sk-ant-test") -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=server.url, api_key=key, max_retries=2)


def _ask_claude(
    client: anthropic.Anthropic, prompt: str, model: str = HAIKU, **more: Any
) -> anthropic.types.Message:
    messages: list[Any] = [{"role": "user", "content": prompt}]
    return client.messages.create(model=model, max_tokens=500, messages=messages, **more)


def test_anthropic_a_forced_tool_returns_input_of_its_schema(claude: AnthropicServer) -> None:
    with _anthropic(claude) as client:
        message = _ask_claude(
            client,
            PROMPT,
            system="You write questions.",
            tools=[{"name": "record", "description": "d", "input_schema": SCHEMA}],
            tool_choice={"type": "tool", "name": "record"},
        )
    block = message.content[0]
    assert isinstance(block, anthropic.types.ToolUseBlock)
    assert (message.stop_reason, block.name) == ("tool_use", "record")
    assert block.input == {"questions": write_questions(PROMPT)}
    assert message.usage.input_tokens == len(f"You write questions. {PROMPT}".split())
    assert key_of(claude.requests[0]) == "sk-ant-test"
    assert claude.requests[0].body["model"] == HAIKU


def test_anthropic_structured_output_is_json_of_the_schema(claude: AnthropicServer) -> None:
    form = {"format": {"type": "json_schema", "schema": SCHEMA}}
    with _anthropic(claude) as client:
        message = _ask_claude(client, PROMPT, output_config=form)
    block = message.content[0]
    assert isinstance(block, anthropic.types.TextBlock)
    assert json.loads(block.text) == {"questions": write_questions(PROMPT)}


def test_anthropic_a_plain_answer_quotes_and_cites_the_first_passage(
    claude: AnthropicServer,
) -> None:
    with _anthropic(claude) as client:
        message = _ask_claude(client, PASSAGES)
    assert isinstance(message.content[0], anthropic.types.TextBlock)
    assert message.content[0].text == "First fact. [1]"


def test_anthropic_a_stream_adds_up_to_the_message_that_is_not_streamed(
    claude: AnthropicServer,
) -> None:
    messages: list[Any] = [{"role": "user", "content": PASSAGES}]
    with _anthropic(claude) as client:
        whole = _ask_claude(client, PASSAGES)
        with client.messages.stream(model=HAIKU, max_tokens=500, messages=messages) as stream:
            texts = list(stream.text_stream)
            message = stream.get_final_message()
    assert len(texts) > 3
    assert [block.to_dict() for block in message.content] == [
        block.to_dict() for block in whole.content
    ]
    assert (message.stop_reason, message.usage.output_tokens) == ("end_turn", 3)


def test_anthropic_refuses_a_wrong_key_and_an_unknown_model(claude: AnthropicServer) -> None:
    with (
        _anthropic(claude, "sk-wrong") as client,
        pytest.raises(anthropic.AuthenticationError, match="invalid x-api-key"),
    ):
        _ask_claude(client, PROMPT)
    with (
        _anthropic(claude) as client,
        pytest.raises(anthropic.NotFoundError, match="model: claude-none"),
    ):
        _ask_claude(client, PROMPT, model="claude-none")


def test_anthropic_overload_is_retried_by_the_sdk(claude: AnthropicServer) -> None:
    claude.fail_next(529, headers={"retry-after": "0.01"}, times=2)
    with _anthropic(claude) as client:
        assert _ask_claude(client, PASSAGES).stop_reason == "end_turn"
    assert len(claude.requests) == 3
    claude.fail_next(529, headers={"retry-after": "0.01"}, times=3)
    with _anthropic(claude) as client, pytest.raises(anthropic.APIStatusError) as caught:
        _ask_claude(client, PASSAGES)
    assert caught.value.status_code == 529


def test_a_server_counts_calls_in_flight_and_stops_during_one() -> None:
    others = set(threading.enumerate())
    with AnthropicServer() as claude:
        claude.delay = 0.1
        with _anthropic(claude) as client, ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: _ask_claude(client, PASSAGES), range(8)))
        assert 2 <= claude.peak_in_flight <= 4
        claude.delay = 60.0
        with _anthropic(claude) as client, ThreadPoolExecutor(1) as pool:
            pending = pool.submit(_ask_claude, client.with_options(max_retries=0), PASSAGES)
            while len(claude.requests) < 9:
                assert not pending.done()
            claude.__exit__(None, None, None)
            pending.exception()
        assert set(threading.enumerate()) <= others
        claude.__enter__()


# OpenAI and Ollama


def _ask_gpt(client: openai.OpenAI, prompt: str, model: str = "gpt-4o-mini", **more: Any) -> str:
    messages: list[Any] = [{"role": "user", "content": prompt}]
    answer = client.chat.completions.create(model=model, messages=messages, **more)
    assert answer.usage is not None
    assert answer.usage.prompt_tokens == len(prompt.split())
    return answer.choices[0].message.content or ""


def _response_format(schema: Any) -> Any:
    return {
        "type": "json_schema",
        "json_schema": {"name": "questions", "strict": True, "schema": schema},
    }


def test_openai_chat_answers_in_the_schema_or_in_plain_text() -> None:
    with OpenAIServer() as server, openai.OpenAI(base_url=server.base_url, api_key="k") as client:
        content = _ask_gpt(client, PROMPT, response_format=_response_format(SCHEMA))
        assert json.loads(content) == {"questions": write_questions(PROMPT)}
        assert _ask_gpt(client, PASSAGES) == "First fact. [1]"
        with pytest.raises(openai.BadRequestError, match="additionalProperties"):
            _ask_gpt(client, PROMPT, response_format=_response_format({"type": "object"}))


def test_openai_a_stream_adds_up_to_the_completion_that_is_not_streamed() -> None:
    messages: list[Any] = [{"role": "user", "content": PASSAGES}]
    with OpenAIServer() as server, openai.OpenAI(base_url=server.base_url, api_key="k") as client:
        whole = client.chat.completions.create(model="gpt-4o-mini", messages=messages)
        with client.chat.completions.stream(model="gpt-4o-mini", messages=messages) as stream:
            events = list(stream)
            streamed = stream.get_final_completion()
    assert len(events) > 3
    assert streamed.choices[0].message.content == whole.choices[0].message.content
    assert streamed.choices[0].finish_reason == "stop"


def test_openai_embeddings_are_the_same_in_base64_and_as_floats() -> None:
    with OpenAIServer() as server, openai.OpenAI(base_url=server.base_url, api_key="k") as client:

        def embeddings(texts: Any, **more: Any) -> Any:
            model = "text-embedding-3-small"
            return client.embeddings.create(model=model, input=texts, **more)

        sdk_default = embeddings([EVICTION, SNAPSHOTS])
        floats = embeddings([EVICTION, SNAPSHOTS], encoding_format="float")
        assert server.requests[0].body["encoding_format"] == "base64"
        assert np.array(sdk_default.data[1].embedding) == pytest.approx(
            np.array(floats.data[1].embedding), abs=1e-7
        )
        assert len(floats.data[0].embedding) == 1536
        assert len(embeddings(EVICTION, dimensions=256).data[0].embedding) == 256
        assert floats.usage.total_tokens == len(f"{EVICTION} {SNAPSHOTS}".split())
        with pytest.raises(openai.BadRequestError, match="input"):
            embeddings(["text", ""])


def test_openai_refuses_a_wrong_key_and_an_unknown_model() -> None:
    with OpenAIServer() as server:
        with (
            openai.OpenAI(base_url=server.base_url, api_key="wrong") as client,
            pytest.raises(openai.AuthenticationError) as refused,
        ):
            client.models.list()
        assert refused.value.code == "invalid_api_key"
        with openai.OpenAI(base_url=server.base_url, api_key="k") as client:
            assert "nomic-embed-text" in [model.id for model in client.models.list()]
            with pytest.raises(openai.NotFoundError) as unknown:
                client.embeddings.create(model="text-embedding-none", input="text")
        assert unknown.value.code == "model_not_found"


def _get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=10) as response:
        return response.read()


def test_ollama_speaks_openai_without_a_key_and_lists_its_models() -> None:
    with OllamaServer() as server, openai.OpenAI(base_url=server.base_url, api_key="-") as client:
        model = "qwen2.5:14b"
        content = _ask_gpt(client, PROMPT, model=model, response_format=_response_format(SCHEMA))
        assert json.loads(content) == {"questions": write_questions(PROMPT)}
        answer = client.embeddings.create(model="nomic-embed-text", input=["a text"])
        assert len(answer.data[0].embedding) == 768
        with pytest.raises(openai.NotFoundError, match="try pulling it first"):
            _ask_gpt(client, PROMPT, model="llama3")
        assert _get(server.url) == b"Ollama is running"
        assert "version" in json.loads(_get(f"{server.url}/api/version"))
        names = [row["name"] for row in json.loads(_get(f"{server.url}/api/tags"))["models"]]
        assert names == ["qwen2.5:14b", "nomic-embed-text:latest"]


@pytest.mark.parametrize("name", ["anthropic_server", "openai_server", "ollama_server"])
def test_a_model_server_runs_as_a_process_and_ends_on_sigterm(name: str) -> None:
    with standalone(name) as server:
        assert server.process.poll() is None
    assert server.process.returncode == 0

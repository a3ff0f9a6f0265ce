"""The generators that ask a model: what they send, what they count, how they adapt."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from openai import OpenAI

from qindex_pipeline.errors import WorkError
from qindex_pipeline.questions.generators.generator import Generator, InvalidAnswerError, Task
from qindex_pipeline.questions.generators.openai import OpenAIGenerator
from qindex_pipeline_tests.conftest import MakeSettings, chunk_row
from qindex_pipeline_tests.fakes.anthropic_server import AnthropicServer
from qindex_pipeline_tests.fakes.loopback import LoopbackServer
from qindex_pipeline_tests.fakes.ollama_server import OllamaServer
from qindex_pipeline_tests.fakes.openai_server import OpenAIServer
from qindex_pipeline_tests.questions.asked import HAIKU, MINI, QWEN, chunks_of, opened
from qindex_pipeline_tests.questions.promises import CHECKS

SERVERS: Mapping[str, type[LoopbackServer]] = {
    HAIKU: AnthropicServer,
    MINI: OpenAIServer,
    QWEN: OllamaServer,
}


@pytest.fixture(params=SERVERS)
def generator(request: pytest.FixtureRequest, settings: MakeSettings) -> Iterator[Generator]:
    with SERVERS[request.param]() as server:
        yield opened(settings, request.param, server.url)


@pytest.fixture
def claude() -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        yield server


@pytest.fixture
def gpt() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_generator_keeps_its_promises(
    check: Callable[[Generator], None], generator: Generator
) -> None:
    check(generator)


def test_an_estimate_tells_what_a_call_takes(generator: Generator) -> None:
    short, long = (Task(chunk_row("Run the command. " * number)) for number in (10, 100))
    assert generator.estimate(short).tokens_in > 300
    assert generator.estimate(long).tokens_in - generator.estimate(short).tokens_in > 300
    assert generator.estimate(long).tokens_out > generator.estimate(short).tokens_out > 0


def bodies(server: LoopbackServer) -> list[Any]:
    return [request.body for request in server.requests]


def test_the_fixed_part_is_the_same_in_each_call_and_marked_for_the_cache(
    claude: AnthropicServer, settings: MakeSettings
) -> None:
    generator = opened(settings, HAIKU, claude.url)
    for chunk in chunks_of(2):
        generator.generate(Task(chunk))
    first, second = bodies(claude)
    assert first["messages"] != second["messages"]
    assert {**first, "messages": None} == {**second, "messages": None}
    assert first["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert first["tool_choice"] == {"type": "tool", "name": "record_questions"}


def test_tokens_from_the_providers_cache_are_counted_among_all_and_by_themselves(
    claude: AnthropicServer, gpt: OpenAIServer, settings: MakeSettings
) -> None:
    (chunk,) = chunks_of(1)
    for server, spec in ((claude, HAIKU), (gpt, MINI)):
        generator = opened(settings, spec, server.url)
        plain = generator.generate(Task(chunk)).usage
        server.cached = 100
        cached = generator.generate(Task(chunk)).usage
        assert (cached.tokens_in, cached.cached_in) == (plain.tokens_in, 100)


def test_a_server_that_knows_no_schema_is_asked_for_any_json(
    gpt: OpenAIServer, settings: MakeSettings
) -> None:
    gpt.formats = ("json_object", "text")
    generator = opened(settings, MINI, gpt.url)
    for chunk in chunks_of(2):
        assert generator.generate(Task(chunk)).proposals
    formats = [body["response_format"]["type"] for body in bodies(gpt)]
    assert formats == ["json_schema", "json_object", "json_object"]


def test_a_server_that_knows_no_format_is_asked_for_text(
    gpt: OpenAIServer, settings: MakeSettings
) -> None:
    gpt.formats = ("text",)
    generator = opened(settings, MINI, gpt.url)
    for chunk in chunks_of(2):
        assert generator.generate(Task(chunk)).proposals
    assert ["response_format" in body for body in bodies(gpt)] == [True, True, False, False]


def test_calls_in_flight_agree_on_the_format(gpt: OpenAIServer, settings: MakeSettings) -> None:
    gpt.formats = ("text",)
    gpt.delay = 0.05
    generator = opened(settings, MINI, gpt.url)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda chunk: generator.generate(Task(chunk)), chunks_of(8)))
    assert all(answer.proposals for answer in answers)
    # Each of the first four may have tried both formats once, nobody more.
    assert len(gpt.requests) <= 8 + 4 * 2


def test_another_refusal_does_not_change_the_format(
    gpt: OpenAIServer, settings: MakeSettings
) -> None:
    generator = opened(settings, MINI, gpt.url)
    (chunk,) = chunks_of(1)
    gpt.fail_next(400)
    with pytest.raises(WorkError, match="answered HTTP 400"):
        generator.generate(Task(chunk))
    generator.generate(Task(chunk))
    assert bodies(gpt)[-1]["response_format"]["type"] == "json_schema"


def test_a_declined_answer_in_openais_own_field_is_refused(
    gpt: OpenAIServer, settings: MakeSettings
) -> None:
    gpt.propose(refusal="I can't help with that.")
    with pytest.raises(InvalidAnswerError) as refused:
        opened(settings, MINI, gpt.url).generate(Task(chunk_row("Text.")))
    assert refused.value.failure == "refused"


def test_an_account_without_credit_is_not_told_to_wait(settings: MakeSettings) -> None:
    class Poor(OpenAIServer):
        def failure(self, status: int, message: str) -> object:
            return {"error": {"message": f"{status} {message}", "code": "insufficient_quota"}}

    with Poor() as server:
        server.fail_next(429)
        with pytest.raises(WorkError, match="has no credit left"):
            opened(settings, MINI, server.url).generate(Task(chunk_row("Text.")))


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://mine.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("http://127.0.0.1:11434/v1", "max_tokens"),
        ("http://vllm.example.com/v1", "max_tokens"),
    ],
)
def test_the_bound_on_an_answer_has_the_name_that_the_server_knows(
    base_url: str, name: str
) -> None:
    generator = OpenAIGenerator("openai", "m", OpenAI(base_url=base_url, api_key="k"), 8)
    given = generator.request(Task(chunk_row("Text.")))
    assert given[name] > 2000
    assert len({"max_tokens", "max_completion_tokens"} & given.keys()) == 1

"""Both providers' batch interfaces, through the real SDKs against stores that last."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from qindex_pipeline.errors import WorkError
from qindex_pipeline.questions.generators.generator import (
    Answer,
    Batches,
    BatchState,
    Generator,
    InvalidAnswerError,
    Task,
)
from qindex_pipeline_tests.conftest import MakeSettings, chunk_row
from qindex_pipeline_tests.fakes.anthropic_server import AnthropicServer
from qindex_pipeline_tests.fakes.ollama_server import OllamaServer
from qindex_pipeline_tests.fakes.openai_server import OpenAIServer
from qindex_pipeline_tests.questions.asked import HAIKU, MINI, QWEN, chunks_of, opened

Server = AnthropicServer | OpenAIServer
SERVERS: Mapping[str, type[Server]] = {HAIKU: AnthropicServer, MINI: OpenAIServer}
LABEL = "qindex-0123456789abcdef0123456789abcdef"
KEYS = ("a" * 32, "b" * 32, "c" * 32)


@pytest.fixture(params=SERVERS)
def spec(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def server(spec: str) -> Iterator[Server]:
    with SERVERS[spec]() as running:
        yield running


@pytest.fixture
def generator(spec: str, server: Server, settings: MakeSettings) -> Generator:
    return opened(settings, spec, server.url)


@pytest.fixture
def batches(generator: Generator) -> Batches:
    assert generator.batches is not None
    return generator.batches


def tasks(*texts: str) -> dict[str, Task]:
    chunks = [*chunks_of(3 - len(texts)), *map(chunk_row, texts)]
    return {key: Task(chunk) for key, chunk in zip(KEYS, chunks, strict=True)}


def ended(batches: Batches, batch_id: str) -> dict[str, Any]:
    """Results by key, once the fake has been looked at often enough."""
    while not (state := batches.state(batch_id)) or not state.ended:
        pass
    return dict(batches.results(batch_id))


def test_a_batch_is_answered_as_single_calls_are(
    generator: Generator, batches: Batches, server: Server
) -> None:
    asked = tasks()
    server.requests.clear()
    found = ended(batches, batches.submit(asked, LABEL))
    assert found == {key: generator.generate(task) for key, task in asked.items()}
    assert all(answer.proposals and answer.usage.tokens_in for answer in found.values())


def test_a_batch_is_under_way_until_it_has_ended(batches: Batches) -> None:
    batch_id = batches.submit(tasks(), LABEL)
    assert batches.state(batch_id) == BatchState(ended=False, done=0, total=3)
    assert batches.state(batch_id) == BatchState(ended=True, done=3, total=3)


def test_a_batch_that_the_provider_does_not_know_has_no_state(batches: Batches) -> None:
    assert batches.state("msgbatch_none") is None


def test_a_batch_outlives_its_client(
    spec: str, server: Server, batches: Batches, settings: MakeSettings
) -> None:
    batch_id = batches.submit(tasks(), LABEL)
    later = opened(settings, spec, server.url).batches
    assert later is not None
    assert set(ended(later, batch_id)) == set(KEYS)


@pytest.mark.parametrize("fate", ["errored", "expired"])
def test_a_request_that_was_not_answered_has_no_outcome(
    fate: str, batches: Batches, server: Server
) -> None:
    store = server.batches
    assert store is not None
    store.fates["mumble"] = fate
    found = ended(batches, batches.submit(tasks("The mumble directory."), LABEL))
    assert found[KEYS[2]] is None
    assert isinstance(found[KEYS[0]], Answer)


def test_an_answer_that_cannot_be_used_says_why_and_what_it_took(
    batches: Batches, server: Server
) -> None:
    server.propose("I would rather talk.")
    found = ended(batches, batches.submit(tasks(), LABEL))
    (invalid,) = [item for item in found.values() if isinstance(item, InvalidAnswerError)]
    assert invalid.failure == "malformed"
    assert invalid.usage.tokens_in > 0


def test_results_that_break_off_are_said_to(
    spec: str, batches: Batches, server: Server, settings: MakeSettings
) -> None:
    batch_id = batches.submit(tasks(), LABEL)
    while not (state := batches.state(batch_id)) or not state.ended:
        pass
    server.cut_next(path="/results" if spec == HAIKU else "/content")
    with pytest.raises(WorkError, match=f"^{spec} cannot be reached"):
        list(batches.results(batch_id))
    assert set(dict(batches.results(batch_id))) == set(KEYS)


def test_a_batch_whose_id_was_never_noted_is_found_while_it_runs_and_afterwards(
    batches: Batches,
) -> None:
    assert batches.find(LABEL, 3) is None
    batch_id = batches.submit(tasks(), LABEL)
    assert batches.find(LABEL, 3) == batch_id
    ended(batches, batch_id)
    assert batches.find(LABEL, 3) == batch_id


def test_another_batch_is_not_taken_for_it(batches: Batches) -> None:
    asked = tasks()
    other = batches.submit(asked, "qindex-other")
    ended(batches, other)
    assert batches.find(LABEL, 3) is None
    batches.submit({KEYS[0]: asked[KEYS[0]]}, "qindex-smaller")
    assert batches.find(LABEL, 3) is None


def test_it_is_found_among_hundreds(batches: Batches, server: Server) -> None:
    first = batches.submit(tasks(), LABEL)
    ended(batches, first)
    one = {KEYS[0]: tasks()[KEYS[0]]}
    for number in range(101):
        batches.submit(one, f"qindex-{number}")
    assert batches.find(LABEL, 3) == first


def test_handing_over_is_not_repeated_by_the_sdk(
    spec: str, server: Server, settings: MakeSettings
) -> None:
    batches = opened(settings, spec, server.url).batches
    assert batches is not None
    server.cut_next(path="batches")
    with pytest.raises(WorkError, match=f"^{spec} cannot be reached"):
        batches.submit(tasks(), LABEL)
    assert server.batches is not None
    (made,) = server.batches.batches
    assert batches.find(LABEL, 3) == made


def test_a_key_that_is_refused_stops_a_batch_with_one_line(
    spec: str, server: Server, settings: MakeSettings
) -> None:
    batches = opened(settings, spec, server.url, key="wrong").batches
    assert batches is not None
    for call in (lambda: batches.submit(tasks(), LABEL), lambda: batches.find(LABEL, 3)):
        with pytest.raises(WorkError, match=f"^{spec} refused the key"):
            call()


def test_anthropic_keys_stand_before_the_hash_of_the_label(settings: MakeSettings) -> None:
    with AnthropicServer() as server:
        batches = opened(settings, HAIKU, server.url).batches
        assert batches is not None
        batches.submit(tasks(), LABEL)
        (batch,) = server.batches.batches.values()
    ids = [item["custom_id"] for item in batch.requests]
    assert [custom_id.partition("_")[0] for custom_id in ids] == list(KEYS)
    assert len({custom_id.partition("_")[2] for custom_id in ids}) == 1


def test_openai_refusing_a_whole_batch_gives_its_reason(settings: MakeSettings) -> None:
    with OpenAIServer() as server:
        batches = opened(settings, MINI, server.url).batches
        assert batches is not None
        assert server.batches is not None
        server.batches.refusal = "Enqueued token limit reached."
        batch_id = batches.submit(tasks(), LABEL)
        state = batches.state(batch_id)
        assert state is not None
        assert (state.ended, state.done) == (True, 0)
        with pytest.raises(WorkError, match=r"refused the batch batch_1: Enqueued token limit"):
            list(batches.results(batch_id))


def test_a_server_without_batches_is_said_to_need_single_calls(settings: MakeSettings) -> None:
    with OpenAIServer() as server:
        server.batches = None
        batches = opened(settings, MINI, server.url).batches
        assert batches is not None
        for call in (lambda: batches.submit(tasks(), LABEL), lambda: batches.find(LABEL, 3)):
            with pytest.raises(WorkError, match=r"has no batches \(HTTP 404\): unset QINDEX_LLM_"):
                call()


def test_ollama_has_no_batches(settings: MakeSettings) -> None:
    with OllamaServer() as server:
        assert opened(settings, QWEN, server.url).batches is None

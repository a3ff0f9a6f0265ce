"""Proposing: one call a chunk, once ever, through the real SDKs against loopback servers."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from qindex_pipeline.errors import UsageError, WorkError
from qindex_pipeline.progress import Silent
from qindex_pipeline.questions.asking.ledger import Ledger
from qindex_pipeline.questions.asking.prices import Prices
from qindex_pipeline.questions.generators.generator import (
    Answer,
    InvalidAnswerError,
    Task,
    Usage,
)
from qindex_pipeline.questions.generators.opening import open_generator
from qindex_pipeline.questions.generators.proposal import Proposal
from qindex_pipeline.questions.identity import normalize
from qindex_pipeline.tables import CANDIDATE_QUESTIONS, to_arrow
from qindex_pipeline_tests.conftest import MakeSettings, chunk_row
from qindex_pipeline_tests.fakes.anthropic_server import AnthropicServer
from qindex_pipeline_tests.fakes.loopback import LoopbackServer, Reply, Request
from qindex_pipeline_tests.fakes.ollama_server import OllamaServer
from qindex_pipeline_tests.fakes.openai_server import OpenAIServer
from qindex_pipeline_tests.fakes.streaming import Said
from qindex_pipeline_tests.questions.asked import HAIKU, MINI, QWEN, chunks_of, opened, proposed
from qindex_pipeline_tests.small_disk import needs_a_disk, small_disk

SERVERS: dict[str, type[LoopbackServer]] = {
    HAIKU: AnthropicServer,
    MINI: OpenAIServer,
    QWEN: OllamaServer,
}

MUMBLE = "mumble"
"""A chunk with this word gets answers out of shape."""


class MumblingServer(AnthropicServer):
    """Answers plain text, as often as it is told to, to chunks that hold the word."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def answer(self, request: Request) -> Reply:
        if self.times and MUMBLE in str(request.body):
            self.times -= 1
            plain = {name: value for name, value in request.body.items() if name[:4] != "tool"}
            return Reply(self._message(plain, Said("I would rather talk.")))
        return super().answer(request)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger")


@pytest.fixture
def server() -> Iterator[AnthropicServer]:
    with AnthropicServer() as running:
        yield running


@pytest.mark.parametrize("spec", SERVERS)
def test_each_chunk_costs_one_call_to_the_named_model(
    spec: str, settings: MakeSettings, ledger: Ledger
) -> None:
    chunks = chunks_of(3)
    with SERVERS[spec]() as server:
        result = proposed(chunks, opened(settings, spec, server.url), ledger)
    assert (result.calls, result.from_ledger, result.failed) == (3, 0, {})
    assert [request.body["model"] for request in server.requests] == [spec.partition(":")[2]] * 3
    assert {row["chunk_id"] for row in result.rows} == {chunk["chunk_id"] for chunk in chunks}
    assert {row["generator"] for row in result.rows} == {spec}
    assert to_arrow(CANDIDATE_QUESTIONS, result.rows).num_rows == len(result.rows) > 3
    texts = {chunk["chunk_id"]: chunk["text"] for chunk in chunks}
    assert all(row["evidence"] in texts[row["chunk_id"]] for row in result.rows)


def test_rows_stand_in_the_order_of_the_chunks(
    settings: MakeSettings, server: AnthropicServer, ledger: Ledger
) -> None:
    chunks = chunks_of(8)
    result = proposed(chunks, opened(settings, HAIKU, server.url), ledger)
    order = list(dict.fromkeys(row["chunk_id"] for row in result.rows))
    assert order == [chunk["chunk_id"] for chunk in chunks]


@pytest.mark.parametrize("spec", SERVERS)
def test_a_second_run_asks_nothing_and_gives_the_same_rows(
    spec: str, settings: MakeSettings, tmp_path: Path
) -> None:
    with SERVERS[spec]() as server:
        generator = opened(settings, spec, server.url)
        first = proposed(chunks_of(3), generator, Ledger(tmp_path))
        server.requests.clear()
        second = proposed(chunks_of(3), generator, Ledger(tmp_path))
        assert server.requests == []
    assert second.rows == first.rows
    assert (second.calls, second.from_ledger) == (0, 3)
    assert second.usage == Usage()


def test_another_site_with_the_same_texts_asks_nothing(
    settings: MakeSettings, server: AnthropicServer, ledger: Ledger
) -> None:
    generator = opened(settings, HAIKU, server.url)
    first = proposed(chunks_of(2), generator, ledger)
    server.requests.clear()
    second = proposed(chunks_of(2, site="mirror", url="http://mirror/x"), generator, ledger)
    assert server.requests == []
    assert {row["site"] for row in second.rows} == {"mirror"}
    assert [row["question"] for row in second.rows] == [row["question"] for row in first.rows]
    ids = {row["question_id"] for row in first.rows + second.rows}
    assert len(ids) == len(first.rows) + len(second.rows)


def test_equal_chunks_of_one_site_share_a_call(
    settings: MakeSettings, server: AnthropicServer, ledger: Ledger
) -> None:
    (chunk,) = chunks_of(1)
    twin = chunk | {"chunk_id": "f" * 32}
    result = proposed([chunk, twin], opened(settings, HAIKU, server.url), ledger)
    assert (result.calls, len(server.requests)) == (1, 1)
    assert {row["chunk_id"] for row in result.rows} == {chunk["chunk_id"], twin["chunk_id"]}


def test_one_edited_chunk_costs_its_own_call(
    settings: MakeSettings, server: AnthropicServer, ledger: Ledger
) -> None:
    generator = opened(settings, HAIKU, server.url)
    chunks = chunks_of(4)
    proposed(chunks, generator, ledger)
    edited = chunks[2]["text"].replace("Installing", "Removing")
    server.requests.clear()
    proposed([*chunks[:2], chunk_row(edited), chunks[3]], generator, ledger)
    assert [edited in str(request.body) for request in server.requests] == [True]


def test_an_answer_out_of_shape_is_asked_for_once_more(
    settings: MakeSettings, ledger: Ledger
) -> None:
    chunks = [*chunks_of(2), chunk_row(f"Another directory with the {MUMBLE} setting in it.")]
    with MumblingServer(times=1) as server:
        result = proposed(chunks, opened(settings, HAIKU, server.url), ledger)
    assert len(server.requests) == 4
    assert result.failed == {}
    assert chunks[2]["chunk_id"] in {row["chunk_id"] for row in result.rows}


def test_a_chunk_without_a_valid_answer_is_named_and_asked_again_in_the_next_run(
    settings: MakeSettings, tmp_path: Path
) -> None:
    bad = chunk_row(f"Another directory with the {MUMBLE} setting in it.")
    chunks = [*chunks_of(9), bad]
    with MumblingServer(times=2) as server:
        generator = opened(settings, HAIKU, server.url)
        first = proposed(chunks, generator, Ledger(tmp_path))
        assert first.failed == {bad["chunk_id"]: "malformed"}
        assert bad["chunk_id"] not in {row["chunk_id"] for row in first.rows}
        assert sum(MUMBLE in str(request.body) for request in server.requests) == 2
        server.requests.clear()
        second = proposed(chunks, generator, Ledger(tmp_path))
    assert [MUMBLE in str(request.body) for request in server.requests] == [True]
    assert second.failed == {}
    assert bad["chunk_id"] in {row["chunk_id"] for row in second.rows}


def test_a_chunk_is_asked_about_in_vain_by_three_runs_at_most(
    settings: MakeSettings, tmp_path: Path
) -> None:
    bad = chunk_row(f"Another directory with the {MUMBLE} setting in it.")
    chunks = [*chunks_of(9), bad]
    with MumblingServer(times=100) as server:
        generator = opened(settings, HAIKU, server.url)
        calls = []
        for _ in range(5):
            server.requests.clear()
            result = proposed(chunks, generator, Ledger(tmp_path))
            assert result.failed == {bad["chunk_id"]: "malformed"}
            calls.append((len(server.requests), result.calls, result.from_ledger))
            assert (result.usage.tokens_in > 0) is bool(result.calls)
    assert calls == [(11, 11, 0), (2, 2, 9), (2, 2, 9), (0, 0, 9), (0, 0, 9)]


def test_what_failed_calls_took_is_counted_with_the_answer(
    settings: MakeSettings, ledger: Ledger
) -> None:
    chunk = chunk_row(f"Another directory with the {MUMBLE} setting in it.")
    with MumblingServer(times=1) as server:
        result = proposed([chunk], opened(settings, HAIKU, server.url), ledger)
    assert result.calls == 2
    assert sum(row["tokens_in"] for row in result.rows) == result.usage.tokens_in


def test_nobody_is_asked_about_navigation(
    settings: MakeSettings, server: AnthropicServer, ledger: Ledger
) -> None:
    menu = chunk_row("\n".join(f"- [Page {n}](http://docs/{n})" for n in range(9)))
    result = proposed([*chunks_of(2), menu], opened(settings, HAIKU, server.url), ledger)
    assert (result.calls, result.skipped) == (2, 1)
    assert menu["chunk_id"] not in {row["chunk_id"] for row in result.rows} | set(result.failed)


def test_more_than_a_tenth_without_an_answer_stops_the_run_and_keeps_the_others(
    settings: MakeSettings, tmp_path: Path
) -> None:
    bad = [chunk_row(f"The {MUMBLE} directory {number}.") for number in range(2)]
    good = chunks_of(9)
    with MumblingServer(times=4) as server:
        generator = opened(settings, HAIKU, server.url)
        with pytest.raises(WorkError, match=f"2 of 11 chunks got no valid answer from {HAIKU}"):
            proposed([*good, *bad], generator, Ledger(tmp_path))
        server.requests.clear()
        proposed(good, generator, Ledger(tmp_path))
        assert server.requests == []
        accepted = proposed([*good, *bad], generator, Ledger(tmp_path), max_failed_share=0.2)
        assert len(accepted.failed) == 0


def test_calls_in_flight_are_as_many_as_allowed(
    settings: MakeSettings, server: AnthropicServer, ledger: Ledger
) -> None:
    server.delay = 0.05
    proposed(chunks_of(12), opened(settings, HAIKU, server.url), ledger, concurrency=3)
    assert server.peak_in_flight == 3


@pytest.mark.parametrize(
    ("spec", "variable"), [(HAIKU, "ANTHROPIC_API_KEY"), (MINI, "OPENAI_API_KEY")]
)
def test_a_wrong_key_stops_at_once_with_one_line(
    spec: str, variable: str, settings: MakeSettings, ledger: Ledger
) -> None:
    with SERVERS[spec]() as server:
        server.delay = 0.02
        generator = opened(settings, spec, server.url, key="wrong")
        with pytest.raises(WorkError) as refused:
            proposed(chunks_of(40), generator, ledger, concurrency=2)
    assert str(refused.value) == f"{spec} refused the key (HTTP 401): check {variable}"
    # Those in flight, and what a worker took up before it was told to stop.
    assert len(server.requests) < 10


def test_a_missing_key_names_its_variable(settings: MakeSettings) -> None:
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY is not set"):
        open_generator(HAIKU, settings())


class HalfBroken:
    """Fails for one chunk while the calls for the others are under way, and answers those."""

    spec = "test:half-broken"
    prompt_version = "1"
    is_paid = True

    def __init__(self) -> None:
        self.all_started = threading.Barrier(3)
        self.answered: list[str] = []

    batches = None

    def estimate(self, task: Task) -> Usage:
        return Usage(len(task.chunk["text"]) // 4)

    def generate(self, task: Task) -> Answer:
        chunk = task.chunk
        self.all_started.wait()
        if MUMBLE in chunk["text"]:
            raise WorkError("the provider is down")
        time.sleep(0.2)  # long enough for the failure to arrive first
        self.answered.append(chunk["chunk_id"])
        return Answer((Proposal("What is it?", chunk["text"]),))


def test_answers_that_arrive_while_another_call_fails_are_kept(tmp_path: Path) -> None:
    generator = HalfBroken()
    good = chunks_of(2)
    with pytest.raises(WorkError, match="the provider is down"):
        proposed([chunk_row(MUMBLE), *good], generator, Ledger(tmp_path), concurrency=3)
    assert len(generator.answered) == 2
    generator.all_started = threading.Barrier(1)
    again = proposed(good, generator, Ledger(tmp_path))
    assert (again.calls, again.from_ledger) == (0, 2)


class Echo:
    """Proposes what it is given, for nothing."""

    spec = "rules"
    prompt_version = "1"
    is_paid = False

    def __init__(self, *questions: str) -> None:
        self.questions, self.calls = questions, 0

    batches = None

    def estimate(self, task: Task) -> Usage:
        return Usage(len(task.chunk["text"]) // 4)

    def generate(self, task: Task) -> Answer:
        self.calls += 1
        if not self.questions:
            raise InvalidAnswerError("nothing to say")
        return Answer(tuple(Proposal(question, task.chunk["text"]) for question in self.questions))


def test_what_is_free_is_not_remembered_and_counts_no_call(ledger: Ledger, tmp_path: Path) -> None:
    generator = Echo("What is it?")
    for _ in range(2):
        result = proposed(chunks_of(3), generator, ledger)
        assert (result.calls, result.cost_usd, len(result.rows)) == (0, 0.0, 3)
    assert generator.calls == 6
    assert not (tmp_path / "ledger").exists()


def test_a_question_proposed_twice_for_a_chunk_has_two_ids(ledger: Ledger) -> None:
    result = proposed(chunks_of(1), Echo("What is it?", "what is  IT"), ledger)
    assert len({row["question_id"] for row in result.rows}) == 2


def test_no_chunks_no_questions(ledger: Ledger) -> None:
    assert proposed([], Echo("What is it?"), ledger).rows == []


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What is it?", "what is it"),
        ("  WHAT \n is it ?", "what is it"),
        ("What is it?!..", "what is it"),
        ("What is 1.5?", "what is 1.5"),
    ],
)
def test_case_spaces_and_the_closing_mark_do_not_make_another_question(
    question: str, name: str
) -> None:
    assert normalize(question) == name


def test_tokens_and_cost_of_a_call_stand_on_its_first_row(
    settings: MakeSettings, server: AnthropicServer, ledger: Ledger
) -> None:
    result = proposed(chunks_of(2), opened(settings, HAIKU, server.url), ledger)
    assert result.cost_usd == Prices({}).cost(HAIKU, result.usage) != 0
    assert sum(row["tokens_in"] for row in result.rows) == result.usage.tokens_in
    assert sum(row["tokens_out"] for row in result.rows) == result.usage.tokens_out
    assert sum(row["cost_usd"] for row in result.rows) == pytest.approx(result.cost_usd)
    paid = [row["chunk_id"] for row in result.rows if row["tokens_in"]]
    assert len(paid) == len(set(paid)) == 2


def test_progress_tells_of_each_answer(ledger: Ledger) -> None:
    told: list[tuple[str, int, int | None, str]] = []

    class Listener(Silent):
        def __call__(self, stage: str, done: int, total: int | None, note: str = "") -> None:
            told.append((stage, done, total, note))

    proposed(chunks_of(2), Echo("What is it?"), ledger, Listener())
    assert told == [
        ("candidate_questions", 1, 2, "rules"),
        ("candidate_questions", 2, 2, "rules"),
    ]


@pytest.mark.parametrize("spec", ["rule", "anthropic", "openai:", "mistral:small", ""])
def test_a_generator_that_is_not_known_is_refused(spec: str, settings: MakeSettings) -> None:
    with pytest.raises(UsageError, match="is not known: use rules, anthropic:<model>"):
        open_generator(spec, settings())


@needs_a_disk
def test_a_run_that_fills_the_disk_stops_at_once_and_the_next_goes_on(
    settings: MakeSettings, server: AnthropicServer, tmp_path: Path
) -> None:
    generator = opened(settings, HAIKU, server.url)
    chunks = chunks_of(40)
    with small_disk(tmp_path / "disk", 256 * 1024) as disk:
        ballast = disk / "ballast"
        ballast.write_bytes(b"x" * 240_000)
        with pytest.raises(WorkError, match="ledger") as full:
            proposed(chunks, generator, Ledger(disk / "ledger"), concurrency=2)
        assert "\n" not in str(full.value)
        assert str(disk / "ledger") in str(full.value)
        asked = len(server.requests)
        assert 2 < asked < 40
        ballast.unlink()
        ledger = Ledger(disk / "ledger")
        result = proposed(chunks, generator, ledger)
        # What found no room was paid for: it is all that is lost.
        assert result.calls <= 40 - asked + 2
        assert result.failed == {}
        ledger.compact()

"""Batches: half the price, one batch for many chunks, and none paid twice whatever happens."""

import itertools
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from qindex_pipeline.errors import WorkError
from qindex_pipeline.progress import Silent
from qindex_pipeline.questions.asking import batching
from qindex_pipeline.questions.asking.ledger import Ledger
from qindex_pipeline.questions.asking.notes import Notes
from qindex_pipeline.questions.asking.prices import Prices
from qindex_pipeline.questions.generators.generator import Generator, InvalidAnswerError
from qindex_pipeline.questions.generators.opening import open_generator
from qindex_pipeline.questions.proposing import Proposed
from qindex_pipeline.settings import Settings
from qindex_pipeline_tests.conftest import MakeSettings, Row, chunk_row
from qindex_pipeline_tests.fakes.anthropic_server import AnthropicServer
from qindex_pipeline_tests.fakes.openai_server import OpenAIServer
from qindex_pipeline_tests.processes import forkserver
from qindex_pipeline_tests.questions.asked import (
    HAIKU,
    MINI,
    QWEN,
    chunks_of,
    opened,
    proposed,
)

Server = AnthropicServer | OpenAIServer


@pytest.fixture(params=[HAIKU, MINI])
def spec(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def server(spec: str) -> Iterator[Server]:
    with AnthropicServer() if spec == HAIKU else OpenAIServer() as running:
        yield running


@pytest.fixture
def generator(spec: str, server: Server, settings: MakeSettings) -> Generator:
    return opened(settings, spec, server.url)


def ask(chunks: list[Row], generator: Generator, folder: Path, **values: Any) -> Proposed:
    """A run through batches, which looks at them as often as it can."""
    return proposed(
        chunks, generator, Ledger(folder), **({"batch": True, "batch_poll": 0.001} | values)
    )


def submitted(server: Server) -> list[int]:
    """How many requests each batch had."""
    return [len(batch.requests) for batch in server.batches.batches.values()]


def notes(folder: Path) -> list[Path]:
    return sorted((folder / "batches").glob("*"))


def test_a_batch_asks_about_all_chunks_at_half_the_price(
    spec: str, server: Server, generator: Generator, tmp_path: Path
) -> None:
    told: list[tuple[int, int | None, str]] = []

    class Listener(Silent):
        def __call__(self, stage: str, done: int, total: int | None, note: str = "") -> None:
            assert stage == "candidate_questions"
            told.append((done, total, note))

    server.batches.looks = 3
    result = ask(chunks_of(4), generator, tmp_path, progress=Listener())
    assert submitted(server) == [4]
    assert (result.calls, result.failed) == (4, {})
    assert result.cost_usd == pytest.approx(Prices({}).cost(spec, result.usage, batch=True))
    assert sum(row["cost_usd"] for row in result.rows) == pytest.approx(result.cost_usd)
    assert len(told) == 4
    assert told[-1][:2] == (4, 4)
    assert all(spec in note and "batch" in note for _, _, note in told)
    assert notes(tmp_path) == []

    single = proposed(chunks_of(4), generator, Ledger(tmp_path / "single"))
    shown = ("question_id", "question", "evidence", "origin")
    assert [[row[name] for name in shown] for row in result.rows] == [
        [row[name] for name in shown] for row in single.rows
    ]


def test_an_unchanged_site_submits_nothing(
    server: Server, generator: Generator, tmp_path: Path
) -> None:
    first = ask(chunks_of(2), generator, tmp_path)
    server.requests.clear()
    second = ask(chunks_of(2), generator, tmp_path)
    assert (second.rows, second.calls, server.requests) == (first.rows, 0, [])


def test_a_request_that_was_never_answered_is_asked_once_more_and_then_recorded(
    server: Server, generator: Generator, tmp_path: Path
) -> None:
    server.batches.fates["release 3."] = "expired"
    chunks = chunks_of(10)
    for expected in ([10, 1], [10, 1, 1, 1]):
        result = ask(chunks, generator, tmp_path)
        assert submitted(server) == expected
        assert result.failed == {chunks[3]["chunk_id"]: "unanswered"}
    server.batches.fates.clear()
    last = ask(chunks, generator, tmp_path)
    assert (last.failed, last.calls) == ({}, 1)


def test_an_answer_that_cannot_be_used_is_asked_for_in_the_next_batch(
    server: Server, generator: Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class OnceMalformed(type(generator.batches)):
        told = False

        def results(self, batch_id: str) -> Iterator[tuple[str, Any]]:
            for number, (key, outcome) in enumerate(super().results(batch_id)):
                spoilt = not number and not OnceMalformed.told
                OnceMalformed.told |= spoilt
                usage = outcome.usage
                yield key, InvalidAnswerError("?", "truncated", usage) if spoilt else outcome

    monkeypatch.setattr(
        type(generator),
        "batches",
        property(lambda self: OnceMalformed(self._model, self._client, self.request, self.read)),
    )
    result = ask(chunks_of(3), generator, tmp_path)
    assert submitted(server) == [3, 1]
    assert (result.failed, result.calls) == ({}, 4)
    assert sum(row["tokens_in"] for row in result.rows) == result.usage.tokens_in


def die(*arguments: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dying_run(spec: str, url: str, folder: Path, step: str) -> None:
    """A run that is killed at a step, in a process of its own."""
    settings = Settings(openai_base_url=f"{url}/v1", anthropic_base_url=url, llm_retries=0)
    keys = {"anthropic_api_key": SecretStr("key"), "openai_api_key": SecretStr("key")}
    generator = open_generator(spec, settings.model_copy(update=keys))
    batches: Any = type(generator.batches)
    whole = batches.results

    def half_read(self: Any, batch_id: str) -> Iterator[Any]:
        yield from itertools.islice(whole(self, batch_id), 2)
        die()

    target = Notes if step in {"submitted", "end"} else batches
    setattr(target, step, half_read if step == "results" else die)
    ask(chunks_of(5), generator, folder)


@pytest.mark.parametrize("step", ["submit", "submitted", "state", "results", "end"])
def test_a_run_that_is_killed_anywhere_leaves_a_batch_that_the_next_one_picks_up(
    step: str, spec: str, server: Server, generator: Generator, tmp_path: Path
) -> None:
    process = forkserver.Process(target=dying_run, args=(spec, server.url, tmp_path, step))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert [path.suffix for path in notes(tmp_path) if path.suffix != ".lock"] == [".json"]
    result = ask([*chunks_of(5), chunk_row("Another directory of another program.")],
                 generator, tmp_path)  # fmt: skip
    # Killed before anything was handed over, all is; afterwards only what is new.
    assert submitted(server) == ([6] if step == "submit" else [5, 1])
    assert result.failed == {}
    assert len({row["chunk_id"] for row in result.rows}) >= 5
    assert [path for path in notes(tmp_path) if path.suffix == ".json"] == []
    undisturbed = ask(chunks_of(5), generator, tmp_path / "undisturbed")
    found = {row["question_id"]: row for row in result.rows}
    assert all(found[row["question_id"]] == row for row in undisturbed.rows)


def left_behind(
    generator: Generator, folder: Path, chunks: list[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a run leaves whose provider went down after it had taken the batch."""

    def down(self: Any, batch_id: str) -> None:
        raise WorkError("the provider is down")

    with monkeypatch.context() as patch:
        patch.setattr(type(generator.batches), "state", down)
        with pytest.raises(WorkError, match="the provider is down"):
            ask(chunks, generator, folder)


def test_another_sites_batch_is_read_when_it_has_ended_and_never_waited_for(
    server: Server, generator: Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_behind(generator, tmp_path, chunks_of(3), monkeypatch)
    other = [chunk_row("The other program keeps its settings in another directory of its own.")]
    server.batches.looks = 2
    ask(other, generator, tmp_path)
    assert submitted(server) == [3, 1]
    assert len([path for path in notes(tmp_path) if path.suffix == ".json"]) == 1
    server.batches.looks = 0
    assert ask(other, generator, tmp_path).calls == 3  # nobody counted them before
    assert notes(tmp_path) == []
    assert ask(chunks_of(3), generator, tmp_path).from_ledger == 3
    assert submitted(server) == [3, 1]


def test_a_batch_of_another_model_is_left_alone(
    server: Server, generator: Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_behind(generator, tmp_path, chunks_of(3), monkeypatch)
    (note,) = [path for path in notes(tmp_path) if path.suffix == ".json"]
    before = note.read_bytes()
    generator.spec = "openai:gpt-other"
    ask(chunks_of(3), generator, tmp_path)
    assert submitted(server) == [3, 3]
    assert note.read_bytes() == before


def test_a_batch_of_a_run_that_lives_is_left_alone(
    server: Server, generator: Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_behind(generator, tmp_path, chunks_of(3), monkeypatch)
    living = Notes(tmp_path / "batches")
    (note,) = living.left_behind(generator.spec)
    ask(chunks_of(3), generator, tmp_path)
    assert submitted(server) == [3, 3]
    living.end(note)


def test_a_batch_that_the_provider_forgot_is_submitted_anew(
    server: Server, generator: Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_behind(generator, tmp_path, chunks_of(3), monkeypatch)
    server.batches.batches.clear()
    assert ask(chunks_of(3), generator, tmp_path).failed == {}
    assert submitted(server) == [3]


def test_a_note_that_cannot_be_read_is_named(generator: Generator, tmp_path: Path) -> None:
    (tmp_path / "batches").mkdir()
    (tmp_path / "batches" / "qindex-1.json").write_text("{")
    with pytest.raises(WorkError, match=r"qindex-1\.json cannot be read .* delete it"):
        ask(chunks_of(1), generator, tmp_path)


def test_many_chunks_are_split_into_batches_of_a_size_that_providers_take(
    server: Server, generator: Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "MOST_REQUESTS", 4)
    result = ask(chunks_of(10), generator, tmp_path)
    assert submitted(server) == [4, 4, 2]
    assert result.calls == 10


def test_a_cap_submits_only_what_surely_fits(
    spec: str, server: Server, generator: Generator, tmp_path: Path
) -> None:
    cap = 0.008 if spec == HAIKU else 0.001
    chunks = chunks_of(40)
    with pytest.raises(WorkError, match="of 40 chunks are answered; raise QINDEX_MAX_COST_USD"):
        ask(chunks, generator, tmp_path, max_cost_usd=cap)
    sizes = submitted(server)
    assert 0 < sum(sizes) < 40
    whole = ask(chunks, generator, tmp_path, max_cost_usd=100)
    assert sum(submitted(server)) == 40
    assert whole.from_ledger == sum(sizes)
    spent = sum(row["cost_usd"] for row in whole.rows) - (whole.cost_usd or 0)
    assert 0 < spent <= cap


def test_a_batch_that_is_refused_as_a_whole_is_one_line_and_handed_over_anew(
    settings: MakeSettings, tmp_path: Path
) -> None:
    with OpenAIServer() as server:
        generator = opened(settings, MINI, server.url)
        server.batches.refusal = "Enqueued token limit reached"
        with pytest.raises(WorkError, match="Enqueued token limit reached"):
            ask(chunks_of(2), generator, tmp_path)
        assert ask(chunks_of(2), generator, tmp_path).failed == {}
        assert submitted(server) == [2, 2]


def test_a_model_without_batches_is_asked_call_by_call_and_says_so(
    settings: MakeSettings, tmp_path: Path
) -> None:
    said: list[str] = []

    class Listener(Silent):
        def warn(self, line: str) -> None:
            said.append(line)

    with OpenAIServer(chat_models=["qwen2.5:14b"]) as server:
        generator = opened(settings, QWEN, server.url)
        assert ask(chunks_of(2), generator, tmp_path, progress=Listener()).calls == 2
    assert said == [f"{QWEN} has no batch interface: it is asked call by call"]

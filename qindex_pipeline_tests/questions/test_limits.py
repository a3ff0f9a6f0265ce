"""A run's limits: calls and tokens a minute, and the money that it may spend."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.errors import UsageError, WorkError
from qindex_pipeline.progress import silent
from qindex_pipeline.questions.asking.asking import Asking, Means
from qindex_pipeline.questions.asking.budget import Budget, check_cap
from qindex_pipeline.questions.asking.entries import input_hash
from qindex_pipeline.questions.asking.ledger import Ledger
from qindex_pipeline.questions.asking.limiter import Limiter, limiter_of
from qindex_pipeline.questions.asking.options import AskingOptions
from qindex_pipeline.questions.asking.pending import select
from qindex_pipeline.questions.asking.prices import Price, Prices
from qindex_pipeline.questions.asking.recorder import Recorder
from qindex_pipeline.questions.generators.generator import Generator, Usage
from qindex_pipeline_tests.conftest import NOON, MakeSettings
from qindex_pipeline_tests.fakes.anthropic_server import AnthropicServer
from qindex_pipeline_tests.fakes.openai_server import OpenAIServer
from qindex_pipeline_tests.questions.asked import HAIKU, MINI, chunks_of, opened, proposed


class Hand:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_without_a_limit_nothing_waits() -> None:
    limiter = Limiter(clock=Hand())
    assert [limiter.reserve(10_000) for _ in range(5)] == [0.0] * 5


def test_requests_are_spaced_evenly() -> None:
    clock = Hand()
    limiter = Limiter(requests_per_minute=30, clock=clock)
    assert [limiter.reserve(1) for _ in range(3)] == [0.0, 2.0, 4.0]
    clock.now = 60.0
    assert [limiter.reserve(1) for _ in range(2)] == [0.0, 2.0]


def test_a_large_request_lets_the_next_one_wait_for_its_tokens() -> None:
    clock = Hand()
    limiter = Limiter(requests_per_minute=60, tokens_per_minute=6_000, clock=clock)
    assert [limiter.reserve(tokens) for tokens in (500, 10, 10)] == [0.0, 5.0, 6.0]


def test_what_a_call_really_took_counts() -> None:
    clock = Hand()
    limiter = Limiter(tokens_per_minute=6_000, clock=clock)
    limiter.reserve(100)
    limiter.correct(200)
    assert limiter.reserve(100) == pytest.approx(3.0)
    limiter.correct(-100)
    assert limiter.reserve(0) == pytest.approx(3.0)


@given(st.lists(st.tuples(st.floats(0, 30), st.integers(0, 900)), min_size=1, max_size=40))
def test_no_minute_has_more_than_its_share(calls: list[tuple[float, int]]) -> None:
    clock = Hand()
    limiter = Limiter(requests_per_minute=20, tokens_per_minute=3_000, clock=clock)
    turns: list[tuple[float, int]] = []
    for pause, tokens in calls:
        clock.now += pause
        turns.append((clock.now + limiter.reserve(tokens), tokens))
    for start, _ in turns:
        within = [tokens for turn, tokens in turns if start <= turn < start + 60 - 1e-6]
        assert len(within) <= 20
        assert sum(within[:-1]) <= 3_000 + 1e-6


def test_runs_of_a_process_share_their_providers_limiter() -> None:
    assert limiter_of("anthropic", 50, None) is limiter_of("anthropic", 50, None)
    assert limiter_of("anthropic", 50, None) is not limiter_of("openai", 50, None)


class Counting(Limiter):
    """Lets the first call go at once and every other after `seconds`; keeps what it is told."""

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__(clock=Hand())
        self.seconds, self.reserved, self.corrected = seconds, list[int](), list[int]()

    def reserve(self, tokens: int) -> float:
        self.reserved.append(tokens)
        return self.seconds if len(self.reserved) > 1 else 0.0

    def correct(self, tokens: int) -> None:
        self.corrected.append(tokens)


def ask_all(generator: Generator, limiter: Limiter, ledger: Ledger) -> Budget:
    """Ask about four chunks, two at a time."""
    by_key = {input_hash(chunk, generator): chunk for chunk in chunks_of(4)}
    recorder = Recorder(generator, ledger, lambda: NOON, 8)
    budget = Budget(generator.spec, Prices({}))
    pending = select(by_key, generator, ledger, 8).pending
    assert Asking(Means(generator, recorder, budget, limiter, silent), 2).ask_all(pending)
    return budget


def test_every_call_takes_its_turn_and_counts_what_it_took(
    settings: MakeSettings, tmp_path: Path
) -> None:
    limiter = Counting()
    with OpenAIServer() as server:
        budget = ask_all(opened(settings, MINI, server.url), limiter, Ledger(tmp_path))
    assert len(limiter.reserved) == 4
    taken = budget.usage.tokens_in + budget.usage.tokens_out
    assert sum(limiter.reserved) + sum(limiter.corrected) == taken > 0


def test_who_waits_for_a_turn_hears_that_the_provider_failed(
    settings: MakeSettings, tmp_path: Path
) -> None:
    with OpenAIServer() as server:
        generator = opened(settings, MINI, server.url, key="wrong")
        with pytest.raises(WorkError, match="refused the key"):
            ask_all(generator, Counting(seconds=3600), Ledger(tmp_path))
        assert len(server.requests) == 1


MODEL = "test:model"
CENT = Prices({MODEL: Price(0.0, 10_000.0, 0.0)})
"""An answer token costs a cent."""


def tokens(count: int) -> Usage:
    return Usage(0, count)


def test_without_a_cap_every_call_goes_and_is_counted() -> None:
    budget = Budget(MODEL, CENT)
    for count in (3, 4):
        budget.charge(budget.take(tokens(1)) or 0.0, tokens(count))
    assert (budget.calls, budget.usage, budget.spent) == (2, tokens(7), pytest.approx(0.07))


def test_an_unknown_price_is_unknown_money() -> None:
    budget = Budget("openai:unknown", Prices({}))
    budget.charge(0.0, tokens(1))
    assert (budget.spent, budget.usage) == (None, tokens(1))


def test_the_first_call_goes_alone_where_the_cap_is_small() -> None:
    budget = Budget(MODEL, CENT, cap=0.05, answer_tokens=20)
    first = budget.take(tokens(2))
    assert first is not None
    assert budget.take(tokens(2)) is None
    budget.charge(first, tokens(2))
    assert budget.take(tokens(2)) is not None


def test_calls_go_together_while_all_they_may_cost_fits() -> None:
    budget = Budget(MODEL, CENT, cap=1.0, answer_tokens=20)
    taken = [budget.take(tokens(2)) for _ in range(6)]
    assert [reserved is not None for reserved in taken] == [True] * 5 + [False]


def test_a_batch_takes_only_what_surely_fits_at_half_the_price() -> None:
    budget = Budget(MODEL, CENT, cap=0.25, answer_tokens=20)
    taken = [budget.take(tokens(2), batch=True) for _ in range(4)]
    assert [reserved is not None for reserved in taken] == [True, True, False, False]
    assert Budget(MODEL, CENT, cap=0.05, answer_tokens=20).take(tokens(2), batch=True) is None
    for reserved in taken[:2]:
        budget.charge(reserved or 0.0, tokens(2), batch=True)
    assert budget.spent == pytest.approx(0.02)


@given(
    st.integers(1, 200),
    st.lists(st.integers(1, 20), min_size=1, max_size=60),
    st.integers(1, 16),
)
def test_a_run_ends_within_one_call_of_its_cap(
    cap_cents: int, costs: list[int], concurrency: int
) -> None:
    budget = Budget(MODEL, CENT, cap=cap_cents / 100, answer_tokens=20)
    waiting, flight, made = list(costs), list[tuple[float, int]](), list[int]()
    while waiting or flight:
        while waiting and len(flight) < concurrency:
            reserved = budget.take(tokens(1))
            if reserved is None:
                break
            flight.append((reserved, waiting.pop(0)))
        if not flight:
            break
        reserved, cost = flight.pop(0)
        made.append(cost)
        budget.charge(reserved, tokens(cost))
    assert sum(made) <= cap_cents + max(made)
    if waiting:
        assert sum(made) >= cap_cents - max(made)


def test_a_cap_needs_a_price() -> None:
    with pytest.raises(UsageError, match=r"openai:unknown=in/out.*QINDEX_PRICES"):
        check_cap("openai:unknown", Prices({}), 1.0)
    check_cap("openai:unknown", Prices({}), None)
    check_cap("ollama:anything", Prices({}), 1.0)


def test_a_cap_without_a_price_asks_nothing(settings: MakeSettings, tmp_path: Path) -> None:
    with OpenAIServer(chat_models=["mine"]) as server:
        generator = opened(settings, "openai:mine", server.url)
        with pytest.raises(UsageError, match="QINDEX_PRICES"):
            proposed(chunks_of(2), generator, Ledger(tmp_path), max_cost_usd=1.0)
        assert server.requests == []
        options = AskingOptions.from_settings(
            settings(QINDEX_PRICES="openai:mine=1/2", QINDEX_MAX_COST_USD="1")
        )
        result = proposed(
            chunks_of(2),
            generator,
            Ledger(tmp_path),
            max_cost_usd=options.max_cost_usd,
            prices=options.prices,
        )
    assert result.cost_usd is not None
    assert 0 < result.cost_usd < 1


def test_the_cap_stops_a_run_and_a_higher_one_goes_on(
    settings: MakeSettings, tmp_path: Path
) -> None:
    chunks = chunks_of(60)
    with AnthropicServer() as server:
        server.delay = 0.005
        generator = opened(settings, HAIKU, server.url)
        with pytest.raises(WorkError) as stopped:
            proposed(chunks, generator, Ledger(tmp_path), concurrency=8, max_cost_usd=0.01)
        line = str(stopped.value)
        calls = len(server.requests)
        ledger = Ledger(tmp_path)
        whole = proposed(chunks, generator, ledger, concurrency=8, max_cost_usd=1.0)
        assert len(server.requests) == len(chunks)
    assert stopped.value.exit_code == 1
    assert "\n" not in line
    assert f"{calls} of 60 chunks are answered" in line
    assert "raise QINDEX_MAX_COST_USD and run again, what was answered is kept" in line
    costs = [row["cost_usd"] for row in whole.rows if row["tokens_in"]]
    assert len(costs) == len(chunks)
    spent = sum(costs[:calls])
    assert f"${spent:.4f} are spent" in line
    assert 0.01 - max(costs) <= spent <= 0.01 + max(costs)
    assert whole.from_ledger == calls

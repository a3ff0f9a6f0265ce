"""kill -9 while calls are in flight: the next run asks again what was in flight, and no more."""

import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from qindex_pipeline.progress import Silent
from qindex_pipeline.questions.asking.ledger import Ledger
from qindex_pipeline.questions.generators.opening import open_generator
from qindex_pipeline.settings import Settings
from qindex_pipeline_tests.fakes.loopback import LoopbackServer, Request
from qindex_pipeline_tests.fakes.openai_server import OpenAIServer
from qindex_pipeline_tests.processes import forkserver
from qindex_pipeline_tests.questions.asked import MINI, chunks_of, proposed

pytestmark = pytest.mark.slow

CHUNKS, IN_FLIGHT, KILLS = 200, 8, 10

_RELEASE = re.compile(r"settings of release (\d+)\.")


def run(state: Path, url: str, result: Path) -> None:
    """One run, in a process of its own: asks about all chunks and leaves the rows as JSON."""
    settings = Settings(openai_base_url=f"{url}/v1", llm_retries=0)
    said: list[str] = []

    class Listener(Silent):
        def warn(self, line: str) -> None:
            said.append(line)

    ledger = Ledger(state / "ledger", said.append)
    done = proposed(
        chunks_of(CHUNKS),
        open_generator(MINI, settings),
        ledger,
        Listener(),
        concurrency=IN_FLIGHT,
    )
    ledger.compact()
    text = json.dumps({"rows": done.rows, "calls": done.calls, "said": said}, default=str)
    result.write_text(text)


def asked_about(requests: Sequence[Request]) -> Counter[str]:
    """How often each chunk was asked about; each has its release in the text.

    A request that a kill cut off in the middle asks about none.
    """
    releases = (_RELEASE.search(str(request.body)) for request in requests)
    return Counter(found[1] for found in releases if found is not None)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        running.delay = 0.02
        yield running


def settle(server: OpenAIServer) -> None:
    """Wait until what a killed process had sent is read: on a busy machine later than its end."""
    seen = -1
    while seen != len(server.requests):
        seen = len(server.requests)
        time.sleep(0.1)


def start(state: Path, server: LoopbackServer) -> Any:
    process = forkserver.Process(target=run, args=(state, server.url, state / "result.json"))
    process.start()
    return process


def finish(state: Path, server: LoopbackServer) -> dict[str, Any]:
    state.mkdir(exist_ok=True)
    process = start(state, server)
    process.join()
    assert process.exitcode == 0
    return json.loads((state / "result.json").read_text())


def test_ten_kills_cost_the_calls_in_flight_each_and_change_no_row(
    server: OpenAIServer, tmp_path: Path
) -> None:
    undisturbed = finish(tmp_path / "undisturbed", server)
    assert undisturbed["calls"] == CHUNKS == len(server.requests)
    server.requests.clear()

    chance, state = random.Random(11), tmp_path / "killed"
    state.mkdir()
    before, since = Counter[str](), 0
    for _ in range(KILLS):
        process = start(state, server)
        # Anywhere in a tenth of the way, between the arrival of two requests or during one.
        wanted = since + chance.randint(1, CHUNKS // KILLS)
        while len(server.requests) < wanted:
            assert process.is_alive()
            time.sleep(0.001)
        time.sleep(chance.random() * 0.02)
        process.kill()
        process.join()
        assert process.exitcode < 0
        settle(server)
        now = asked_about(server.requests[since:])
        repeated = sum((now & before).values())
        assert repeated <= IN_FLIGHT
        before, since = before + now, len(server.requests)

    resumed = finish(state, server)
    assert sum((asked_about(server.requests[since:]) & before).values()) <= IN_FLIGHT
    assert len(asked_about(server.requests)) == CHUNKS
    assert len(server.requests) <= CHUNKS + KILLS * IN_FLIGHT
    assert resumed["rows"] == undisturbed["rows"]
    assert len(list((state / "ledger").glob("*.jsonl"))) == 1

    server.requests.clear()
    night = finish(state, server)
    assert night["rows"] == undisturbed["rows"]
    assert (night["calls"], night["said"], server.requests) == (0, [], [])

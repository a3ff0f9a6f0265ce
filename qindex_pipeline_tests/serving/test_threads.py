"""Work beside an event loop: its bound, its end, and its errors."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

import pytest

from qindex_pipeline.errors import TransientError, WorkError
from qindex_pipeline.serving.threads import BusyError, Threads


async def collected(items: AsyncGenerator[int]) -> list[int]:
    async with aclosing(items) as open_items:
        return [item async for item in open_items]


def test_items_come_in_order_while_the_loop_goes_on() -> None:
    async def scenario() -> None:
        gate = threading.Event()

        def work() -> Iterator[int]:
            yield 1
            gate.wait(10)
            yield 2

        items = Threads(1, 1, 10).run(work)
        assert await anext(items) == 1
        gate.set()  # reached although the thread blocks
        assert await collected(items) == [2]

    asyncio.run(scenario())


def test_no_more_run_at_once_than_allowed_and_further_callers_wait_or_are_sent_away() -> None:
    gate = threading.Event()
    running: list[int] = []

    def work() -> Iterator[int]:
        running.append(1)
        gate.wait(10)
        yield len(running)

    async def scenario() -> None:
        threads = Threads(2, 1, 10)
        callers = [asyncio.create_task(collected(threads.run(work))) for _ in range(3)]
        while len(running) < 2:
            await asyncio.sleep(0.001)
        with pytest.raises(BusyError, match="too many questions at once"):
            await collected(threads.run(work))
        assert len(running) == 2
        gate.set()
        await asyncio.gather(*callers)
        assert len(running) == 3
        assert await collected(threads.run(work)) == [4]

    asyncio.run(scenario())


def test_whoever_stops_reading_stops_the_thread_at_its_next_item() -> None:
    ended = threading.Event()
    step = threading.Semaphore(1)

    def work() -> Iterator[int]:
        try:
            for number in range(1_000):
                step.acquire(timeout=10)
                yield number
        finally:
            ended.set()

    async def scenario() -> None:
        items = Threads(1, 1, 10).run(work)
        assert await anext(items) == 0
        await items.aclose()
        step.release()
        assert await asyncio.to_thread(ended.wait, 10)

    asyncio.run(scenario())


def test_what_the_work_raises_is_raised_to_its_caller_and_the_place_is_free_again() -> None:
    def work() -> Iterator[int]:
        yield 1
        raise WorkError("the lamp is out")

    async def scenario() -> None:
        threads = Threads(1, 0, 10)
        for _ in range(3):
            with pytest.raises(WorkError, match="the lamp is out"):
                await collected(threads.run(work))
            await asyncio.sleep(0)

    asyncio.run(scenario())


def test_work_that_takes_too_long_is_given_up_and_keeps_its_place_until_it_ends() -> None:
    gate = threading.Event()

    def work() -> Iterator[int]:
        gate.wait(10)
        yield 1

    async def scenario() -> None:
        threads = Threads(1, 1, 0.05)
        for _ in range(2):  # the second waits for the place of the first
            with pytest.raises(TransientError, match="no answer within 0 seconds"):
                await collected(threads.run(work))
        gate.set()
        threads.wait(10)
        await asyncio.sleep(0.01)
        assert await collected(threads.run(work)) == [1]

    asyncio.run(scenario())


def test_a_thread_that_outlives_its_loop_ends_in_silence() -> None:
    gate = threading.Event()
    threads = Threads(1, 0, 10)

    def work() -> Iterator[int]:
        yield 1
        gate.wait(10)
        yield 2

    async def scenario() -> None:
        assert await anext(threads.run(work)) == 1

    asyncio.run(scenario())
    gate.set()
    threads.wait(10)

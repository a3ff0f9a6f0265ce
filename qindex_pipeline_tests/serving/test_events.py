"""The stream of events of one answer."""

import asyncio
from collections.abc import AsyncGenerator

from qindex_pipeline.errors import WorkError
from qindex_pipeline.serving.asker import Piece
from qindex_pipeline.serving.events import server_sent_events


def test_a_comment_keeps_the_connection_while_nothing_is_written() -> None:
    async def slow() -> AsyncGenerator[Piece]:
        await asyncio.sleep(0.1)
        yield "late\n"

    async def scenario() -> list[str]:
        return [event async for event in server_sent_events(slow(), keep_alive=0.02)]

    sent = asyncio.run(scenario())
    assert sent[-1] == 'event: text\ndata: "late\\n"\n\n'
    assert len(sent) > 1
    assert set(sent[:-1]) == {": the answer is being written\n\n"}


def test_whoever_stops_reading_closes_the_answer() -> None:
    closed: list[bool] = []

    async def pieces() -> AsyncGenerator[Piece]:
        try:
            yield "one"
            await asyncio.sleep(60)
        finally:
            closed.append(True)

    async def scenario() -> None:
        events = server_sent_events(pieces())
        assert "one" in await anext(events)
        await events.aclose()

    asyncio.run(scenario())
    assert closed == [True]


def test_a_failure_is_the_last_event() -> None:
    async def failing() -> AsyncGenerator[Piece]:
        yield "one"
        raise WorkError("the lamp is out")

    async def scenario() -> list[str]:
        return [event async for event in server_sent_events(failing())]

    assert asyncio.run(scenario())[-1] == 'event: error\ndata: {"error": "the lamp is out"}\n\n'

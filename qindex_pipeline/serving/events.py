"""An answer as server-sent events: `text` for each piece, then `answer` and `view`, or `error`."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

from qindex_pipeline.errors import QIndexError
from qindex_pipeline.retrieval.result import Answer
from qindex_pipeline.serving.asker import Piece
from qindex_pipeline.serving.nodes import to_json
from qindex_pipeline.serving.view import answer_view, outcome

KEEP_ALIVE_SECONDS = 15.0
"""Proxies end a connection on which nothing comes for a minute; a local model may take longer to
begin."""


async def server_sent_events(
    pieces: AsyncGenerator[Piece], keep_alive: float = KEEP_ALIVE_SECONDS
) -> AsyncIterator[str]:
    """The events of an answer whose search is done.

    Args:
        pieces: The answer while it is written; closed when whoever reads the events stops.
        keep_alive: Seconds without an event after which a comment is sent.
    """
    async with aclosing(pieces):
        upcoming = asyncio.ensure_future(anext(pieces))
        try:
            while True:
                done, _ = await asyncio.wait({upcoming}, timeout=keep_alive)
                if not done:
                    yield ": the answer is being written\n\n"
                    continue
                for line in _events(upcoming.result()):
                    yield line
                upcoming = asyncio.ensure_future(anext(pieces))
        except StopAsyncIteration:
            pass
        except QIndexError as error:
            yield _event("error", {"error": str(error)})
        finally:
            upcoming.cancel()
            await asyncio.wait({upcoming})  # a generator cannot be closed while it runs


def _events(piece: Piece) -> list[str]:
    if isinstance(piece, Answer):
        view = {"status": outcome(piece), "nodes": to_json(answer_view(piece))}
        return [_event("answer", piece.to_json()), _event("view", view)]
    return [_event("text", piece)] if piece else []


def _event(name: str, data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"

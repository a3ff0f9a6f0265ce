"""Servers that answer beside a crawl, which has an event loop of its own, and hosts that wait."""

import asyncio
import socket
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import pytest

from qindex_pipeline.crawl.fetch.pace import Pace
from qindex_pipeline_tests.crawl.hostile import Reply
from qindex_pipeline_tests.crawl.sockets import (
    Answer,
    Asked,
    Server,
    WoundClock,
    reply,
    talking,
)

ENDLESS = 1_000_000_000
"""Bytes that an endless body announces."""


@contextmanager
def talking_beside(answers: Mapping[str, Answer], host: str = "127.0.0.1") -> Generator[Server]:
    """`sockets.talking` in a thread; `answers` may grow while it serves."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    context = talking(answers, host)
    try:
        yield asyncio.run_coroutine_threadsafe(context.__aenter__(), loop).result()
    finally:
        asyncio.run_coroutine_threadsafe(context.__aexit__(None, None, None), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def said(answer: Reply) -> bytes:
    """The bytes of a `Reply`."""
    headers = {name.replace("-", "_"): value for name, value in answer.headers.items()}
    status = f"{answer.status} Status"
    return reply(answer.body, status, **({"Content_Type": ""} | headers))


class Endless:
    """A body that never ends; `sent` counts what the client let us send of it."""

    def __init__(self, content_type: str) -> None:
        self._head = reply(b"", Content_Type=content_type, Content_Length=str(ENDLESS))
        self.sent = 0

    async def __call__(self, _: Asked, writer: asyncio.StreamWriter) -> None:
        writer.write(self._head)
        while self.sent < ENDLESS:
            writer.write(b"<p>more and more " * 4096)
            self.sent += 17 * 4096
            await writer.drain()


@dataclass(frozen=True)
class ForbiddenHost:
    """A host that nobody may call: it lets every caller in and never answers."""

    base: str
    listening: socket.socket

    def callers(self) -> list[str]:
        """The first line of everyone who connected, empty for who said nothing."""
        lines: list[str] = []
        with suppress(BlockingIOError):
            while True:
                caller, _ = self.listening.accept()
                with caller, suppress(OSError):
                    caller.settimeout(0.2)
                    lines.append("")
                    lines[-1] = caller.recv(4096).decode("latin-1").partition("\r\n")[0]
        return lines


@contextmanager
def forbidden_host(host: str = "127.0.0.2") -> Generator[ForbiddenHost]:
    """A host on a free port that must see no connection; the test looks at `callers`."""
    with socket.socket() as listening:
        listening.bind((host, 0))
        listening.listen(128)
        listening.setblocking(False)
        yield ForbiddenHost(f"http://{host}:{listening.getsockname()[1]}", listening)


def wound_pace(monkeypatch: pytest.MonkeyPatch) -> WoundClock:
    """The clock by which every crawl of a test waits: it runs when someone sleeps."""
    clock = WoundClock()
    # The defaults of its parameters: `crawl` leaves no other way in.
    monkeypatch.setitem(Pace.__init__.__kwdefaults__, "sleep", clock.sleep)
    monkeypatch.setitem(Pace.__init__.__kwdefaults__, "clock", clock)
    return clock

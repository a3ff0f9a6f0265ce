"""A server that says exactly the bytes a test gives it, and a clock that a test winds."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest


@dataclass(frozen=True)
class Asked:
    """A request as it arrived: the target of its first line, its headers in lower case."""

    target: str
    headers: Mapping[str, str]


Answer = bytes | Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]
"""What a target answers: these bytes, or whatever a function writes."""


@dataclass
class Server:
    """A running server: its base URL without the slash, what was asked."""

    base: str = ""
    asked: list[Asked] = field(default_factory=list)

    @property
    def targets(self) -> list[str]:
        return [asked.target for asked in self.asked]


def reply(body: bytes = b"", status: str = "200 OK", **headers: str) -> bytes:
    """An HTTP response that closes the connection; `Content_Type=` becomes a header."""
    given = {"Content-Type": "text/html", "Content-Length": str(len(body)), "Connection": "close"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in given.items() if value)]
    return "\r\n".join([*lines, "", ""]).encode() + body


def moved(location: str, status: str = "302 Found") -> bytes:
    return reply(b"", status, Location=location)


@asynccontextmanager
async def talking(
    answers: Mapping[str, Answer],
    host: str = "127.0.0.1",
    tls: ssl.SSLContext | None = None,
) -> AsyncGenerator[Server]:
    """Serve `answers` by request target on a free port; other targets are 404."""
    server = Server()
    talks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talks.add(task)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *rest = head.strip().split("\r\n")
            pairs = (line.partition(":") for line in rest)
            headers = {name.lower(): value.strip() for name, _, value in pairs}
            asked = Asked(first.split(" ")[1], headers)
            server.asked.append(asked)
            answer = answers.get(asked.target, reply(b"no", "404 Not Found"))
            if isinstance(answer, bytes):
                writer.write(answer)
                await writer.drain()
            else:
                await answer(asked, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client went away, or the test is over
        finally:
            writer.close()
            talks.discard(task)

    listening = await asyncio.start_server(serve, host, 0, ssl=tls)
    scheme = "http" if tls is None else "https"
    server.base = f"{scheme}://{host}:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listening.close()
        for task in tuple(talks):
            task.cancel()
        await asyncio.gather(*talks)


def forget_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the proxies of this machine out of the environment."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


class WoundClock:
    """Time that passes only when someone sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)

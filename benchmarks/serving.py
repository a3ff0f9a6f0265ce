"""Whether people and programs are answered while their index is published anew, and how fast.

    python benchmarks/serving.py [--asks 200] [--seconds 100]

Indexes a few pages of our documentation offline, serves them with `qindex serve` and `qindex mcp`
(streamable HTTP and stdio), and asks through the real clients: first alone, then while another
process edits a page and ingests the site, over and over. Prints errors, latency and the number of
published states that the answers came from; exits with 1 when an ask failed.
"""

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from measure import percentile, print_table

_PROJECT = Path(__file__).parent.parent
PAGES = ("index", "quickstart", "profiles", "limits")
REVISION = "What is the current revision of the handbook?"
QUESTIONS = (
    REVISION,
    REVISION,
    "Which profile needs no key?",
    "How do I run the demo?",
    "What is not supported?",
    "Which embedder does the local profile use?",
)

Ask = Callable[[str], Awaitable[str]]
"""Asks a question and returns the answer's text; raises whatever goes wrong."""


@dataclass
class Asked:
    """What one client met."""

    seconds: list[float] = field(default_factory=list[float])
    errors: list[str] = field(default_factory=list[str])
    revisions: set[str] = field(default_factory=set[str])


def main() -> None:
    """Serve, ask alone, ask while the site is ingested, and print both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--asks", type=int, default=200, help="while the site is ingested, in all")
    parser.add_argument("--seconds", type=float, default=100.0, help="over which they are spread")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        site = Handbook(Path(folder))
        site.ingest()
        alone, during = asyncio.run(measured(site, options.asks // 4, options.seconds))
    report(alone, during, site)
    sys.exit(any(one.errors for one in (*alone.values(), *during.values())))


class Handbook:
    """A site on disk that is edited and ingested, each time by a process of its own."""

    def __init__(self, folder: Path) -> None:
        """Copy the pages into `folder`; nothing is ingested yet."""
        self.folder, self.revision = folder, 0
        (folder / "pages").mkdir()
        for page in PAGES:
            shutil.copy(_PROJECT / "docs" / f"{page}.html", folder / "pages")
        start = folder / "pages" / "index.html"
        link = '<p><a href="revision.html">The current revision</a></p></main>'
        start.write_text(start.read_text().replace("</main>", link))
        self.environment = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            "QINDEX_PROFILE": "offline",
            "QINDEX_DATA": str(folder / "data"),
            "QINDEX_SITES": str(folder / "sites.yaml"),
            "PYTHONPATH": str(_PROJECT),
            "DAGSTER_DISABLE_TELEMETRY": "yes",
        }

    def ingest(self) -> None:
        """Write the next revision of a page and publish it."""
        self.revision += 1
        (self.folder / "pages" / "revision.html").write_text(
            "<html lang=en><head><title>Revision</title></head><body><main><h1>Revision</h1>"
            f"<p>The current revision of the handbook is number {self.revision}.</p>"
            "<p>A new revision of the handbook is written whenever a page of it changes.</p>"
            "</main></body></html>"
        )
        base = "http://handbook.example.com/"
        done = subprocess.run(
            [
                *command("ingest"),
                str(self.folder / "pages"),
                "--site",
                "handbook",
                "--base-url",
                base,
            ],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            sys.exit(f"the ingest failed: {done.stderr}")

    @contextmanager
    def server(self, *arguments: str) -> Generator[str]:
        """A server of this site as a process; yields its address."""
        with subprocess.Popen(
            [*command(*arguments), "--port", "0"],
            cwd=self.folder,
            env=self.environment,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr is not None
            try:
                yield re.findall(r"http://\S+", process.stderr.readline())[0]
            finally:
                process.terminate()


def command(*arguments: str) -> list[str]:
    """The command line of `qindex` with these arguments."""
    return [sys.executable, "-m", "qindex_pipeline", *arguments]


async def measured(
    site: Handbook, asks: int, seconds: float
) -> tuple[dict[str, Asked], dict[str, Asked]]:
    """Each client's `asks`, a quarter of them alone and then all spread over the ingests."""
    async with AsyncExitStack() as stack:
        page = stack.enter_context(site.server("serve"))
        tools = stack.enter_context(site.server("mcp", "--http"))
        stdio = StdioServerParameters(
            command=sys.executable,
            args=command("mcp")[1:],
            env=site.environment,
            cwd=site.folder,
        )
        http = await stack.enter_async_context(httpx2.AsyncClient(base_url=page, timeout=60))
        clients: dict[str, Ask] = {
            "page, /ask": whole(http),
            "page, /stream": streamed(http),
            "MCP, HTTP": tool(await stack.enter_async_context(Client(tools))),
            "MCP, stdio": tool(await stack.enter_async_context(Client(stdio))),
        }
        await asyncio.gather(*(asked(ask, 2, 0) for ask in clients.values()))  # opens the index
        alone = await every(clients, max(asks // 4, 10), 0.2)
        over = asyncio.Event()
        ingesting = asyncio.create_task(publishing(site, over))
        during = await every(clients, asks, seconds / asks)
        over.set()
        await ingesting
    return alone, during


async def publishing(site: Handbook, over: asyncio.Event) -> None:
    """Ingest one revision after the other until it is over."""
    while not over.is_set():
        await asyncio.to_thread(site.ingest)


async def every(clients: dict[str, Ask], asks: int, pause: float) -> dict[str, Asked]:
    """All clients ask at once."""
    found = await asyncio.gather(*(asked(ask, asks, pause) for ask in clients.values()))
    return dict(zip(clients, found, strict=True))


async def asked(ask: Ask, asks: int, pause: float) -> Asked:
    """Ask so many questions, one after the other."""
    chance, met = random.Random(7), Asked()
    for _ in range(asks):
        question = chance.choice(QUESTIONS)
        started = time.perf_counter()
        try:
            answer = await ask(question)
        except Exception as error:  # whatever it is: it is what this program looks for
            met.errors.append(f"{type(error).__name__}: {error}")
        else:
            met.seconds.append(time.perf_counter() - started)
            met.revisions.update(re.findall(r"handbook is number (\d+)", answer))
        await asyncio.sleep(pause)
    return met


def whole(http: httpx2.AsyncClient) -> Ask:
    """Asks for one JSON object."""

    async def ask(question: str) -> str:
        reply = await http.get("ask", params={"question": question})
        return reply.raise_for_status().json()["answer"]

    return ask


def streamed(http: httpx2.AsyncClient) -> Ask:
    """Reads the events of a stream; its pieces must join to the answer."""

    async def ask(question: str) -> str:
        pieces, answer = "", None
        async with http.stream("GET", "stream", params={"question": question}) as reply:
            reply.raise_for_status()
            event = ""
            async for line in reply.aiter_lines():
                if line.startswith("event: "):
                    event = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    data: Any = json.loads(line.removeprefix("data: "))
                    pieces += data if event == "text" else ""
                    answer = data["answer"] if event == "answer" else answer
        if answer is None or pieces != answer:
            raise ValueError(f"the stream ended with {pieces!r}, its answer is {answer!r}")
        return answer

    return ask


def tool(client: Client) -> Ask:
    """Calls the tool `ask`."""

    async def ask(question: str) -> str:
        result = await client.call_tool("ask", {"question": question})
        if result.is_error:
            raise ValueError(str(result.content))
        return result.structured_content["answer"]

    return ask


def report(alone: dict[str, Asked], during: dict[str, Asked], site: Handbook) -> None:
    """Print a row a client, and what was published meanwhile."""
    rows = [_row(name, [alone[name]], [one]) for name, one in during.items()]
    rows.append(_row("all", list(alone.values()), list(during.values())))
    header = (
        "client",
        "asks",
        "errors",
        "p50 ms",
        "p95 ms",
        "p50 alone",
        "p95 alone",
        "p50 ×",
        "p95 ×",
    )
    print_table("asks while the site is ingested over and over", header, rows)
    seen = set[str]().union(*(one.revisions for one in during.values()))
    print(f"published meanwhile: {site.revision - 1}; states seen in answers: {len(seen)}")
    for one in (*alone.values(), *during.values()):
        for error in one.errors:
            print(error)


def _row(name: str, alone: Sequence[Asked], during: Sequence[Asked]) -> tuple[str, ...]:
    times = [[second for one in met for second in one.seconds] for met in (during, alone)]
    now, before = ([1000 * percentile(found, share) for share in (0.5, 0.95)] for found in times)
    errors = sum(len(one.errors) for one in (*alone, *during))
    ratios = [late / early for late, early in zip(now, before, strict=True)]
    return (
        name,
        str(len(times[0])),
        str(errors),
        *(f"{value:.0f}" for value in (*now, *before)),
        *(f"{value:.1f}" for value in ratios),
    )


if __name__ == "__main__":
    main()

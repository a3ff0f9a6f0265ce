"""The workflows of .github: what they may do, and their `run:` steps, executed.

Of the documentation's workflow every step runs in a repository of its own, with this project's
commands. Two programs are stand-ins: `pip`, for what is installed is here already, and `mkdocs`,
which copies pages that are built.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from qindex_pipeline_tests.command import CLOSED, write_site
from qindex_pipeline_tests.fakes.qdrant_server import QdrantServer

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
WORKFLOWS = ROOT / ".github" / "workflows"
NAMES = ("ci.yml", "docs-index.yml")
KEY = "docs.example.com"
PACKAGE = "qindex_pipeline[pipeline]"
PAGES = {
    "index": "<h1>Lantern</h1><p>Lantern lights folders for those who work late at night.</p>"
    '<p><a href="install.html">Install</a> <a href="colours.html">Colours</a></p>',
    "install": "<h1>Installing Lantern</h1><p>To install Lantern, run pip install lantern-cli in a "
    "terminal of your own.</p>",
    "colours": "<h1>Colours</h1><p>The colour of the light follows the variable LANTERN_COLOUR, "
    "which takes any colour name of the terminal.</p>",
}
QUESTIONS = (
    {"id": "1", "question": "How can I install Lantern?", "page": "install.html"},
    {"id": "2", "question": "How do I change the colour of the light?", "page": "colours.html"},
)
STAND_INS = {
    "pip": '#!/bin/sh\necho "$@" > pip.txt\n',
    # A runner begins with a clean checkout.
    "mkdocs": '#!/bin/sh\n[ "$*" = "build --strict --site-dir public" ] || exit 2\n'
    "rm -rf public && cp -r docs public\n",
}


def workflow(name: str) -> dict[str, Any]:
    # YAML 1.2: `on` is a word, not a boolean.
    return YAML(typ="safe").load(WORKFLOWS / name)


def steps(name: str) -> list[dict[str, Any]]:
    return [step for job in workflow(name)["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("name", NAMES)
def test_a_workflow_may_read_and_nothing_else_and_runs_once_at_a_time(name: str) -> None:
    found = workflow(name)
    assert found["permissions"] == {"contents": "read"}
    assert "github.ref" in found["concurrency"]["group"]
    assert "pull_request_target" not in found["on"]
    for job in found["jobs"].values():
        assert job["timeout-minutes"]
        assert "permissions" not in job


@pytest.mark.parametrize("name", NAMES)
def test_actions_are_pinned_by_commit_and_keep_no_credentials(name: str) -> None:
    text = (WORKFLOWS / name).read_text(encoding="utf-8")
    lines = re.findall(r"uses: (.+)", text)
    assert lines
    for line in lines:
        assert re.fullmatch(r"[a-z-]+/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line
    for step in steps(name):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("name", NAMES)
def test_no_expression_is_pasted_into_a_command(name: str) -> None:
    assert not [step["run"] for step in steps(name) if "${{" in step.get("run", "")]


def test_our_own_workflow_runs_what_everybody_runs() -> None:
    (command,) = [step["run"] for step in steps("ci.yml") if "run" in step]
    program = ROOT / command
    assert os.access(program, os.X_OK)
    subprocess.run(["bash", "-n", program], check=True)


def test_secrets_reach_the_step_that_needs_them_and_no_branch_publishes() -> None:
    with_secrets = [step for step in steps("docs-index.yml") if "secrets." in str(step)]
    assert [step["name"].partition(",")[0] for step in with_secrets] == ["Index it"]
    given = with_secrets[0]["env"]
    for name in ("QDRANT_URL", "QDRANT_API_KEY"):
        assert given[name].startswith("${{ github.event_name == 'push' && secrets.")


class Repository:
    """A repository of documentation, in which the workflow's steps run one after the other."""

    def __init__(self, folder: Path, qdrant: QdrantServer, floor: float) -> None:
        self.folder, self._qdrant = folder, qdrant
        write_site(folder / "docs", **PAGES)
        (folder / "qindex").mkdir()
        (folder / "qindex" / "questions.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in QUESTIONS)
        )
        self.floor(floor)
        (folder / "bin").mkdir()
        for name, script in STAND_INS.items():
            program = folder / "bin" / name
            program.write_text(script)
            program.chmod(0o755)

    def floor(self, floor: float) -> None:
        """The sites file as the documentation shows it, with another floor."""
        page = (ROOT / "docs" / "ci.html").read_text(encoding="utf-8")
        shown = re.findall(r'language-yaml">(.*?)</code>', page, flags=re.DOTALL)[0]
        text = shown.replace("eval_floor: 0.6", f"eval_floor: {floor}")
        (self.folder / "qindex" / "sites.yaml").write_text(text)

    def run(self) -> dict[str, int]:
        """Exit code by step; after one that failed only those with `always()` run."""
        codes: dict[str, int] = {}
        for step in steps("docs-index.yml"):
            if "run" in step and (not any(codes.values()) or step.get("if") == "always()"):
                codes[step["name"].partition(",")[0]] = self._execute(step)
        return codes

    def _execute(self, step: dict[str, Any]) -> int:
        found = workflow("docs-index.yml")["env"] | step.get("env", {})
        values = {name: value for name, value in found.items() if "${{" not in value}
        given = {
            "DOCS_SITE": KEY,
            "DOCS_INDEX_PACKAGE": PACKAGE,
            "QINDEX_PROFILE": "offline",
            "QDRANT_URL": self._qdrant.url,
            "QDRANT_API_KEY": "key",
            "OPENAI_API_KEY": "",
            "ANTHROPIC_API_KEY": "",
        }
        assert found.keys() - values.keys() <= given.keys()
        environment = values | {name: given[name] for name in found.keys() - values.keys()}
        path = [self.folder / "bin", Path(sys.executable).parent, os.environ["PATH"]]
        done = subprocess.run(
            ["bash", "-e", "-c", step["run"]],  # as GitHub's runner starts them
            cwd=self.folder,
            env=environment
            | {
                "PATH": os.pathsep.join(map(str, path)),
                "HOME": str(self.folder),
                "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
                "QINDEX_OLLAMA_URL": CLOSED,
            },
            check=False,
            capture_output=True,
        )
        return done.returncode


@pytest.fixture(scope="module")
def qdrant() -> Iterator[QdrantServer]:
    with QdrantServer(api_key="key") as server:
        yield server


def test_the_documentation_is_indexed_and_a_fall_below_the_floor_fails_the_build(
    qdrant: QdrantServer, tmp_path: Path
) -> None:
    repository = Repository(tmp_path, qdrant, floor=0.9)
    passing = repository.run()
    assert set(passing.values()) == {0}
    assert len(passing) == 4
    assert (tmp_path / "pip.txt").read_text().split() == ["install", "mkdocs", PACKAGE]
    summary = (tmp_path / "summary.md").read_text()
    assert "mrr" in summary.lower()
    writes = len(qdrant.writes)
    assert writes

    # The page that answers goes; what was published stands.
    moved = (
        "<h1>Elsewhere</h1><p>This page has moved: ask the release team where its text went.</p>"
    )
    write_site(tmp_path / "docs", colours=moved)
    failing = repository.run()
    assert failing.pop("Index it") != 0
    assert set(failing.values()) == {0}
    assert len(qdrant.writes) == writes
    assert (tmp_path / "summary.md").read_text() != summary

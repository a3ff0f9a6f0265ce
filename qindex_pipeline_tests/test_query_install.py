"""The query-only installation: an environment of the base dependencies alone asks an index.

The pipeline's environment, which runs these tests, builds what it asks.
"""

import re
import shutil
import subprocess
import tomllib
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from typer.main import get_command

from qindex_pipeline.cli import app
from qindex_pipeline_tests import command
from qindex_pipeline_tests.environments import ROOT, Environment, environment

pytestmark = pytest.mark.slow

PAGES = {
    "index": "<h1>Lantern</h1><p>Lantern lights folders for those who work late at night.</p>"
    '<p><a href="install.html">Install</a> <a href="colours.html">Colours</a></p>',
    "install": "<h1>Installing Lantern</h1><p>To install Lantern, run pip install lantern-cli in a "
    "terminal of your own.</p>",
    "colours": "<h1>Colours</h1><p>The colour of the light follows the variable LANTERN_COLOUR, "
    "which takes any colour name of the terminal.</p>",
}
QUESTION = "How do I install Lantern?"
ANSWER = "run pip install lantern-cli"

OF_THE_QUERY_SIDE = ("ask", "doctor", "explain", "mcp", "serve", "show")
OF_THE_PIPELINE = {
    "eval": ("questions.jsonl", "--site", "lantern"),
    "gaps": (),
    "ingest": ("lantern",),
    "plan": (),
    "rebuild": (),
    "report": (),
    "rollback": (),
    "sites": ("list",),
}
"""Commands that build an index or read its tables, each with arguments that it takes."""

IN_PYTHON = f"""
from qindex_pipeline.query import QIndex
print(QIndex.from_env().ask({QUESTION!r}).answer)
"""
OVER_MCP = f"""
import asyncio, sys
from mcp import ClientSession, StdioServerParameters, stdio_client
QINDEX = StdioServerParameters(
    command=sys.executable,
    args=["-m", "qindex_pipeline", "mcp"],
    env={{"QINDEX_PROFILE": "offline"}},
)
async def ask():
    async with stdio_client(QINDEX) as streams, ClientSession(*streams) as session:
        await session.initialize()
        told = await session.call_tool("ask", {{"question": {QUESTION!r}}})
        print(told.content[0].text)
asyncio.run(ask())
"""
FOUND = """
import re, sys
from importlib.metadata import requires, version
from importlib.util import find_spec
for requirement in requires("qindex_pipeline"):
    if "extra ==" not in requirement:
        version(re.match("[A-Za-z0-9._-]+", requirement).group())
print(*(name for name in sys.argv[1:] if find_spec(name)))
"""
NEEDED_BY_THE_BASE = {"fsspec"}
"""What the pipeline names and a package of the base brings too: huggingface-hub, for tokenizers."""


@dataclass(frozen=True)
class Asker:
    """The base environment, in a folder with an index that the pipeline built."""

    base: Environment
    folder: Path

    def qindex(self, *arguments: str, **variables: str) -> CompletedProcess[str]:
        """Run `qindex` of the base environment."""
        return self.base.run(self.folder, "-m", "qindex_pipeline", *arguments, **variables)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    with environment(tmp_path_factory.mktemp("base") / "venv") as made:
        tried = made.install("mdurl", "-c", "requirements-query.lock")
        if tried.returncode:
            pytest.skip(f"no package index can be reached: {tried.stderr.strip()[-300:]}")
        installed = made.install("-r", "requirements-query.lock")
        assert installed.returncode == 0, installed.stderr
        project = made.install_project()
        assert project.returncode == 0, project.stderr
        yield made


@pytest.fixture(scope="module")
def asker(base: Environment, tmp_path_factory: pytest.TempPathFactory) -> Asker:
    folder = tmp_path_factory.mktemp("lantern")
    command.write_site(folder / "lantern", **PAGES)
    built = command.qindex(folder, "ingest", "lantern", "--base-url", "https://lantern.dev/")
    assert built.returncode == 0, built.stderr
    return Asker(base, folder)


def modules_of_the_pipeline() -> set[str]:
    """What the packages of the extra `pipeline` are imported as."""
    packages = {re.split("[<>=~]", requirement)[0] for requirement in extra("pipeline")}
    return {package.replace("-", "_").partition(".")[0] for package in packages}


def extra(name: str) -> list[str]:
    """What an extra requires."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"]["optional-dependencies"][name]


def test_all_of_the_base_is_installed_and_nothing_of_the_pipeline(
    base: Environment, tmp_path: Path
) -> None:
    modules = modules_of_the_pipeline()
    assert {"dagster", "crawl4ai", "pandas", "playwright", "pyarrow"} < modules
    found = base.run(tmp_path, "-c", FOUND, *sorted(modules), "qindex_pipeline")
    assert found.stderr == ""
    assert set(found.stdout.split()) == {"qindex_pipeline"} | NEEDED_BY_THE_BASE


def test_an_index_that_the_pipeline_built_answers_as_it_does_there(asker: Asker) -> None:
    asked = asker.qindex("ask", QUESTION)
    assert asked.returncode == 0, asked.stderr
    assert ANSWER in asked.stdout
    assert asked.stdout == command.qindex(asker.folder, "ask", QUESTION).stdout
    in_python = asker.base.run(asker.folder, "-c", IN_PYTHON)
    assert ANSWER in in_python.stdout, in_python.stderr


def test_the_tests_of_the_query_module_pass_on_both_engines(
    base: Environment, tmp_path: Path
) -> None:
    installed = base.install("pytest", "-c", "requirements-dev.lock")
    assert installed.returncode == 0, installed.stderr
    # Beside the package of the checkout they would import that instead of the installed one.
    shutil.copytree(ROOT / "qindex_pipeline_tests", tmp_path / "qindex_pipeline_tests")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    done = base.run(tmp_path, "-m", "pytest", "qindex_pipeline_tests/test_query.py")
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_an_assistant_asks_it_over_mcp(asker: Asker) -> None:
    told = asker.base.run(asker.folder, "-c", OVER_MCP)
    assert ANSWER in told.stdout, told.stderr


def test_the_page_to_ask_on_is_served(asker: Asker) -> None:
    serving = [asker.base.python, "-m", "qindex_pipeline", "serve", "--port", "0"]
    with subprocess.Popen(
        serving,
        cwd=asker.folder,
        env=command.environment(PYTHONUNBUFFERED="1"),
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr is not None
        announced = re.search(r"http://127\.0\.0\.1:\d+/", server.stderr.readline())
        assert announced
        with urllib.request.urlopen(announced.group()) as page:
            assert "<form" in page.read().decode()
        server.terminate()


def test_version_and_help_are_printed(asker: Asker) -> None:
    version, shown = asker.qindex("--version"), asker.qindex("--help")
    assert (version.returncode, shown.returncode) == (0, 0)
    assert version.stdout.startswith("qindex ")
    assert all(name in shown.stdout for name in (*OF_THE_QUERY_SIDE, *OF_THE_PIPELINE))


def test_an_answer_is_explained_and_its_page_shown(asker: Asker) -> None:
    explained = asker.qindex("explain", QUESTION, "--page", "install.html")
    assert explained.returncode == 0, explained.stderr
    assert "pip install 'qindex_pipeline[pipeline]'" in explained.stdout  # what is not shown, why
    shown = asker.qindex("show", "install.html")
    assert shown.returncode == 0, shown.stderr
    assert "Installing Lantern" in shown.stdout


@pytest.mark.parametrize("name", OF_THE_PIPELINE)
def test_a_command_of_the_pipeline_says_in_one_line_what_to_install(
    asker: Asker, name: str
) -> None:
    done = asker.qindex(name, *OF_THE_PIPELINE[name])
    assert done.returncode == 2
    assert done.stderr == (
        f"qindex: {name} needs the pipeline, which is not installed: "
        "pip install 'qindex_pipeline[pipeline]'\n"
    )


def test_every_command_belongs_to_the_query_side_or_to_the_pipeline() -> None:
    assert set(get_command(app).commands) == {*OF_THE_QUERY_SIDE, *OF_THE_PIPELINE}


def test_doctor_looks_at_what_is_installed_and_finds_it_good(asker: Asker) -> None:
    done = asker.qindex("doctor", COLUMNS="300")
    assert done.returncode == 0, done.stdout
    assert "MEND" not in done.stdout
    assert "(embedded in data/state/index): lantern.dev (6 points)" in done.stdout
    assert "pip install 'qindex_pipeline[pipeline]' adds what builds them" in done.stdout


def test_the_log_of_questions_needs_one_extra_more(asker: Asker) -> None:
    without = asker.qindex("ask", QUESTION, QINDEX_QUERY_LOG="log")
    assert without.returncode == 2
    assert "pip install 'qindex_pipeline[log]'" in without.stderr
    installed = asker.base.install(*extra("log"), "-c", "requirements.lock")
    assert installed.returncode == 0, installed.stderr
    asked = asker.qindex("ask", QUESTION, QINDEX_QUERY_LOG="log")
    assert asked.returncode == 0, asked.stderr
    assert list((asker.folder / "log").glob("*/*.parquet"))

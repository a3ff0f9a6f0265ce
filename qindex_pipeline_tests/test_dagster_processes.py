"""Dagster's own commands over our definitions, and what the definitions tell Dagster."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import dagster as dg
import pytest

from qindex_pipeline.build import build_definitions
from qindex_pipeline.query import QIndex
from qindex_pipeline.settings import Settings
from qindex_pipeline_tests.dagster_process import (
    ASSETS,
    PROJECT,
    SITES,
    Webserver,
    Workplace,
    program,
    webserver,
    workplace,
)
from qindex_pipeline_tests.fakes.standalone import free_port

pytestmark = pytest.mark.slow

GROUPS_AND_KINDS = {
    "raw_pages": ("crawl", {"crawl4ai", "parquet"}),
    "chunks": ("crawl", {"python", "parquet"}),
    "candidate_questions": ("questions", {"llm", "parquet"}),
    "grounded_questions": ("questions", {"python", "parquet"}),
    "embeddings": ("index", {"python", "parquet"}),
    "evaluation": ("index", {"python", "parquet"}),
    "question_index": ("index", {"qdrant"}),
    "change_report": ("index", {"parquet"}),
    "documentation_gaps": ("index", {"parquet", "python"}),
    "collection": ("index", {"qdrant"}),
}

# Run by a fresh interpreter: an audit hook cannot be taken off again.
LOAD_UNDER_AUDIT = """
import json, os, sys
events = []
TOUCHING = {
    "socket.connect", "socket.getaddrinfo", "sqlite3.connect", "os.mkdir", "os.rename", "os.remove",
}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT

def hook(event, args):
    if event in TOUCHING:
        events.append([event, str(args[0])])
    elif event == "open" and args[2] & WRITING and str(args[0]) != os.devnull:
        events.append([event, str(args[0])])

import dagster
sys.addaudithook(hook)
from qindex_pipeline.definitions import defs
defs.get_repository_def()
print(json.dumps(events))
"""


@dataclass(frozen=True)
class Materialized:
    """A finished `dagster asset materialize`, and what it recorded in its instance."""

    exit_code: int
    output: str
    numbers: dict[str, dict[str, Any]]
    """Metadata by asset name."""


def materialize(place: Workplace, home: str = "home") -> Materialized:
    environment = place.environment(home)
    options = ["--select", "*", "--partition", "stl", "-m", "qindex_pipeline.definitions"]
    done = subprocess.run(
        [program("dagster"), "asset", "materialize", *options],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return Materialized(done.returncode, done.stdout + done.stderr, recorded(environment))


def recorded(environment: dict[str, str]) -> dict[str, dict[str, Any]]:
    with mock.patch.dict(os.environ, environment, clear=True), dg.DagsterInstance.get() as instance:
        events = {
            name: instance.get_latest_materialization_event(dg.AssetKey(name)) for name in ASSETS
        }
    return {
        name: {key: value.value for key, value in event.asset_materialization.metadata.items()}
        for name, event in events.items()
        if event is not None and event.asset_materialization is not None
    }


def definitions(place: Workplace) -> dg.Definitions:
    with mock.patch.dict(os.environ, place.environment(), clear=True):
        return build_definitions(Settings.from_env())


# --- dagster asset materialize --------------------------------------------------------------


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    return workplace(tmp_path_factory.mktemp("dagster"))


@pytest.fixture(scope="module")
def first(place: Workplace) -> Materialized:
    """One site, under a home that is an empty folder."""
    return materialize(place)


@pytest.fixture(scope="module")
def second(place: Workplace, first: Materialized) -> Materialized:
    """The same site once more, under another fresh home that has the file of `make dev`."""
    home = place.folder / "configured"
    home.mkdir()
    shutil.copy(PROJECT / "deploy" / "local" / "dagster.yaml", home)
    return materialize(place, home.name)


def test_materialize_under_an_empty_home_builds_every_asset_of_the_partition(
    place: Workplace, first: Materialized
) -> None:
    assert first.exit_code == 0, first.output
    assert set(first.numbers) == set(ASSETS)
    assert first.numbers["question_index"]["points_written"] > 0
    assert {path.name for path in place.data.glob("*/*.parquet")} == {"stl.parquet"}


def test_the_index_answers_after_materialize(place: Workplace, first: Materialized) -> None:
    with mock.patch.dict(os.environ, place.environment(), clear=True):
        answer = QIndex.from_env().ask("How do I install STL?", site="stl")
    assert "pip install stl" in (answer.answer or "")
    assert answer.results[0].url == "http://stl/install.html"


def test_a_second_materialize_asks_embeds_and_writes_nothing(
    first: Materialized, second: Materialized
) -> None:
    assert second.exit_code == 0, second.output
    index = second.numbers["question_index"]
    assert (index["points_written"], index["points_deleted"]) == (0, 0)
    assert index["points_unchanged"] == first.numbers["question_index"]["points"]
    assert second.numbers["embeddings"]["texts_embedded"] == 0
    assert second.numbers["candidate_questions"]["llm_calls"] == 0


def test_materialize_of_a_site_that_cannot_be_reached_fails_and_says_so(tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    address = f"http://127.0.0.1:{free_port()}/"
    place.sites.write_text(f"sites:\n  stl:\n    start_url: {address}\n", encoding="utf-8")
    done = materialize(place)
    assert done.exit_code == 1, done.output
    assert f"site 'stl': {address} refuses the connection" in done.output
    assert done.numbers == {}
    assert not list(place.data.glob("*/*.parquet"))


# --- dagster-webserver ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Webserver]:
    with webserver(workplace(tmp_path_factory.mktemp("web")), "dagster-webserver") as running:
        yield running


def test_the_webserver_shows_the_assets_with_all_that_describes_them(server: Webserver) -> None:
    nodes = server.ask(
        "{ assetNodes { assetKey { path } groupName kinds description partitionKeys"
        " owners { ... on TeamAssetOwner { team } } } }"
    )["assetNodes"]
    by_name = {node["assetKey"]["path"][-1]: node for node in nodes}
    shown = {name: (node["groupName"], set(node["kinds"])) for name, node in by_name.items()}
    assert shown == GROUPS_AND_KINDS
    for name, node in by_name.items():
        assert node["partitionKeys"] == ([] if name == "collection" else list(SITES)), name
        assert node["owners"] == [{"team": "docs"}], name
        assert node["description"].endswith("."), name


def test_the_webserver_has_the_location_the_jobs_and_the_schedules_switched_on(
    server: Webserver,
) -> None:
    workspace = server.ask(
        "{ workspaceOrError { ... on Workspace { locationEntries { name locationOrLoadError {"
        " ... on PythonError { message } ... on RepositoryLocation { repositories {"
        " jobs { name } schedules { name pipelineName scheduleState { status } } } } } } } } }"
    )["workspaceOrError"]
    (location,) = workspace["locationEntries"]
    assert location["name"] == "qindex_pipeline"
    (repository,) = location["locationOrLoadError"]["repositories"]
    jobs = {job["name"] for job in repository["jobs"]}
    assert {"site_refresh", "index_audit", "site_watch"} <= jobs
    schedules = repository["schedules"]
    assert {schedule["name"]: schedule["pipelineName"] for schedule in schedules} == {
        "nightly": "site_refresh",
        "weekly_audit": "index_audit",
        "daily_watch": "site_watch",
        "weekly_gaps": "gap_report",
    }
    stopped = {
        schedule["name"]
        for schedule in schedules
        if schedule["scheduleState"]["status"] != "RUNNING"
    }
    assert stopped == {"weekly_gaps"}  # there is no log to report on


# --- the definitions ------------------------------------------------------------------------


def test_the_job_runs_all_assets_but_the_weekly_one_in_one_process(tmp_path: Path) -> None:
    job = definitions(workplace(tmp_path)).resolve_job_def("site_refresh")
    assert {key.path[-1] for key in job.asset_layer.selected_asset_keys} == {*ASSETS} - {
        "documentation_gaps"
    }
    assert job.executor_def is dg.in_process_executor


def test_loading_the_definitions_touches_neither_network_nor_disk(tmp_path: Path) -> None:
    place = workplace(tmp_path)
    # `auto` is the profile that would look for Ollama; bytecode files would be writes.
    environment = place.environment() | {"QINDEX_PROFILE": "auto", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", LOAD_UNDER_AUDIT],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
    assert not place.data.exists()

"""The compose stack on a real engine: a backfill in containers, and what it survives.

Runs where `.ci/engine` can start an engine (root, Debian's docker.io); says so where it cannot.
Each run id, container id and exit code is printed: `pytest -s`.
"""

import json
import time
from collections.abc import Generator
from typing import Any

import pytest

from qindex_pipeline_tests.gated.compose import SITES, Stack, engine, stack, wait_for

pytestmark = [pytest.mark.gated, pytest.mark.xdist_group("compose")]

SERVICES = {"postgres", "qdrant", "socket-proxy", "code", "webserver", "daemon"}


@pytest.fixture(scope="module")
def running() -> Generator[Stack]:
    problem = engine()
    if problem is not None:
        pytest.skip(problem)
    with stack() as found:
        yield found


def ask(running: Stack, site: str) -> dict[str, object]:
    done = running.qindex("ask", "How do I add a site?", "--site", site, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def show(running: Stack, what: str, runs: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Print what became of `runs`, and give their containers by run."""
    ended = running.containers([run["runId"] for run in runs])
    for run in runs:
        print(f"{what}: run {run['runId']} {run['status']} {ended[run['runId']]}")
    return ended


def started_run(running: Stack, backfill: str) -> str:
    """The id of a backfill's run once its container works on the crawl."""

    def look() -> str | None:
        runs = running.runs("dagster/backfill", backfill)
        return next((run["runId"] for run in runs if run["status"] == "STARTED"), None)

    return wait_for("a run to start", look)


def test_every_service_is_healthy(running: Stack) -> None:
    lines = running.compose("ps", "--format", "json").splitlines()
    states = {item["Service"]: item["Health"] for item in map(json.loads, lines)}
    assert {name: states[name] for name in SERVICES} == dict.fromkeys(SERVICES, "healthy")


def test_a_backfill_of_two_sites_runs_in_two_containers_and_a_third_asks(running: Stack) -> None:
    backfill = running.backfill(*SITES)
    runs = running.ended(backfill, len(SITES))
    own = show(running, "backfill", runs).values()
    assert [run["status"] for run in runs] == ["SUCCESS", "SUCCESS"]
    assert [item["exit"] for item in own] == ["0", "0"]
    assert len({item["container"] for item in own}) == len(SITES)
    for site in SITES:
        answer = ask(running, site)
        assert answer["refused"] is False
        assert answer["citations"]


def test_a_run_whose_container_is_killed_is_failed_and_tried_once_more(running: Stack) -> None:
    backfill = running.backfill("served")
    run = started_run(running, backfill)
    running.docker("kill", "--signal", "KILL", running.container_of(run))
    killed_at = time.monotonic()

    def failed() -> bool:
        runs = running.runs("dagster/backfill", backfill)
        return any(item["runId"] == run and item["status"] == "FAILURE" for item in runs)

    wait_for("the killed run to be marked as failed", failed, seconds=60)
    print(f"marked as failed after {time.monotonic() - killed_at:.0f} s")
    runs = running.ended(backfill, 2)
    show(running, "killed and retried", runs)
    assert sorted(item["status"] for item in runs) == ["FAILURE", "SUCCESS"]
    assert ask(running, "served")["refused"] is False


def test_services_that_restart_during_a_run_leave_no_run_behind(running: Stack) -> None:
    backfill = running.backfill("served")
    run = started_run(running, backfill)
    running.compose("restart", "--timeout", "5", "daemon", "code", "postgres")
    assert ask(running, "folder")["refused"] is False
    runs = running.ended(backfill, 1, seconds=180)
    show(running, "daemon, code location and Postgres restarted", runs)
    assert run in {item["runId"] for item in runs}
    assert "SUCCESS" in {item["status"] for item in runs}


def test_a_key_that_is_missing_is_found_before_a_run_costs_anything(running: Stack) -> None:
    done = running.qindex("doctor", QINDEX_PROFILE="api")
    assert done.returncode == 1
    assert "ANTHROPIC_API_KEY" in done.stdout + done.stderr


def test_of_two_backfills_of_one_site_one_waits(running: Stack) -> None:
    first, second = running.backfill("served"), running.backfill("served")
    runs = running.ended(first, 1) + running.ended(second, 1)
    show(running, "one after the other", runs)
    assert [item["status"] for item in runs] == ["SUCCESS", "SUCCESS"]
    earlier, later = sorted(runs, key=lambda item: item["startTime"])
    assert later["startTime"] >= earlier["endTime"]

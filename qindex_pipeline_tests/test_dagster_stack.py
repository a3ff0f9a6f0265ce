"""A night of the deployment, in its own processes but without its containers."""

from collections.abc import Generator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from qindex_pipeline_tests.dagster_process import SITES, Webserver, wait_until, workplace
from qindex_pipeline_tests.dagster_stack import Clock, missing, stack

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(missing() is not None, reason=f"the stack needs {missing()}"),
]

NIGHT = datetime(2031, 3, 9, 2, 0, tzinfo=UTC)
"""When the sites are due; the machine's own clock is far from it."""

LIFE = ["ENQUEUED", "STARTING", "START", "SUCCESS"]
"""What becomes of a run that waits in the queue first."""

RUN_SECONDS = 300.0


@dataclass(frozen=True)
class Night:
    """The stack on the evening before, and its clock."""

    server: Webserver
    clock: Clock

    def runs(self) -> list[dict[str, Any]]:
        """Every run, with the site it is for and how far it is."""
        found = self.server.ask(
            "{ runsOrError { ... on Runs { results {"
            " runId status jobName startTime endTime tags { key value } } } } }"
        )["runsOrError"]["results"]
        for run in found:
            run["tags"] = {tag["key"]: tag["value"] for tag in run["tags"]}
        return found

    def statuses(self, run: str) -> list[str]:
        """What became of a run, in order."""
        types = [event.get("eventType") or "" for event in self._events(run)]
        return [name.removeprefix("RUN_") for name in types if name.startswith("RUN_")]

    def errors(self, run: str) -> list[Any]:
        """What its steps raised."""
        return [event["error"] for event in self._events(run) if event.get("error")]

    def _events(self, run: str) -> list[dict[str, Any]]:
        error = "error { message causes { message } }"
        return self.server.ask(
            f'{{ logsForRun(runId: "{run}") {{ ... on EventConnection {{ events {{'
            " ... on MessageEvent { eventType timestamp }"
            f" ... on ErrorEvent {{ {error} }} }} }} }} }}"
        )["logsForRun"]["events"]


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Generator[Night]:
    place = workplace(tmp_path_factory.mktemp("stack"))
    sites = place.sites.read_text()
    for site in SITES:
        sites = sites.replace(f"folder: {site}\n", f"folder: {site}\n    schedule: 0 2 * * *\n")
    place.sites.write_text(sites)
    clock = Clock(place.folder)
    # The daemon looks at schedules at the full minute: half a minute is what it takes to start.
    with stack(place, clock, NIGHT - timedelta(hours=6, seconds=30)) as server:
        yield Night(server, clock)


def test_when_the_clock_reaches_their_time_all_sites_are_queued_and_succeed(night: Night) -> None:
    assert night.runs() == []
    night.clock.move(night.clock.now() + timedelta(hours=6, minutes=1))

    def finished() -> list[dict[str, Any]]:
        runs = night.runs()
        return runs if len(runs) == len(SITES) and all(run["endTime"] for run in runs) else []

    runs = wait_until(finished, RUN_SECONDS, "finished")
    sites = {run["tags"]["dagster/partition"]: run for run in runs}
    assert set(sites) == set(SITES)
    failed = [night.errors(run["runId"]) for run in runs if run["status"] != "SUCCESS"]
    assert failed == []
    assert {run["jobName"] for run in runs} == {"site_refresh"}
    assert {run["tags"]["dagster/schedule_name"] for run in runs} == {"nightly"}
    for run in runs:
        assert night.statuses(run["runId"]) == LIFE

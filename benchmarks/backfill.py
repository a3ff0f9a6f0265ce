"""Many sites as one backfill through the daemon, while another program asks the index.

    PYTHONPATH=. python benchmarks/backfill.py [--sites 40] [--pages 25] [--queries 1000]

The deployment's own processes and dagster.yaml, four runs at a time, on Debian's PostgreSQL; a
run is a process, not a container. Sites are generated and served on loopback; models are those
of the offline profile, the index is the embedded one. Exits with 1 when a run or a question
failed, or a log speaks of a lock.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import psutil
from backfill_memory import Memory
from backfill_sites import Generated, sites_file, write_sites
from crawl_server import serving
from measure import percentile, print_table

from qindex_pipeline_tests.dagster_process import ASSETS, PROJECT, Webserver, Workplace
from qindex_pipeline_tests.dagster_stack import Clock, missing, stack

POLL_SECONDS = 2.0
ENDED = frozenset({"SUCCESS", "FAILURE", "CANCELED"})
LOCK_ERRORS = re.compile(
    r"database is locked|deadlock|could not obtain lock|lock timeout|could not serialize"
    r"|resource temporarily unavailable|too many clients|is locked by",
    re.IGNORECASE,
)
"""What SQLite, PostgreSQL, the file system and the index say when two get in each other's way."""

Run = dict[str, Any]


class MachineClock(Clock):
    """The stack can be told another time; here it is told none."""

    def __init__(self) -> None:
        """Nothing is compiled, and no process reads anything."""

    @property
    def variables(self) -> dict[str, str]:
        """None."""
        return {}

    def move(self, to: datetime) -> None:
        """Stay as it is."""


def main() -> None:
    """Run the backfill, ask meanwhile, and print one table."""
    options = _options()
    if problem := missing():
        sys.exit(f"the stack needs {problem}")
    with tempfile.TemporaryDirectory(prefix="qindex-backfill-") as folder:
        place = Workplace(Path(folder))
        sites = write_sites(place.folder / "served", options.sites, options.pages)
        with serving(place.folder / "served") as base:
            place.sites.write_text(sites_file(base, sites), encoding="utf-8")
            known = {child.pid for child in psutil.Process().children()}
            with stack(place, MachineClock(), datetime.now(UTC)) as server:
                done = _measured(place, server, sites, options, known)
        locks = lock_errors(place)
    _report(options, done, locks)
    sys.exit(bool(locks or done["asked"]["errors"] or done["failed"]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sites", type=int, default=40)
    parser.add_argument("--pages", type=int, default=25, help="of each site")
    parser.add_argument("--queries", type=int, default=1000, help="asked at least")
    parser.add_argument("--pause", type=float, default=0.05, help="seconds between two questions")
    return parser.parse_args()


def _measured(
    place: Workplace,
    server: Webserver,
    sites: list[Generated],
    options: argparse.Namespace,
    known: set[int],
) -> dict[str, Any]:
    questions = place.folder / "questions.json"
    questions.write_text(json.dumps(list(chain(*(site.questions for site in sites)))))
    script = Path(__file__).with_name("backfill_asker.py")
    command = [sys.executable, script, questions, str(options.queries), str(options.pause)]
    asker = subprocess.Popen(
        command,
        cwd=PROJECT,
        env=place.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with asker, Memory({*known, asker.pid}) as memory:
        started = time.monotonic()
        backfill = launch(server, [site.key for site in sites])
        runs = wait_for_runs(server, backfill, len(sites))
        seconds = time.monotonic() - started
        said, _ = asker.communicate()
    if asker.returncode:
        sys.exit(f"the program that asks ended with exit code {asker.returncode}")
    failed = [run for run in runs if run["status"] != "SUCCESS"]
    for run in failed[:3]:
        print(f"run {run['runId']} {run['status']}: {errors_of(server, run['runId'])}")
    return {
        "runs": runs,
        "failed": failed,
        "seconds": seconds,
        "memory": memory,
        "asked": json.loads(said),
    }


def launch(server: Webserver, sites: list[str]) -> str:
    """Launch a backfill of all assets of `sites`; its id."""
    assets = ", ".join(f'{{path: ["{name}"]}}' for name in ASSETS)
    launched = server.ask(
        "mutation { launchPartitionBackfill(backfillParams: {"
        f" partitionNames: {json.dumps(sites)}, assetSelection: [{assets}] }}) {{"
        " __typename ... on LaunchBackfillSuccess { backfillId }"
        " ... on PythonError { message } } }"
    )["launchPartitionBackfill"]
    if "backfillId" not in launched:
        sys.exit(f"the backfill was not launched: {launched}")
    return launched["backfillId"]


def wait_for_runs(server: Webserver, backfill: str, sites: int) -> list[Run]:
    """The runs of a backfill when all of them are over."""
    query = (
        f'{{ runsOrError(filter: {{tags: [{{key: "dagster/backfill", value: "{backfill}"}}]}}) {{'
        " ... on Runs { results { runId status startTime endTime } } } }"
    )
    while True:
        runs = server.ask(query)["runsOrError"]["results"]
        if len(runs) >= sites and all(run["status"] in ENDED for run in runs):
            return runs
        time.sleep(POLL_SECONDS)


def errors_of(server: Webserver, run: str) -> list[str]:
    """What the steps of a run raised."""
    events = server.ask(
        f'{{ logsForRun(runId: "{run}") {{ ... on EventConnection {{ events {{'
        " ... on ErrorEvent { error { message causes { message } } } } } } }"
    )["logsForRun"]["events"]
    errors = [event["error"] for event in events if event.get("error")]
    return [error["message"].strip() for error in errors]


def lock_errors(place: Workplace) -> list[str]:
    """Lines of any log of the stack or of a run that speak of a lock."""
    logs = [*place.folder.glob("*.log"), *(place.folder / "logs").rglob("*.err")]
    logs += (place.folder / "logs").rglob("*.out")
    lines = (line for log in logs for line in log.read_text(errors="replace").splitlines())
    return [line for line in lines if LOCK_ERRORS.search(line)]


def _report(options: argparse.Namespace, done: dict[str, Any], locks: list[str]) -> None:
    runs, memory, asked = done["runs"], done["memory"], done["asked"]
    took = [run["endTime"] - run["startTime"] for run in runs if run["startTime"]]
    held, opened = asked["held"], asked["opened"]
    peaks = sorted(memory.runs.values())
    for line in [*locks[:3], *asked["errors"][:3]]:
        print(line)
    rows = [
        ("runs that succeeded", f"{len(runs) - len(done['failed'])} of {len(runs)}"),
        ("lines about locks in the logs", len(locks)),
        ("wall time, s", round(done["seconds"])),
        ("of a run, median and longest, s", f"{statistics.median(took):.0f}, {max(took):.0f}"),
        ("runs at once, at most", memory.at_once),
        (
            "peak memory of a run, median and largest, MB",
            f"{statistics.median(peaks):.0f}, {peaks[-1]:.0f}",
        ),
        ("peak memory of all processes together, MB", round(memory.together)),
        ("questions asked", len(held) + len(opened)),
        ("of them during the backfill", asked["during"]),
        ("questions that failed", len(asked["errors"])),
        ("p50, p95, p100 with the index held open, ms", _milliseconds(held)),
        ("p50, p95, p100 with opening it, ms", _milliseconds(opened)),
    ]
    print_table(
        f"a backfill of {options.sites} sites x {options.pages} pages", ("", "measured"), rows
    )


def _milliseconds(seconds: list[float]) -> str:
    return ", ".join(f"{percentile(seconds, share) * 1000:.0f}" for share in (0.5, 0.95, 1.0))


if __name__ == "__main__":
    main()

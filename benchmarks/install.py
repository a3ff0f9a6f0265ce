"""The query-only installation beside the whole one: what it weighs, and how soon it answers.

    PYTHONPATH=. python benchmarks/install.py [--rounds 7]

Installs both lock files and the project into environments of their own, indexes `docs/` with the
whole one, and asks that index from both, by turns. Needs the package index, and 2.5 GB of disk
for a minute or two. Seconds are the median of the rounds, files in the disk's cache.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from measure import print_table

from qindex_pipeline_tests.environments import ROOT, Environment, environment

LOCKS = {"query": "requirements-query.lock", "pipeline": "requirements.lock"}
QUESTION = "How do I bring up the whole stack with Docker?"
COMMANDS: dict[str, Sequence[str]] = {
    "python -c pass": ("-c", "pass"),
    "import qindex_pipeline.query": ("-c", "import qindex_pipeline.query"),
    "qindex --help": ("-m", "qindex_pipeline", "--help"),
    "qindex ask --no-answer": ("-m", "qindex_pipeline", "ask", "--no-answer", QUESTION),
}


def main() -> None:
    """Install, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        made = {name: stack.enter_context(environment(folder / name)) for name in LOCKS}
        for name, lock in LOCKS.items():
            install(made[name], lock)
        build_index(made["pipeline"], folder)
        print_table(
            "The query-only installation and the whole one",
            ["", *LOCKS, "pipeline / query"],
            [*sizes(made), *(seconds(name, made, folder, rounds) for name in COMMANDS)],
        )


def install(made: Environment, lock: str) -> None:
    """Install the packages of a lock file, and the project."""
    for done in (
        made.install("-r", lock, compiled=True),
        made.install_project(compiled=True),
    ):
        if done.returncode:
            raise SystemExit(done.stderr)


def build_index(whole: Environment, folder: Path) -> None:
    """Index our documentation into `folder`, with the embedded engine and the offline profile."""
    arguments = ("ingest", str(ROOT / "docs"), "--site", "handbook")
    done = run(
        whole, folder, "-m", "qindex_pipeline", *arguments, "--base-url", "https://docs.dev/"
    )
    if done:
        raise SystemExit("the documentation could not be indexed")


def run(made: Environment, folder: Path, *arguments: str) -> int:
    """Exit code of a command in the offline profile."""
    return made.run(folder, *arguments, QINDEX_PROFILE="offline").returncode


def sizes(made: dict[str, Environment]) -> list[list[str]]:
    """Rows: packages, and 10^6 bytes of their files."""
    folders = [next(one.folder.glob("lib/python*/site-packages")) for one in made.values()]
    packages = [len(list(folder.glob("*.dist-info"))) for folder in folders]
    megabytes = [
        sum(
            (Path(where) / name).lstat().st_size
            for where, _, names in os.walk(folder)
            for name in names
        )
        / 1e6
        for folder in folders
    ]
    return [
        ["packages", *map(str, packages), ratio(packages)],
        ["MB of site-packages", *(f"{size:.0f}" for size in megabytes), ratio(megabytes)],
    ]


def seconds(name: str, made: dict[str, Environment], folder: Path, rounds: int) -> list[str]:
    """A row: median seconds of a command in both environments, taken by turns."""
    taken: dict[str, list[float]] = {key: [] for key in made}
    for turn in range(rounds + 1):
        for key, one in made.items():
            started = time.perf_counter()
            if run(one, folder, *COMMANDS[name]):
                raise SystemExit(f"{name} failed in the environment {key}")
            if turn:  # the first one fills the disk's cache
                taken[key].append(time.perf_counter() - started)
    medians = [statistics.median(values) for values in taken.values()]
    return [f"{name}, s", *(f"{median:.2f}" for median in medians), ratio(medians)]


def ratio(values: Sequence[float]) -> str:
    """The second value as a multiple of the first."""
    return f"{values[1] / values[0]:.1f}"


if __name__ == "__main__":
    main()

"""The deployment's processes without an engine: PostgreSQL, code server, webserver and daemon.

Each is the real program under the deployment's own dagster.yaml; only the launcher of containers
is left out, so that a run is a process. The time that the Dagster processes are told may be moved
while they run.
"""

import os
import pwd
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import psycopg2
from ruamel.yaml import YAML

from qindex_pipeline_tests.dagster_process import (
    PROJECT,
    Webserver,
    Workplace,
    ended,
    lives,
    program,
    wait_until,
)
from qindex_pipeline_tests.fakes.standalone import free_port

START_SECONDS = 120.0
DATABASE = "dagster"
POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
SOURCE = Path(__file__).parent / "fakes" / "moved_clock.c"


class Clock:
    """The time that processes are told which were started with its `variables`."""

    def __init__(self, folder: Path) -> None:
        self._file, self._library = folder / "clock", folder / "moved_clock.so"
        compile_it = ["cc", "-O2", "-shared", "-fPIC", "-o", self._library, SOURCE]
        subprocess.run(compile_it, check=True)
        self._write(0)

    def move(self, to: datetime) -> None:
        """Let it be `to` now, to the second, in processes that run too."""
        self._write(round(to.timestamp() - time.time()))

    def now(self) -> datetime:
        """What the processes take for now."""
        (seconds,) = struct.unpack("q", self._file.read_bytes())
        return datetime.fromtimestamp(time.time() + seconds, UTC)

    @property
    def variables(self) -> dict[str, str]:
        """What makes a process read it."""
        return {"LD_PRELOAD": str(self._library), "MOVED_CLOCK": str(self._file)}

    def _write(self, seconds: int) -> None:
        self._file.touch()
        with self._file.open("r+b") as file:  # in place: the processes have mapped it
            file.write(struct.pack("q", seconds))


def missing() -> str | None:
    """What of Debian's the stack lacks here, and how it is had; None when it is complete."""
    found = {"postgresql": bool(POSTGRES), "gcc": shutil.which("cc") is not None}
    lacking = [package for package, is_there in found.items() if not is_there]
    return f"`apt-get install {' '.join(lacking)}`" if lacking else None


@contextmanager
def stack(place: Workplace, clock: Clock, evening: datetime) -> Generator[Webserver]:
    """The four processes, ready: the webserver has loaded, the daemon has looked at schedules.

    When the block fails, the end of each log is added to the error.

    Args:
        place: Sites and data.
        clock: What the processes are told.
        evening: The time at which the daemon is started.
    """
    clock.move(evening)
    with ExitStack() as processes:
        database = processes.enter_context(_postgres())
        code, web = free_port(), free_port()
        environment = place.environment() | clock.variables | _database_variables()
        _write_home(place, database, code)
        run = partial(_process, processes, place, environment)
        limits = [sys.executable, "-m", "qindex_pipeline.pools"]
        subprocess.run(limits, cwd=PROJECT, env=environment, check=True, stdout=subprocess.DEVNULL)
        location = ["-h", "127.0.0.1", "-p", str(code), "-m", "qindex_pipeline.definitions"]
        server = run("dagster", "code-server", "start", *location)
        probe = [program("dagster"), "api", "grpc-health-check", "-p", str(code)]
        wait_until(
            lambda: lives(server) and _succeeds(probe, environment), START_SECONDS, "serving"
        )
        workspace = ["-w", str(place.folder / "workspace.yaml")]
        clock.move(evening)
        daemon = run("dagster-daemon", "run", *workspace)
        shown = run("dagster-webserver", *workspace, "-h", "127.0.0.1", "-p", str(web))
        try:
            # Nothing is due before the daemon has seen a schedule for the first time.
            seen = partial(_has_rows, database, "instigators")
            wait_until(lambda: lives(daemon) and seen(), START_SECONDS, "looking at schedules")
            ready = Webserver(web)
            wait_until(lambda: lives(shown) and ready.has_loaded(), START_SECONDS, "loaded")
            yield ready
        except Exception as error:  # any failure of the block: raised again, with what was logged
            for log in sorted(place.folder.glob("*.log")):
                lines = log.read_text(errors="replace").splitlines()[-25:]
                error.add_note("\n".join([f"--- {log.name}", *lines]))
            raise


def _process(
    processes: ExitStack, place: Workplace, environment: Mapping[str, str], *command: str
) -> "subprocess.Popen[bytes]":
    with (place.folder / f"{command[0]}.log").open("wb") as log:
        process = subprocess.Popen(
            [program(command[0]), *command[1:]],
            cwd=PROJECT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    processes.callback(_killed, process)
    return process


def _killed(process: "subprocess.Popen[bytes]") -> None:
    """End a process and its children: a code server that is asked to go takes its time."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _write_home(place: Workplace, database: int, code: int) -> None:
    """The deployment's instance, on this database and with runs as processes; its workspace."""
    yaml = YAML(typ="safe")
    instance = yaml.load(PROJECT / "deploy" / "dagster.yaml")
    del instance["run_launcher"]
    instance["storage"]["postgres"]["postgres_db"]["port"] = database
    instance["compute_logs"]["config"]["base_dir"] = str(place.folder / "logs")
    (place.folder / "home").mkdir(exist_ok=True)
    yaml.dump(instance, place.folder / "home" / "dagster.yaml")
    workspace = yaml.load(PROJECT / "deploy" / "workspace.yaml")
    workspace["load_from"][0]["grpc_server"] |= {"host": "127.0.0.1", "port": code}
    yaml.dump(workspace, place.folder / "workspace.yaml")


def _database_variables() -> dict[str, str]:
    return {
        "DAGSTER_POSTGRES_HOST": "127.0.0.1",
        "DAGSTER_POSTGRES_DB": DATABASE,
        "DAGSTER_POSTGRES_USER": DATABASE,
        "DAGSTER_POSTGRES_PASSWORD": "not-asked-for",
    }


@contextmanager
def _postgres() -> Generator[int]:
    """The port of a PostgreSQL with an empty database of Dagster's, in a folder of its own."""
    port, folder = free_port(), Path(tempfile.mkdtemp(prefix="pg"))
    binaries, data = POSTGRES[-1], folder / "data"
    as_user: dict[str, str] = {}
    if os.geteuid() == 0:  # PostgreSQL refuses to be root's
        pwd.getpwnam("postgres")
        as_user = {"user": "postgres"}
        shutil.chown(folder, "postgres")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    make = [binaries / "initdb", "-D", data, "-U", DATABASE, "-A", "trust", "--no-sync"]
    subprocess.run(make, check=True, **quiet, **as_user)
    sockets = ["-k", str(folder), "-h", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(
        [binaries / "postgres", "-D", data, *sockets, "-F"],
        start_new_session=True,
        **quiet,
        **as_user,
    )
    try:
        created = [
            binaries / "createdb",
            "-h",
            "127.0.0.1",
            "-p",
            str(port),
            "-U",
            DATABASE,
            DATABASE,
        ]
        wait_until(lambda: lives(server) and _succeeds(created), START_SECONDS, "accepting")
        yield port
    finally:
        ended(server)
        shutil.rmtree(folder)


def _has_rows(database: int, table: str) -> bool:
    connection = psycopg2.connect(host="127.0.0.1", port=database, dbname=DATABASE, user=DATABASE)
    with closing(connection), connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return cursor.fetchone()[0] > 0


def _succeeds(command: list[object], environment: Mapping[str, str] | None = None) -> bool:
    quiet = subprocess.DEVNULL
    done = subprocess.run(
        [str(part) for part in command], env=environment, stdout=quiet, stderr=quiet, check=False
    )
    return done.returncode == 0

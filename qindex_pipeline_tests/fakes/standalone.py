"""The fakes as processes: their common `main`, and what a test uses to start and stop one."""

import argparse
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from qindex_pipeline_tests.fakes.loopback import LoopbackServer

PROJECT = Path(__file__).resolve().parents[2]
START_SECONDS = 60.0
"""A cold import of qdrant-client on a busy machine takes several seconds."""
STOP_SECONDS = 10.0


def arguments(name: str) -> argparse.ArgumentParser:
    """The parser of a fake's command line; PORT is common to all."""
    parser = argparse.ArgumentParser(prog=f"python -m qindex_pipeline_tests.fakes.{name}")
    parser.add_argument("port", type=int, metavar="PORT")
    return parser


def run_until_stopped(server: LoopbackServer) -> None:
    """Serve until SIGTERM or SIGINT."""
    stop = threading.Event()
    for ending in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ending, lambda *_: stop.set())
    with server:
        # Polled: a signal that another thread receives does not end a wait of this one.
        while not stop.is_set():
            time.sleep(0.02)


@dataclass(frozen=True)
class Standalone:
    """A running process of a fake."""

    url: str
    port: int
    process: subprocess.Popen[bytes]


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def standalone(name: str, *options: str, port: int | None = None) -> Generator[Standalone]:
    """Run `fakes.<name>` as a process until the block ends; yields once it accepts connections."""
    chosen = port or free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", f"qindex_pipeline_tests.fakes.{name}", str(chosen), *options],
        cwd=PROJECT,
    )
    try:
        _wait_for(process, chosen)
        yield Standalone(f"http://127.0.0.1:{chosen}", chosen, process)
    finally:
        process.terminate()
        try:
            process.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise


def _wait_for(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise RuntimeError(f"the fake on port {port} did not start: exit code {process.poll()}")

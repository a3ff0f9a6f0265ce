"""How much memory the processes of a stack take while it works, looked at from outside."""

import re
import threading
from collections.abc import Collection
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

LOOK_SECONDS = 1.0


class Memory:
    """Looks at all descendants of this process once a second, from `with` to its end.

    Attributes:
        runs: Peak resident memory of each run's process, by process id, in 10^6 bytes.
        together: Highest sum over all processes, shared pages counted once, in 10^6 bytes.
        at_once: The most run processes that were there at one time.
    """

    def __init__(self, but: Collection[int]) -> None:
        """Leave the processes `but` and their children out."""
        self.runs: dict[int, float] = {}
        self.together = 0.0
        self.at_once = 0
        self._but, self._over = frozenset(but), threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End."""
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            self._look()

    def _look(self) -> None:
        together, runs = 0.0, 0
        for process in psutil.Process().children(recursive=True):
            if process.pid in self._but:
                continue
            try:
                # Dagster's default launcher: the code server spawns a process for each run.
                is_run = "spawn_main" in " ".join(process.cmdline())
                together += _kib(process.pid, "smaps_rollup", "Pss")
                peak = _kib(process.pid, "status", "VmHWM")
            except (psutil.Error, OSError):  # it has ended
                continue
            if is_run and peak:
                runs += 1
                self.runs[process.pid] = max(peak, self.runs.get(process.pid, 0.0))
        self.together = max(self.together, together)
        self.at_once = max(self.at_once, runs)


def _kib(pid: int, file: str, name: str) -> float:
    """A figure of the kernel's, in 10^6 bytes; 0 where it has none."""
    found = re.search(rf"^{name}:\s+(\d+) kB", Path(f"/proc/{pid}/{file}").read_text(), re.M)
    return int(found[1]) * 1024 / 1e6 if found else 0.0

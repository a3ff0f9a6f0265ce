"""What the benchmarks share: measuring a command from outside, percentiles, plain tables."""

import math
import os
import resource
import subprocess
import sys
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

import psutil

SAMPLE_SECONDS = 0.05
"""Between two looks at a running command; the kernel counts its CPU time in steps of 0.01 s."""


@dataclass(frozen=True)
class Sample:
    """A look at a running command: Unix time, CPU seconds until then, resident 10^6 bytes."""

    time: float
    cpu_seconds: float
    memory_mb: float


@dataclass(frozen=True)
class Measured:
    """What a command took.

    Attributes:
        output: Its standard output.
        seconds: Wall time from start to exit, interpreter and imports included.
        cpu_seconds: User and system time of all its threads.
        peak_mb: Highest resident memory, in 10^6 bytes.
        samples: Looks at it while it ran, in order of time; the first one at its start.
    """

    output: str
    seconds: float
    cpu_seconds: float
    peak_mb: float
    samples: Sequence[Sample]

    def cpu_between(self, start: float, end: float) -> float:
        """CPU seconds that were used between two Unix times, to about a sample's distance."""
        return self._cpu_at(end) - self._cpu_at(start)

    def peak_mb_between(self, start: float, end: float) -> float:
        """Highest resident memory that was seen between two Unix times, 0 if nobody looked."""
        seen = (look.memory_mb for look in self.samples if start <= look.time <= end)
        return max(seen, default=0.0)

    def _cpu_at(self, moment: float) -> float:
        after = bisect_left(self.samples, moment, key=lambda look: look.time)
        if after in (0, len(self.samples)):
            return self.samples[min(after, len(self.samples) - 1)].cpu_seconds
        left, right = self.samples[after - 1 : after + 1]
        share = (moment - left.time) / (right.time - left.time)
        return left.cpu_seconds + share * (right.cpu_seconds - left.cpu_seconds)


def run_measured(command: Sequence[str | Path]) -> Measured:
    """Run `command` and measure it; standard error is passed through.

    Raises CalledProcessError when it fails.
    """
    with TemporaryFile("w+", encoding="utf-8") as output:
        started = time.time()
        process = subprocess.Popen(command, stdout=output)
        samples, usage = _watch(process)
        ended = time.time()
        output.seek(0)
        text = output.read()
    cpu = usage.ru_utime + usage.ru_stime
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(map(str, command)), text)
    # Linux counts in KiB, macOS in bytes. A child also inherits the peak of the process that
    # started it, so measure memory while this process is still small.
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
    whole = [Sample(started, 0.0, 0.0), *samples, Sample(ended, cpu, 0.0)]
    return Measured(text, ended - started, cpu, peak, whole)


def _watch(process: subprocess.Popen[bytes]) -> tuple[list[Sample], resource.struct_rusage]:
    """Wait for `process` and look at it meanwhile."""
    watched, samples = psutil.Process(process.pid), list[Sample]()
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return samples, usage
        used, memory = watched.cpu_times(), watched.memory_info()
        samples.append(Sample(time.time(), used.user + used.system, memory.rss / 1e6))
        time.sleep(SAMPLE_SECONDS)


def seconds_of(call: Callable[[], object]) -> float:
    """Wall time of one call."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of `values` that at least `share` of them do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[math.ceil(share * len(ordered)) - 1]


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print aligned columns; the first is text, the others are numbers or stand as they are."""
    cells = [list(header), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    print(f"\n{title}")
    for row in cells:
        first, *others = (
            text.ljust(width) if column == 0 else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        print("  " + "  ".join([first, *others]).rstrip())


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)

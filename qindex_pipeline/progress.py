"""How a long stage tells people where it is, without knowing who listens."""

import logging
import time
from typing import Protocol


class Progress(Protocol):
    """Who listens to the stages."""

    def __call__(self, stage: str, done: int, total: int | None, note: str = "") -> None:
        """Hear that `done` of `total` units of `stage` are finished; None: not known yet."""
        ...

    def warn(self, line: str) -> None:
        """Hear of something that a person should look at, in one line."""
        ...


class Silent:
    """A listener that ignores everything (tests, library use)."""

    def __call__(self, stage: str, done: int, total: int | None, note: str = "") -> None:
        """Ignore it."""

    def warn(self, line: str) -> None:
        """Ignore it."""


silent = Silent()


class LoggedProgress:
    """Writes a log line at most every `interval` seconds, and one when a stage is complete."""

    def __init__(self, log: logging.Logger, interval: float = 2.0) -> None:
        """Write to `log`, at INFO, at most once per `interval` seconds and stage."""
        self._log, self._interval = log, interval
        self._last: dict[str, float] = {}

    def __call__(self, stage: str, done: int, total: int | None, note: str = "") -> None:
        """Log the state of `stage` if it is complete or its last line is old enough."""
        now = time.monotonic()
        if done != total and now - self._last.setdefault(stage, now) < self._interval:
            return
        self._last[stage] = now
        self._log.info("%s", progress_line(stage, done, total, note))

    def warn(self, line: str) -> None:
        """Log the line as a warning."""
        self._log.warning("%s", line)


def progress_line(stage: str, done: int, total: int | None, note: str = "") -> str:
    """One line for people: `chunks 12/40 (note)`."""
    of = "" if total is None else f"/{total}"
    return f"{stage} {done}{of}" + (f" ({note})" if note else "")

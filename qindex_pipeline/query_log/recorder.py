"""Who writes down what is asked: in memory while a question is answered, to disk behind its back.

Nothing here makes an ask fail or wait for a disk. What cannot be written is kept for the next
try, up to a bound; then the oldest rows go.
"""

import atexit
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from qindex_pipeline.errors import QIndexError, UsageError
from qindex_pipeline.query_log.folders import Folder, open_folder
from qindex_pipeline.query_log.following import Followed, answered_row
from qindex_pipeline.retrieval.answering.answerer import Part
from qindex_pipeline.retrieval.result import Answer

if TYPE_CHECKING:
    from qindex_pipeline.settings import Settings

_LOG = logging.getLogger(__name__)

FLUSH_SECONDS = 30.0
"""How long a row waits in memory: what a killed process loses at most."""
FLUSH_ROWS = 500
"""So many rows are written without waiting."""
MAX_ROWS = 10_000
"""Rows that are kept while the log cannot be written: some 10 MB."""
TIDY_SECONDS = 3600.0
"""Between two looks of a process at the segments of all: each costs a listing."""


class Recorder(Protocol):
    """Takes down what is asked."""

    def record(self, answer: Answer) -> None:
        """Take down an ask of which no text is written."""
        ...

    def follow(self, ranked: Answer, parts: Iterable[Part]) -> Iterable[Part]:
        """The parts of an answer as they come; it is taken down when they end or are abandoned."""
        ...

    def close(self) -> None:
        """Write what is in memory; more may be recorded after it."""
        ...


class NoLog:
    """Takes down nothing: the log is off."""

    def record(self, answer: Answer) -> None:
        """Do nothing."""

    def follow(self, ranked: Answer, parts: Iterable[Part]) -> Iterable[Part]:
        """The parts as they are."""
        del ranked
        return parts

    def close(self) -> None:
        """Do nothing."""


class QueryLog:
    """Buffers rows, and writes them to segments in a thread that lives while there are some."""

    def __init__(self, folder: Folder, max_bytes: int, flush_seconds: float = FLUSH_SECONDS):
        """Write to `folder`, whose segments together stay below `max_bytes`."""
        self._folder, self._max_bytes, self._wait = folder, max_bytes, flush_seconds
        self._rows: deque[dict[str, Any]] = deque(maxlen=MAX_ROWS)
        self._starting = threading.RLock()  # a stream that is collected records where it stands
        self._writing = threading.Lock()
        self._is_full = threading.Event()
        self._thread: threading.Thread | None = None
        self._tidied_at = float("-inf")
        self._has_warned = self._is_registered = self._has_ended = False

    def record(self, answer: Answer) -> None:
        """Take down an ask: its passing results count as its pages."""
        self._add(answered_row(answer, [result.url for result in answer.passing]))

    def follow(self, ranked: Answer, parts: Iterable[Part]) -> Iterator[Part]:
        """The parts of an answer as they come; it is taken down when they end or are abandoned."""
        self._register()  # an interpreter that goes down collects what nobody read
        return Followed(ranked, parts, self._add)

    def close(self) -> None:
        """Write what is in memory, and wait for it."""
        self._flush(self._tidy)
        self._is_full.set()  # the thread has nothing more to wait for

    def _register(self) -> None:
        with self._starting:
            if not self._is_registered:
                atexit.register(self._end)
                self._is_registered = True

    def _end(self) -> None:
        # A thread that is started while the interpreter goes down never runs, and its starter
        # waits for it: a stream that is collected then is not taken down any more. Nor is there
        # time to look at the segments of all.
        self._has_ended = True
        self._flush(lambda: None)

    def _add(self, row: dict[str, Any]) -> None:
        if self._has_ended:
            return
        self._register()
        self._rows.append(row | {"ask_id": str(uuid4()), "asked_at": datetime.now(UTC)})
        if len(self._rows) >= FLUSH_ROWS:
            self._is_full.set()
        with self._starting:
            # In a process that was forked off, the thread of the first one does not go on.
            if self._thread is None or not self._thread.is_alive():
                self._start()

    def _start(self) -> None:
        # A daemon: a process that ends does not wait out the time, it writes at exit.
        self._thread = threading.Thread(target=self._later, name="qindex-query-log", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # none to be had now: the next ask tries again
            self._thread = None

    def _later(self) -> None:
        self._is_full.wait(self._wait)
        self._is_full.clear()
        with self._starting:
            self._thread = None  # a row that comes from now on gets a thread of its own
        self._flush(self._tidy)

    def _flush(self, tidy: Callable[[], None]) -> None:
        from qindex_pipeline.query_log import segments

        with self._writing:
            rows = self._taken()
            try:
                if rows:
                    segments.write(self._folder, rows)
                    rows = []
                    tidy()
            except (QIndexError, OSError, ImportError) as error:
                self._keep(rows)
                self._warn(error)

    def _taken(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        while self._rows:
            rows.append(self._rows.popleft())
        return rows

    def _keep(self, rows: list[dict[str, Any]]) -> None:
        """Put rows back before those that came meanwhile; the oldest go where all is too much."""
        while rows and len(self._rows) < MAX_ROWS:
            self._rows.appendleft(rows.pop())

    def _tidy(self) -> None:
        from qindex_pipeline.query_log import segments

        if time.monotonic() - self._tidied_at >= TIDY_SECONDS:
            self._tidied_at = time.monotonic()
            segments.tidy(self._folder, self._max_bytes)

    def _warn(self, error: Exception) -> None:
        if not self._has_warned:
            self._has_warned = True
            _LOG.warning("what is asked is not being logged: %s", error)


def open_recorder(settings: "Settings") -> Recorder:
    """Who takes down what is asked; nobody where QINDEX_QUERY_LOG is not set.

    Raises UsageError when the log is on, and what writes it is not installed.
    """
    if settings.query_log is None:
        return NoLog()
    if find_spec("pyarrow") is None:
        raise UsageError(
            "QINDEX_QUERY_LOG is set, and pyarrow, which writes the log, is not installed: "
            "pip install 'qindex_pipeline[log]'"
        )
    return QueryLog(open_folder(settings.query_log), settings.query_log_mb * 1024 * 1024)

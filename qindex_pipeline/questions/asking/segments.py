"""The files of the ledger: one that each writer appends to, and their merging.

A writer holds a lock beside its file for as long as it lives, so that the lock of a file that
nobody writes any more is free, however its writer ended.
"""

import os
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import IO

from filelock import FileLock, Timeout

from qindex_pipeline.questions.asking.entries import Entry, decode

Warn = Callable[[str], None]

_SUFFIX = ".jsonl"


def lock_of(path: Path) -> FileLock:
    """The lock beside a file; whoever holds it may write or remove the file."""
    # Not the thread's but the object's: any thread of a run may end what another began.
    return FileLock(path.with_name(f"{path.name}.lock"), thread_local=False)


@contextmanager
def held_if_free(path: Path) -> Generator[bool]:
    """Hold the lock of a file for the block, if nobody else does; yields whether it is held."""
    lock = lock_of(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def sync_folder(folder: Path) -> None:
    """Make new names in a folder outlive a power failure, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class Segment:
    """The file of one writer."""

    def __init__(self, folder: Path) -> None:
        """Create the file and hold its lock. Raises OSError."""
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{uuid.uuid4().hex}{_SUFFIX}"
        # Taken before the file has a name: nobody may find the file free.
        self._lock = lock_of(self.path)
        self._lock.acquire()
        # Unbuffered: what could not be written must not be tried again when the file is closed.
        self._file = self.path.open("ab", buffering=0)
        self._size = 0
        sync_folder(folder)

    def append(self, line: bytes) -> int:
        """Write a line; it is on disk when this returns its offset.

        Raises OSError; what was written of the line is taken back.
        """
        start = self._size
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[self._file.write(rest) :]
            os.fsync(self._file.fileno())
        except OSError:
            with suppress(OSError):
                self._file.truncate(start)
            raise
        self._size += len(line)
        return start

    def close(self) -> None:
        """End the file: it may be merged from now on."""
        self._file.close()
        self._lock.release()


def segments(folder: Path) -> list[Path]:
    """The files of the ledger under a folder."""
    return sorted(folder.glob(f"*{_SUFFIX}"))


def is_ended(path: Path) -> bool:
    """Whether nobody writes a file any more."""
    try:
        with held_if_free(path) as free:
            return free
    except OSError:  # no room for a lock: who writes would have one
        return True


def read_entries(file: IO[bytes]) -> Iterator[tuple[int, bytes, str, Entry] | None]:
    """Offset, line, key and entry of each line from the start; None for one that is unreadable."""
    offset = 0
    for line in file:
        try:
            yield offset, line, *decode(line)
        except ValueError:
            yield None
        offset += len(line)


def merge_ended(folder: Path, warn: Warn) -> None:
    """Merge the files of ended writers into one, which holds the best entry of each key.

    The new file appears whole before the first of the old ones goes, so that a kill at any
    moment loses nothing. Does nothing while another process merges; a failure is a warning,
    because every answer stands in the old files.
    """
    if len(segments(folder)) < 2:
        return
    try:
        with held_if_free(folder / "merging") as held:
            if held:
                _merge_held(folder)
    except OSError as error:
        warn(
            f"the files of the ledger in {folder} could not be merged "
            f"({error.strerror or error}): nothing is lost, the next run tries again"
        )


def _merge_held(folder: Path) -> None:
    for left in folder.glob("*.tmp"):
        left.unlink()
    with ExitStack() as stack:
        ended = [path for path in segments(folder) if stack.enter_context(held_if_free(path))]
        if len(ended) < 2:
            return
        _merge(folder, ended)
        for path in ended:
            path.unlink()
    for path in ended:
        path.with_name(f"{path.name}.lock").unlink(missing_ok=True)


def _merge(folder: Path, ended: list[Path]) -> None:
    temporary = folder / f"{uuid.uuid4().hex}.tmp"
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("rb")) for path in ended]
        try:
            with temporary.open("wb") as target:
                for file, offset, length in _best(files):
                    file.seek(offset)
                    # The last line of a file may lack its end and be whole all the same.
                    target.write(file.read(length).rstrip(b"\n") + b"\n")
                target.flush()
                os.fsync(target.fileno())
            temporary.rename(folder / f"{uuid.uuid4().hex}{_SUFFIX}")
            sync_folder(folder)
        finally:
            temporary.unlink(missing_ok=True)


def _best(files: list[BufferedReader]) -> Iterator[tuple[BufferedReader, int, int]]:
    """File, offset and length of the best line of each key."""
    best: dict[str, tuple[BufferedReader, int, int]] = {}
    ranks: dict[str, tuple[object, ...]] = {}
    for file in files:
        for read in read_entries(file):
            if read is None:
                continue
            offset, line, key, entry = read
            if key not in ranks or entry.rank > ranks[key]:
                best[key], ranks[key] = (file, offset, len(line)), entry.rank
    yield from best.values()

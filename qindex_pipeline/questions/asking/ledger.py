"""The ledger: every paid answer, durable the moment it arrives, keyed by what was asked.

One for all sites, under one folder. In memory stands where each answer lies on disk, not the
answer: with the texts that were asked about, a large ledger takes hundreds of megabytes. Where the
data root is an object store each answer is put there too, because the folder may go with its run.
"""

import tempfile
import threading
from datetime import datetime
from pathlib import Path
from typing import IO, NamedTuple

from qindex_pipeline.errors import WorkError
from qindex_pipeline.object_store import Lines, Objects
from qindex_pipeline.progress import silent
from qindex_pipeline.questions.asking.entries import Entry, decode, encode
from qindex_pipeline.questions.asking.segments import (
    Segment,
    Warn,
    is_ended,
    merge_ended,
    read_entries,
    segments,
)

MANY_SEGMENTS = 64
"""More files than this are merged before they are read: each takes an open file."""


class _Spot(NamedTuple):
    """Where an entry lies."""

    file: IO[bytes]
    offset: int
    length: int
    rank: tuple[bool, int, datetime]


class Ledger:
    """Answers of all runs and sites under one folder; safe for several threads."""

    def __init__(
        self, folder: Path, warn: Warn = silent.warn, durable: Objects | None = None
    ) -> None:
        """Use the answers under `folder`, read with the first look at one.

        A file is created with the first new answer. `warn` is told of lines that are unreadable.
        `durable` is where every answer is kept when the folder does not outlive the run.
        """
        self.folder, self.durable, self._warn = folder, durable, warn
        self._lines = None if durable is None else Lines(durable.below("answers"))
        self._unsent: list[bytes] = []
        self._lock, self._sending = threading.RLock(), threading.Lock()
        self._segment: Segment | None = None
        self._own: IO[bytes] | None = None
        self._forget()

    def get(self, key: str) -> Entry | None:
        """What came of asking for an input, if it was ever asked."""
        with self._lock:
            self._load()
            spot = self._spots.get(key)
            if spot is None:
                return None
            spot.file.seek(spot.offset)
            return decode(spot.file.read(spot.length))[1]

    def answers_at(self, place: str) -> list[Entry]:
        """The valid answers that chunks of one place (see `Source.place`) ever got."""
        with self._lock:
            self._load()
            found = [self.get(key) for key in self._places.get(place, ())]
        return [entry for entry in found if entry is not None and entry.failure is None]

    def put(self, key: str, entry: Entry) -> None:
        """Store an entry; it is durable when this returns.

        Raises:
            WorkError: The disk is full, the folder cannot be written or the object store does
                not answer; what was stored before stands.
        """
        line = encode(key, entry)
        with self._lock:
            self._load()
            try:
                if self._segment is None:
                    self._segment = Segment(self.folder)
                    self._own = self._open(self._segment.path)
                offset = self._segment.append(line)
            except OSError as error:
                self._end_segment()
                raise WorkError(
                    f"the ledger in {self.folder} cannot be written "
                    f"({error.strerror or error}): free some space or mend the folder, then run "
                    "again; every answer that was stored is kept"
                ) from None
            assert self._own is not None
            self._note(key, entry, _Spot(self._own, offset, len(line), entry.rank))
            if self._lines is not None:
                self._unsent.append(line)
        self._send()

    def compact(self) -> None:
        """End this writer's file and merge it with those of other writers that ended."""
        with self._lock:
            self._end_segment()
            for file in self._files:
                file.close()
            self._forget()
            merge_ended(self.folder, self._warn)
        if self._lines is not None:
            try:
                self._send()
                self._lines.merge()
            except WorkError as error:
                self._warn(f"the ledger was not tidied up, the next run tries again: {error}")

    def _send(self) -> None:
        """Put what the object store lacks there; what another thread sends is there by then too.

        What could not be sent goes with the next line.
        """
        if self._lines is None:
            return
        with self._sending:
            with self._lock:
                lines = tuple(self._unsent)
            if lines:
                self._lines.add(b"".join(lines))
            with self._lock:
                del self._unsent[: len(lines)]

    def _end_segment(self) -> None:
        if self._segment is not None:
            self._segment.close()
        self._segment = self._own = None

    def _forget(self) -> None:
        self._loaded = False
        self._files: list[IO[bytes]] = []
        self._spots: dict[str, _Spot] = {}
        self._places: dict[str, list[str]] = {}

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        if len(segments(self.folder)) > MANY_SEGMENTS:
            merge_ended(self.folder, self._warn)
        if self._lines is not None:
            self._fetch(self._lines)
        seen: set[Path] = set()
        # Again until nothing is new: what another process merges away comes back in a new file.
        while new := [path for path in segments(self.folder) if path not in seen]:
            for path in new:
                seen.add(path)
                try:
                    self._read(path)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    raise WorkError(
                        f"{path} of the ledger cannot be read ({error.strerror or error}): mend "
                        "it, then run again; without it what it holds would be paid twice"
                    ) from None

    def _fetch(self, lines: Lines) -> None:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the others
        self._files.append(file)
        file.writelines(lines.unseen(set()))
        file.seek(0)
        if unreadable := self._index(file):
            self._warn(f"{unreadable} lines of the ledger in the object store cannot be read")

    def _open(self, path: Path) -> IO[bytes]:
        # Kept open: what another process merges away stays readable.
        file = path.open("rb")
        self._files.append(file)
        return file

    def _read(self, path: Path) -> None:
        unreadable = self._index(self._open(path))
        # Half a line of a writer that lives is not torn: the rest is on its way.
        if unreadable and is_ended(path):
            lines = "one line" if unreadable == 1 else f"{unreadable} lines"
            self._warn(
                f"{path} has {lines} that cannot be read, as a killed run or a full disk leaves "
                "them: skipped, and their chunks are asked again"
            )

    def _index(self, file: IO[bytes]) -> int:
        """Note where each entry of a file lies; how many lines are unreadable."""
        unreadable = 0
        for read in read_entries(file):
            if read is None:
                unreadable += 1
            else:
                offset, line, key, entry = read
                self._note(key, entry, _Spot(file, offset, len(line), entry.rank))
        return unreadable

    def _note(self, key: str, entry: Entry, spot: _Spot) -> None:
        known = self._spots.get(key)
        if known is not None and known.rank > spot.rank:
            return
        self._spots[key] = spot
        if entry.source is not None and entry.failure is None:
            keys = self._places.setdefault(entry.source.place, [])
            if known is None or key not in keys:
                keys.append(key)

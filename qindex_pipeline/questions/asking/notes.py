"""Notes of batches that were handed to a provider, so that a later run finds what it left.

A note is written before its batch is submitted and removed when every answer is in the ledger.
Its run holds a lock beside it: a note whose lock is free was left behind. On an object store no
lock says whose run lives: a batch may be collected by two runs, which store the same answers.
"""

import json
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from qindex_pipeline.errors import WorkError
from qindex_pipeline.object_store import Objects
from qindex_pipeline.questions.asking.entries import decode_source, encode_source
from qindex_pipeline.questions.asking.pending import Pending
from qindex_pipeline.questions.asking.recorder import Call
from qindex_pipeline.questions.asking.segments import lock_of, sync_folder
from qindex_pipeline.questions.generators.generator import Task, Usage
from qindex_pipeline.questions.generators.proposal import Proposal


@dataclass(frozen=True)
class Note:
    """One batch.

    Attributes:
        label: Our name of it, known before the provider's.
        spec: The model.
        batch_id: The provider's name; None until it is known.
        calls: What the batch asks, by key.
    """

    label: str
    spec: str
    batch_id: str | None
    calls: Mapping[str, Call] = field(repr=False)


class Notes:
    """The notes under one folder; what this object writes or takes up it holds."""

    def __init__(self, folder: Path, durable: Objects | None = None) -> None:
        """Keep notes under `folder`, created with the first one.

        `durable` is where they are kept too when the folder does not outlive the run.
        """
        self._folder, self._durable = folder, durable
        self._locks: dict[str, FileLock] = {}

    def begin(self, spec: str, calls: Sequence[Call]) -> Note:
        """Note a batch that is about to be submitted. Raises WorkError when it cannot."""
        note = Note(f"qindex-{uuid.uuid4().hex}", spec, None, {c.pending.key: c for c in calls})
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = lock_of(self._path(note.label))
            lock.acquire()
        except OSError as error:
            raise self._not_written(error) from None
        self._locks[note.label] = lock
        self._write(note)
        return note

    def submitted(self, note: Note, batch_id: str) -> Note:
        """Note the provider's name of a batch. Raises WorkError when it cannot."""
        note = replace(note, batch_id=batch_id)
        self._write(note)
        return note

    def left_behind(self, spec: str) -> Iterator[Note]:
        """The notes of earlier runs of a model, each held from now on.

        Raises WorkError for a note that cannot be read.
        """
        self._fetch()
        for path in sorted(self._folder.glob("*.json")):
            lock = lock_of(path)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                continue  # its run lives
            note = _read(path) if path.exists() else None
            if note is None or note.spec != spec:
                lock.release()
                continue
            self._locks[note.label] = lock
            yield note

    def leave(self, note: Note) -> None:
        """Let a later run take up a note."""
        self._locks.pop(note.label).release()

    def leave_all(self) -> None:
        """Let a later run take up what this one did not end."""
        while self._locks:
            self._locks.popitem()[1].release()

    def end(self, note: Note) -> None:
        """Remove the note of a batch whose answers are all stored."""
        path = self._path(note.label)
        path.unlink()
        if self._durable is not None:
            self._durable.delete(path.name)
        self.leave(note)
        path.with_name(f"{path.name}.lock").unlink(missing_ok=True)

    def _fetch(self) -> None:
        """Bring the notes of other machines into the folder."""
        if self._durable is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        for name in self._durable.sizes():
            data = self._durable.read(name)
            if data is not None and not (self._folder / name).exists():
                self._place(self._folder / name, data)

    def _path(self, label: str) -> Path:
        return self._folder / f"{label}.json"

    def _write(self, note: Note) -> None:
        path, data = self._path(note.label), _encode(note)
        self._place(path, data)
        if self._durable is not None:
            self._durable.put(path.name, data)

    def _place(self, path: Path, data: bytes) -> None:
        temporary = path.with_suffix(".tmp")
        try:
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            sync_folder(self._folder)
        except OSError as error:
            raise self._not_written(error) from None
        finally:
            temporary.unlink(missing_ok=True)

    def _not_written(self, error: OSError) -> WorkError:
        return WorkError(
            f"{self._folder} cannot be written ({error.strerror or error}): free some space or "
            "mend the folder, then run again; every answer that was stored is kept"
        )


def _encode(note: Note) -> bytes:
    values = {
        "label": note.label,
        "spec": note.spec,
        "batch_id": note.batch_id,
        "calls": [_encode_call(call) for call in note.calls.values()],
    }
    return json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _encode_call(call: Call) -> dict[str, Any]:
    pending, spent = call.pending, call.spent
    return encode_source(pending.source) | {
        "key": pending.key,
        "kept": [[item.question, item.evidence] for item in pending.task.kept],
        "tries": pending.tries,
        "attempt": call.attempt,
        "spent": [spent.tokens_in, spent.tokens_out, spent.cached_in],
    }


def _read(path: Path) -> Note:
    try:
        values = json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
        calls = {item["key"]: _decode_call(item) for item in values["calls"]}
        return Note(values["label"], values["spec"], values["batch_id"], calls)
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise WorkError(
            f"{path} cannot be read as the note of a batch ({error}): delete it and run again; "
            "what its batch was asked is asked anew"
        ) from None


def _decode_call(values: Mapping[str, Any]) -> Call:
    source = decode_source(values)
    chunk = {
        "title": source.title,
        "heading_path": list(source.heading_path),
        "text": source.text,
    }
    task = Task(chunk, tuple(Proposal(*pair) for pair in values["kept"]))
    pending = Pending(values["key"], source, task, values["tries"])
    return Call(pending, values["attempt"], Usage(*values["spent"]))

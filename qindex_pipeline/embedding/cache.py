"""Vectors that were paid for once: text hash and fingerprint to vector, on local disk.

Where the data root is an object store each batch is put there too, because the disk may go with
its run.
"""

import base64
import binascii
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from qindex_pipeline.object_store import Lines, Objects

if TYPE_CHECKING:
    from qindex_pipeline.embedding.embedder import Vectors

BATCH = 64
"""Texts embedded between two commits: what a killed run loses at most."""


class VectorCache:
    """An SQLite file, safe for several processes; a lost file costs embeddings, nothing else."""

    def __init__(self, file: Path, durable: Objects | None = None, site: str = "") -> None:
        """Use `file`, created with the first vector.

        `durable` is where vectors are kept, by fingerprint and site, when the file does not
        outlive the run. Without a site those of all sites are read.
        """
        self._file, self._durable, self._site = file, durable, site
        self._seen: set[str] = set()

    def embed(
        self,
        fingerprint: str,
        texts: Mapping[str, str],
        embed: Callable[[Sequence[str]], "Vectors"],
        report: Callable[[int, int], None],
    ) -> tuple[dict[str, "Vectors"], int]:
        """Vectors of `texts`, embedding only those that no earlier run has.

        Args:
            fingerprint: Digest under which the vectors are comparable.
            texts: Text by its hash.
            embed: The embedder; called with at most 64 texts at a time.
            report: Told (embedded so far, to embed), first with 0, then after each batch.

        What another process embeds meanwhile is not embedded again, down to a batch.

        Returns:
            Vector by text hash, and how many texts had to be embedded.
        """
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._file, timeout=60)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS vectors (fingerprint TEXT, text_hash TEXT, "
                "vector BLOB, PRIMARY KEY (fingerprint, text_hash)) WITHOUT ROWID"
            )
            lines = self._lines(fingerprint)
            if lines is not None:
                _insert(connection, fingerprint, _decoded(lines.unseen(self._seen)))
            known = _read(connection, fingerprint, texts)
            missing = [key for key in texts if key not in known]
            report(0, len(missing))
            embedded = 0
            for start in range(0, len(missing), BATCH):
                batch = missing[start : start + BATCH]
                known.update(_read(connection, fingerprint, batch))
                keys = [key for key in batch if key not in known]
                if keys:
                    vectors = embed([texts[key] for key in keys])
                    fresh = dict(zip(keys, vectors, strict=True))
                    if lines is not None:  # first: what is on this disk is never sent again
                        self._seen.add(lines.add(_encoded(fresh)))
                    _write(connection, fingerprint, fresh)
                    known.update(fresh)
                    embedded += len(keys)
                report(start + len(batch), len(missing))
            if lines is not None and embedded:
                lines.merge()
        return known, embedded

    def missing(self, fingerprint: str, keys: Iterable[str]) -> list[str]:
        """The `keys` without a vector, in their order; writes nothing, not even the file."""
        lines = self._lines(fingerprint)
        if lines is not None:
            known = {key for key, _ in _decoded(lines.unseen(set()))}
            keys = [key for key in keys if key not in known]
        if not self._file.exists():
            return list(keys)
        # Opening a file in WAL mode for reading makes files beside it, unless it is said to be
        # at rest. While another process has it open, those files are there.
        is_open = self._file.with_name(f"{self._file.name}-wal").exists()
        address = f"{self._file.resolve().as_uri()}?mode=ro" + ("" if is_open else "&immutable=1")
        with closing(sqlite3.connect(address, timeout=60, uri=True)) as connection:
            query = "SELECT 1 FROM vectors WHERE fingerprint = ? AND text_hash = ?"
            return [
                key
                for key in keys
                if connection.execute(query, (fingerprint, key)).fetchone() is None
            ]

    def _lines(self, fingerprint: str) -> Lines | None:
        if self._durable is None:
            return None
        folder = self._durable.below(fingerprint)
        return Lines(folder.below(self._site) if self._site else folder)


def _encoded(vectors: Mapping[str, "Vectors"]) -> bytes:
    """A line for each vector: its text hash and its float32 numbers, little-endian, in base64."""
    rows = (
        f"{key} {base64.b64encode(vector.astype('<f4').tobytes()).decode()}\n"
        for key, vector in vectors.items()
    )
    return "".join(rows).encode()


def _decoded(lines: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """Text hash and numbers of each line; a damaged one is left out, and embedded again."""
    for line in lines:
        key, _, numbers = line.partition(b" ")
        try:
            yield key.decode(), base64.b64decode(numbers.rstrip(b"\n"), validate=True)
        except (UnicodeDecodeError, binascii.Error):
            continue


def _read(
    connection: sqlite3.Connection, fingerprint: str, keys: Iterable[str]
) -> dict[str, "Vectors"]:
    import numpy as np

    found: dict[str, Vectors] = {}
    query = "SELECT vector FROM vectors WHERE fingerprint = ? AND text_hash = ?"
    for key in keys:
        row = connection.execute(query, (fingerprint, key)).fetchone()
        if row is not None:
            found[key] = np.frombuffer(row[0], dtype=np.float32)
    return found


def _write(
    connection: sqlite3.Connection, fingerprint: str, vectors: Mapping[str, "Vectors"]
) -> None:
    _insert(connection, fingerprint, ((key, vector.tobytes()) for key, vector in vectors.items()))


def _insert(
    connection: sqlite3.Connection, fingerprint: str, vectors: Iterable[tuple[str, bytes]]
) -> None:
    # Read as a whole first: a download would hold the file's write lock.
    rows = [(fingerprint, key, numbers) for key, numbers in vectors]
    with connection:
        connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

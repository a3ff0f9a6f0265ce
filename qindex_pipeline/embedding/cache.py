"""Vectors that were paid for once: text hash and fingerprint to vector, on local disk."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qindex_pipeline.embedding.embedder import Vectors

BATCH = 64
"""Texts embedded between two commits: what a killed run loses at most."""


class VectorCache:
    """An SQLite file, safe for several processes; a lost file costs embeddings, nothing else."""

    def __init__(self, file: Path) -> None:
        """Use `file`, created with the first vector."""
        self._file = file

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
                    _write(connection, fingerprint, fresh)
                    known.update(fresh)
                    embedded += len(keys)
                report(start + len(batch), len(missing))
        return known, embedded


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
    rows = [(fingerprint, key, vector.tobytes()) for key, vector in vectors.items()]
    with connection:
        connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

"""Rewritten queries that were paid for once: query, model and prompt version to the reply."""

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from qindex_pipeline.ids import content_hash


class RewriteCache:
    """An SQLite file, safe for several threads and processes; a lost file costs calls alone.

    Its methods raise sqlite3.Error or OSError where the file cannot be used.
    """

    def __init__(self, file: Path) -> None:
        """Use `file`, created with the first look-up."""
        self._file = file

    def get(self, key: str) -> str | None:
        """The reply to `key`, if there ever was one."""
        with self._connected() as connection:
            row = connection.execute("SELECT reply FROM rewrites WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def put(self, key: str, reply: str) -> None:
        """Remember a reply; it is on disk when this returns."""
        with self._connected() as connection:
            connection.execute("INSERT OR REPLACE INTO rewrites VALUES (?, ?)", (key, reply))

    @contextmanager
    def _connected(self) -> Generator[sqlite3.Connection]:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        # The inner context commits, the outer one closes.
        with closing(sqlite3.connect(self._file, timeout=10)) as connection, connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS rewrites (key TEXT PRIMARY KEY, reply TEXT) "
                "WITHOUT ROWID"
            )
            yield connection


def rewrite_key(spec: str, version: str, query: str) -> str:
    """Hash of all that decides a reply: model, prompt version and the query."""
    return content_hash(spec, version, query)

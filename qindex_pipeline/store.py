"""Parquet files, one per table and site: `<root>/<table>/<site key>.parquet`.

Writing is atomic: a local file appears by rename, an object by one put. Reading gets an object
by one request, so that one which is replaced meanwhile is never read half and half. Both hold the
rows against the table's declared schema.
"""

import io
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from qindex_pipeline.errors import WorkError
from qindex_pipeline.object_store import open_root, reached
from qindex_pipeline.tables import Table, to_arrow, upgraded
from qindex_pipeline.whole_files import whole_file


class MissingTableError(WorkError):
    """A table that a stage needs has not been written for this site."""


class ParquetStore:
    """The tables under one data root, a local folder or any fsspec URL."""

    def __init__(self, root: str) -> None:
        """Address the tables under `root`; nothing is created before the first write.

        Raises UsageError when the driver of an object store is not installed.
        """
        self._files, self._root = open_root(root)
        self._local = "file" in _protocols(self._files)

    def path(self, table: Table, site: str) -> str:
        """Where the table of `site` lies; keys may contain dots."""
        return f"{self._root}/{table.name}/{site}.parquet"

    def exists(self, table: Table, site: str) -> bool:
        """Whether the table has been written for `site`."""
        path = self.path(table, site)
        if self._local:
            return Path(path).exists()
        # The drivers' own `exists` takes a store that cannot be reached for one without the file.
        try:
            with reached(path):
                self._files.info(path)
        except FileNotFoundError:
            return False
        return True

    def write(self, table: Table, site: str, rows: Any) -> pa.Table:
        """Replace the table of `site` as a whole; the old file stands until the new is whole.

        Args:
            table: Which table.
            site: Site key.
            rows: Whatever `tables.to_arrow` takes.

        Returns:
            The rows as they were written.

        Raises:
            WorkError: The folder cannot be written, or its disk is full.
        """
        arrow = to_arrow(table, rows).cast(table.stamped_schema)
        path = self.path(table, site)
        if self._local:
            _write_local(Path(path), arrow)
        else:
            sink = pa.BufferOutputStream()
            pq.write_table(arrow, sink, compression="zstd")
            self._put(path, sink.getvalue().to_pybytes())
        return arrow

    def _put(self, path: str, data: bytes) -> None:
        try:
            with reached(path):
                self._files.pipe_file(path, data)
        except FileNotFoundError as error:
            raise WorkError(f"{path} cannot be written: {error}") from None

    def _open(self, path: str) -> IO[bytes]:
        if self._local:
            return Path(path).open("rb")
        with reached(path):
            return io.BytesIO(self._files.cat_file(path))

    def read(self, table: Table, site: str) -> pa.Table:
        """Read the table of `site`.

        Raises MissingTableError naming table, site and path, and SchemaError for a version that
        cannot be upgraded.
        """
        path = self.path(table, site)
        try:
            with self._open(path) as file:
                arrow = pq.read_table(file)
        except FileNotFoundError:
            raise MissingTableError(
                f"{table.name} of site {site!r} has not been materialised: {path} does not "
                f"exist; run the chain for this site first (`qindex ingest`)"
            ) from None
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(table, site, path, error) from None
        return to_arrow(table, upgraded(table, arrow, path))

    def first(self, table: Table, site: str, column: str) -> Any:
        """The first row's value of one column, or None without a table or a row."""
        if not self.exists(table, site):
            return None
        path = self.path(table, site)
        try:
            with self._open(path) as file:
                for batch in pq.ParquetFile(file).iter_batches(batch_size=1, columns=[column]):
                    return batch.column(0)[0].as_py()
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(table, site, path, error) from None
        return None

    def delete(self, table: Table, site: str) -> None:
        """Remove the table of `site` if it is there."""
        if self.exists(table, site):
            with reached(self.path(table, site)):
                self._files.rm_file(self.path(table, site))


def _unreadable(table: Table, site: str, path: str, error: Exception) -> WorkError:
    lines = str(error).splitlines()
    return WorkError(
        f"{path} is not a readable Parquet file ({lines[0] if lines else type(error).__name__}); "
        f"delete it and materialise {table.name} for site {site!r} again"
    )


def _protocols(files: Any) -> tuple[str, ...]:
    protocol = files.protocol
    return (protocol,) if isinstance(protocol, str) else tuple(protocol)


def _write_local(path: Path, arrow: pa.Table) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with whole_file(path) as file:
            pq.write_table(arrow, file, compression="zstd")
    except OSError as error:
        raise WorkError(
            f"{path} could not be written ({error.strerror or error}): the last good table stands; "
            "free some space or mend the folder, then run again"
        ) from None

"""Where the tables lie when not on a local disk, and what must outlive the disk of a run.

A run on another machine has a disk only for as long as it lives. What was paid for is therefore
put under the data root the moment it arrives, as objects that never change: each is there whole
or not at all, so that any number of machines write and tidy up without a lock.
"""

import io
import uuid
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import fsspec

from qindex_pipeline.errors import TransientError, UsageError, WorkError

SMALL = 1024 * 1024
"""Bytes below which an object of lines may be merged with others."""

MANY = 32
"""So many small objects are merged: reading costs a request each."""


def open_root(root: str) -> tuple[Any, str]:
    """The file system of a data root, and the root's path in it.

    Listings are not cached: other machines write there too.

    Raises UsageError when the driver of the address is not installed.
    """
    try:
        files, path = fsspec.core.url_to_fs(root, use_listings_cache=False)
    except (ImportError, ValueError) as error:
        raise UsageError(
            f"QINDEX_DATA={root}: {error}; for s3:// install the extra: "
            "pip install 'qindex_pipeline[s3]'"
        ) from None
    return files, str(path)


@contextmanager
def reached(where: str) -> Generator[None]:
    """Tell in one line what an object store said; that an object is missing passes through.

    Raises WorkError where somebody has to act, TransientError where it may heal.
    """
    try:
        yield
    except FileNotFoundError:
        raise
    except PermissionError as error:
        raise WorkError(f"{where}: access refused ({error}): look at keys and policy") from None
    except Exception as error:  # each driver raises what its vendor's SDK raises
        lines = str(error).splitlines()
        said = lines[0] if lines else type(error).__name__
        raise TransientError(
            f"{where} cannot be reached ({said}): look at the address and the keys of the object "
            "store, then run again; what was stored is kept"
        ) from None


class Objects:
    """The objects under one folder of a data root, by their names below it."""

    def __init__(self, files: Any, folder: str) -> None:
        """Address `folder` in the file system `files`; nothing is created."""
        self._files, self.folder = files, folder

    @classmethod
    def under(cls, root: str, folder: str) -> "Objects":
        """A folder of the data root `root`. Raises UsageError without its driver."""
        files, path = open_root(root)
        return cls(files, f"{path}/{folder}")

    def below(self, name: str) -> "Objects":
        """A folder of this folder."""
        return Objects(self._files, f"{self.folder}/{name}")

    def sizes(self) -> Mapping[str, int]:
        """Name and bytes of each object, those of folders below included."""
        try:
            with reached(self.folder):
                found = self._files.find(self.folder, detail=True)
        except FileNotFoundError as error:
            raise WorkError(f"{self.folder} cannot be read: {error}") from None
        # Some drivers give absolute paths, whatever they were asked with.
        start = len(self.folder.lstrip("/")) + 1
        return {path.lstrip("/")[start:]: info["size"] for path, info in found.items()}

    def read(self, name: str) -> bytes | None:
        """An object as a whole; None where there is none."""
        try:
            with reached(self.folder):
                return self._files.cat_file(f"{self.folder}/{name}")
        except FileNotFoundError:
            return None

    def put(self, name: str, data: bytes) -> None:
        """Store an object; it is durable when this returns."""
        try:
            with reached(self.folder):
                self._files.pipe_file(f"{self.folder}/{name}", data)
        except FileNotFoundError as error:
            raise WorkError(f"{self.folder} cannot be written: {error}") from None

    def delete(self, name: str) -> None:
        """Remove an object, if it is there."""
        with suppress(FileNotFoundError), reached(self.folder):
            self._files.rm_file(f"{self.folder}/{name}")


class Lines:
    """Lines that many writers add and nobody changes: one object for each addition.

    Small objects are merged now and then. One is only deleted after all of its lines stand in
    another, so that neither a kill nor a second writer that merges the same loses any; a line
    may be read twice.
    """

    def __init__(self, objects: Objects) -> None:
        """Keep the lines as `objects`."""
        self._objects = objects

    def add(self, lines: bytes) -> str:
        """Store whole lines; they are durable when this returns the name of their object."""
        name = f"{uuid.uuid4().hex}.lines"
        self._objects.put(name, lines)
        return name

    def unseen(self, seen: set[str]) -> Iterator[bytes]:
        """The lines of the objects that are not `seen`, which then are.

        Looks again until nothing is new: what another writer merges away comes back in a new one.
        """
        while names := [name for name in self._objects.sizes() if name not in seen]:
            for name in names:
                seen.add(name)
                yield from _split(self._objects.read(name))

    def merge(self) -> None:
        """Merge the small objects when there are many; those of folders below stay."""
        sizes = self._objects.sizes()
        small = [name for name, size in sizes.items() if size < SMALL and "/" not in name]
        if len(small) < MANY:
            return
        lines = dict.fromkeys(line for name in small for line in _split(self._objects.read(name)))
        for part in _parts(lines):
            self.add(part)
        for name in small:
            self._objects.delete(name)


def _split(data: bytes | None) -> Iterable[bytes]:
    return io.BytesIO(data or b"")


def _parts(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines joined to parts that are large enough to stay as they are; the last may be less."""
    part = bytearray()
    for line in lines:
        part += line
        if len(part) >= SMALL:
            yield bytes(part)
            part.clear()
    if part:
        yield bytes(part)

"""Where segments lie: a local folder or an object store, both with the few calls that a log needs.

Whatever is written appears whole or not at all. Names are `<day>/<segment>.parquet`.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from qindex_pipeline.errors import UsageError, WorkError
from qindex_pipeline.whole_files import whole_file


class Folder(Protocol):
    """The segments of a log by name."""

    def sizes(self) -> Mapping[str, int]:
        """Name and bytes of each segment; raises WorkError when the folder cannot be read."""
        ...

    def read(self, name: str) -> bytes | None:
        """A segment as a whole; None where there is none any more."""
        ...

    def put(self, name: str, data: bytes) -> None:
        """Store a segment; it is durable when this returns. Raises WorkError."""
        ...

    def delete(self, name: str) -> None:
        """Remove a segment, if it is there."""
        ...


class LocalFolder:
    """Segments below a folder of this machine, or of one that is mounted here."""

    def __init__(self, folder: Path) -> None:
        """Address `folder`; it is made with the first segment."""
        self._folder = folder

    def sizes(self) -> Mapping[str, int]:
        """Name and bytes of each segment."""
        found: dict[str, int] = {}
        for file in self._folder.glob("*/[!.]*.parquet"):
            with suppress(FileNotFoundError):  # another process merges
                found[f"{file.parent.name}/{file.name}"] = file.stat().st_size
        return found

    def read(self, name: str) -> bytes | None:
        """A segment as a whole; None where there is none any more."""
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise WorkError(f"{self._folder / name} cannot be read: {error.strerror}") from None

    def put(self, name: str, data: bytes) -> None:
        """Store a segment: a sibling that is whole on the disk, then renamed."""
        file = self._folder / name
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(file) as opened:
                opened.write(data)
        except OSError as error:
            raise WorkError(f"{file} cannot be written: {error.strerror or error}") from None

    def delete(self, name: str) -> None:
        """Remove a segment, and its day's folder once it is empty."""
        file = self._folder / name
        with suppress(OSError):
            file.unlink()
        with suppress(OSError):  # not empty, or gone already
            file.parent.rmdir()


def open_folder(root: str) -> Folder:
    """The folder that QINDEX_QUERY_LOG names; nothing is created or asked yet.

    Raises UsageError when an address needs what is not installed.
    """
    if "://" not in root:
        return LocalFolder(Path(root))
    try:
        from fsspec.core import url_to_fs

        from qindex_pipeline.object_store import Objects

        files, path = url_to_fs(root, use_listings_cache=False)
    except (ImportError, ValueError) as error:
        raise UsageError(
            f"QINDEX_QUERY_LOG={root}: {error}; pip install 'qindex_pipeline[log]', and for s3:// "
            "'qindex_pipeline[s3]'"
        ) from None
    return Objects(files, str(path))

"""A file that appears whole or not at all, whatever happens while it is written."""

import os
import uuid
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def whole_file(path: Path) -> Generator[IO[bytes]]:
    """Write to a sibling of `path`; it is durable, then renamed, when the block ends.

    A block that raises leaves what was there before. Raises OSError as writing does.
    """
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)

"""Files of a model that are used only when they are the right ones."""

import hashlib
from pathlib import Path

from qindex_pipeline.errors import WorkError


def verify(file: Path, sha256: str, remedy: str) -> None:
    """Raise WorkError with `remedy` when minilm's `file` is missing or has another checksum."""
    if not file.is_file():
        raise WorkError(f"{file.name} of the embedder minilm is missing: {remedy}")
    if hashlib.sha256(file.read_bytes()).hexdigest() != sha256:
        raise WorkError(f"{file.name} of the embedder minilm is damaged: {remedy}")

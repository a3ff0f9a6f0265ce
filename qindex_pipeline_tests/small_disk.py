"""A file system of a test's own, small enough to be filled."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def may_mount() -> bool:
    """Whether a file system can be mounted here: root may, but not in every container."""
    if shutil.which("unshare") is None or shutil.which("mount") is None:
        return False
    probe = ["unshare", "-m", "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "/mnt"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """A file system of `size` bytes, mounted on a folder for the block."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
    try:
        yield folder
    finally:
        # Lazily: a file that a failed test holds open must not hide its failure.
        subprocess.run(["umount", "-l", folder], check=True)


needs_a_disk = pytest.mark.skipif(not may_mount(), reason="needs the right to mount a tmpfs (root)")

"""The STL documentation, a real site of 19 linked pages, served on loopback for tests."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qindex_pipeline.crawl.folder import served

ROOT = Path(__file__).parent.parent


def shared(path: str) -> Path | None:
    """A file or folder of QINDEX_SHARED, or None where it is absent."""
    found = ROOT / os.environ.get("QINDEX_SHARED", "../shared") / path
    return found if found.exists() else None


def stl_site() -> Path | None:
    """The folder of the STL site, or None where it is absent."""
    return shared("sites/stl")


@contextmanager
def serving_stl() -> Iterator[str]:
    """Serve the site; gives the address of its documentation."""
    folder = stl_site()
    assert folder is not None
    with served(folder) as base:
        yield f"{base}docs/"

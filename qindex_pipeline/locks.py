"""One writer a site: a lock file that a run, a CI job and the command line all respect."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


@contextmanager
def site_lock(state: Path, site: str, say: Callable[[str], None]) -> Generator[None]:
    """Hold the lock of `site` under the state folder.

    Waits for the holder, and tells `say` once that it does. A killed holder's lock is free.
    """
    folder = state / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / f"{site}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        say(f"site {site} is being processed by another run; waiting until it ends")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()

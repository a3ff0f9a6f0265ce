"""Two runs of one site: the second waits for the first."""

import threading
import time
from pathlib import Path

import pytest
from filelock import FileLock

from qindex_pipeline_tests.command import qindex, write_site

pytestmark = pytest.mark.slow


def test_a_run_waits_until_another_run_of_its_site_ends(tmp_path: Path):
    write_site(tmp_path / "site", index="<h1>Lantern</h1><p>A lamp for the night shift.</p>")
    locks = tmp_path / "data" / "state" / "locks"
    locks.mkdir(parents=True)
    ended: list[float] = []
    held = FileLock(locks / "lantern.lock")
    held.acquire()

    def run() -> None:
        assert qindex(tmp_path, "ingest", "site", "--site", "lantern").returncode == 0
        ended.append(time.monotonic())

    waiting = threading.Thread(target=run)
    waiting.start()
    waiting.join(timeout=8)
    assert waiting.is_alive()
    assert not (tmp_path / "data" / "raw_pages").exists()
    released = time.monotonic()
    held.release()
    waiting.join()
    assert ended
    assert ended[0] > released

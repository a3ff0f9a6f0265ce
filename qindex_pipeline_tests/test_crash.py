"""kill -9 while the index is being published: readers keep the last one, a re-run finishes."""

import json
import signal
from pathlib import Path

import pytest

from qindex_pipeline_tests.command import python, qindex, write_site

pytestmark = pytest.mark.slow

DYING = """
import os, signal, sys
from qindex_pipeline.index import {module}
from qindex_pipeline.cli import main

whole = getattr({module}, "{step}")

def dies(*arguments):
    if "{when}" == "after":
        whole(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)

setattr({module}, "{step}", dies)
sys.argv = ["qindex", "ingest", "site", "--site", "lantern"]
main()
"""

OLD = "<h1>Lantern</h1><p>The lantern is switched on with the command lantern light.</p>"
NEW = "<h1>Lantern</h1><p>The lantern is switched on with the command lantern glow.</p>"


@pytest.mark.parametrize(
    ("module", "step", "when"),
    [("edge_shard", "_apply", "after"), ("generations", "_write_atomically", "before")],
    ids=["points written", "renamed but not published"],
)
def test_a_killed_publication_leaves_the_last_one_and_a_rerun_finishes(
    tmp_path: Path, module: str, step: str, when: str
):
    site = write_site(tmp_path / "site", index=OLD)
    assert qindex(tmp_path, "ingest", "site", "--site", "lantern").returncode == 0
    write_site(site, index=NEW)
    killed = python(tmp_path, "-c", DYING.format(module=module, step=step, when=when))
    assert killed.returncode == -signal.SIGKILL

    assert "lantern light" in text_of_first_result(tmp_path)
    finished = qindex(tmp_path, "ingest", "site", "--site", "lantern")
    assert finished.returncode == 0, finished.stderr
    assert "lantern glow" in text_of_first_result(tmp_path)
    assert not list((tmp_path / "data/state/index").rglob("*.tmp"))


def text_of_first_result(folder: Path) -> str:
    asked = qindex(folder, "ask", "How is the lantern switched on?", "--json")
    return json.loads(asked.stdout)["results"][0]["text"]

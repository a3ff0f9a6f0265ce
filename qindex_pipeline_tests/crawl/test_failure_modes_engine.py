"""What has gone wrong inside the fetching engine: files, caches, memory, crawls side by side."""

import subprocess
import sys
from pathlib import Path

import pytest

from qindex_pipeline_tests.command import environment
from qindex_pipeline_tests.crawl.hostile import Reply, crawled, outcomes, page, serving

CRAWL = """
import sys, json
from qindex_pipeline.crawl import crawl
from qindex_pipeline.sites import Site
pages = crawl(Site(key='x', start_url=sys.argv[1], max_pages=60)).settled.pages
print(json.dumps({page.url.partition(':')[2].partition('/')[2]: page.outcome for page in pages}))
"""

MEMORY = """
import sys
from pathlib import Path
from qindex_pipeline.crawl import crawl
from qindex_pipeline.sites import Site

def kilobytes():
    lines = Path('/proc/self/status').read_text().splitlines()
    return int(next(line for line in lines if line.startswith('VmRSS')).split()[1])

seen = {}
class Watch:
    def __call__(self, stage, done, total, note=''):
        seen[done] = kilobytes()
    def warn(self, line):
        pass

crawl(Site(key='x', start_url=sys.argv[1], max_pages=70, max_html_bytes=10**7), progress=Watch())
print(seen[70] - seen[20])
"""


def python(code: str, *arguments: str, home: Path) -> subprocess.Popen[str]:
    """Start this Python with an empty home folder, in it."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=home,
        env=environment(HOME=str(home), PYTHONPATH=str(Path.cwd()), PYTHONDONTWRITEBYTECODE="1"),
    )


def test_crawls_side_by_side_share_no_file_and_leave_none(tmp_path: Path) -> None:
    files = {
        "/f.html": Reply(b"%PDF-1.7", headers={"Content-Type": "application/pdf"}),
        "/g": Reply(b"PK", headers={"Content-Type": "application/zip"}),
        "/h": Reply(b"{}", headers={"Content-Type": "application/json"}),
    }
    with serving({"/": page("start", *files, "/a"), "/a": page("a"), **files}) as server:
        crawls = [python(CRAWL, server.base, home=tmp_path) for _ in range(2)]
        done = [crawl.communicate(timeout=60) for crawl in crawls]
    assert done[0] == done[1]
    assert [crawl.returncode for crawl in crawls] == [0, 0]
    assert done[0][0].count('"unsupported_content_type"') == 3
    assert done[0][0].count('"ok"') == 2
    assert done[0][1] == ""
    assert [str(path) for path in tmp_path.rglob("*") if path.is_file()] == []


@pytest.mark.skipif(sys.platform != "linux", reason="reads the resident memory from /proc")
def test_memory_grows_by_the_pages_that_are_kept_and_no_more(tmp_path: Path) -> None:
    size = 400_000
    paths = [f"/p{n}" for n in range(75)]
    filler = b"<!-- " + b"x" * size + b" -->"
    routes = {path: Reply(page(path).body + filler) for path in paths}
    with serving({"/": page("start", *paths), **routes}) as server:
        done = python(MEMORY, server.base, home=tmp_path)
        out, err = done.communicate(timeout=60)
    assert err == ""
    # The HTML of 50 pages is kept once; a library that kept its copies would keep it five times.
    assert int(out) * 1024 < 2.5 * 50 * size


def test_forty_pages_come_over_the_same_session() -> None:
    paths = [f"/p{n}" for n in range(40)]
    with serving({"/": page("start", *paths), **{path: page(path) for path in paths}}) as server:
        rows = crawled(server, max_pages=41)
    assert list(outcomes(rows).values()) == ["ok"] * 41
    assert [row.h1 for row in list(rows.values())[1:]] == [f"{path} heading" for path in paths]


def test_pages_of_one_batch_keep_their_own_text() -> None:
    paths = [f"/p{n}" for n in range(16)]
    with serving({"/": page("start", *paths), **{path: page(path) for path in paths}}) as server:
        rows = crawled(server, concurrency=16)
    for path in paths:
        assert f"This is the text of {path} for readers." in (rows[path].markdown or "")

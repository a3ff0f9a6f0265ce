"""The crawl of a real site: a Next.js export of 31 pages, of which 19 are linked."""

import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from qindex_pipeline.crawl import Page, crawl
from qindex_pipeline.sites import Site

PROJECT = Path(__file__).parents[2]
STL = (PROJECT / os.environ.get("QINDEX_SHARED", "../shared") / "sites/stl").resolve()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  as in the base
        """Say nothing."""


@pytest.fixture(scope="module")
def stl() -> Iterator[dict[str, Page]]:
    if not STL.is_dir():
        pytest.skip(f"{STL} is absent; set QINDEX_SHARED to the folder that holds sites/stl")
    handler = partial(_Quiet, directory=str(STL))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}"
        pages = crawl(Site(key="stl", start_url=f"{base}/docs/", max_pages=30)).settled.pages
        server.shutdown()
    stored = (row for row in pages if row.outcome == "ok")
    yield {(row.final_url or "").removeprefix(base): row for row in stored}


def test_the_nineteen_linked_pages_are_stored(stl: dict[str, Page]) -> None:
    assert len(stl) == 19
    assert {"/", "/playground/", "/themes/"} <= set(stl)
    assert sum(path.startswith("/docs/") for path in stl) == 16
    assert not any("v0.2.1" in path for path in stl)


def test_pages_are_named_by_their_own_title(stl: dict[str, Page]) -> None:
    spanning = stl["/docs/stl-syntax/spanning/"]
    assert (spanning.title, spanning.h1) == ("Row & Col Spanning", "Row & Column Spanning")


def test_code_has_language_and_no_button_or_next_card_remains(stl: dict[str, Page]) -> None:
    svelte = stl["/docs/stl-renderer/svelte/"].markdown or ""
    assert "```bash\nnpx stl-cli add svelte\n```" in svelte
    assert "    const detail = event.detail;\n" in svelte
    assert not any("[](" in (row.markdown or "") for row in stl.values())
    assert "Toggle theme" not in "".join(row.markdown or "" for row in stl.values())

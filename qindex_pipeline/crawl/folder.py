"""A built site on disk as a web site: served on a loopback port while it is crawled."""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

from qindex_pipeline.errors import UsageError, WorkError

_PAGE_SUFFIXES = frozenset({".html", ".htm", ".xhtml"})


def seeds(folder: Path, site: str) -> list[str]:
    """The paths, relative to the site's root, with which a crawl of the folder begins.

    The root when it has an index page, else every page in sorted order. Raises UsageError
    when the folder does not exist, WorkError when it holds no page.
    """
    if not folder.is_dir():
        raise UsageError(f"site {site!r}: folder {folder} does not exist; check the path")
    if (folder / "index.html").is_file():
        return [""]
    pages = sorted(path.relative_to(folder).as_posix() for path in html_files(folder))
    if not pages:
        raise WorkError(
            f"site {site!r}: folder {folder} holds no HTML pages; build the site first, or name "
            "the folder that the build writes"
        )
    return [quote(page) for page in pages]


def html_files(folder: Path) -> list[Path]:
    """The HTML pages of a folder, in no order."""
    return [
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in _PAGE_SUFFIXES and path.is_file()
    ]


@contextmanager
def served(folder: Path) -> Generator[str]:
    """Serve `folder` on a free loopback port; yields the base URL, which ends in `/`."""
    handler = partial(_QuietHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


class _QuietHandler(SimpleHTTPRequestHandler):
    """Serves pages as static hosts do: no listings, `/page` is `page.html`."""

    def translate_path(self, path: str) -> str:
        found = super().translate_path(path)
        page = Path(found + ".html")
        return str(page) if page.is_file() and not Path(found).exists() else found

    def list_directory(self, path: Any) -> None:  # noqa: ARG002  the base's parameter
        self.send_error(HTTPStatus.NOT_FOUND)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  as in the base
        """Say nothing: a crawl reports through its own progress."""

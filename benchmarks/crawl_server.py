"""Serves a folder on loopback as static hosts do, in a process of its own.

    python crawl_server.py FOLDER

Prints its base URL and ends when its standard input does. `/page` is `page.html`, a folder is
its index page, nothing is listed.
"""

import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@contextmanager
def serving(folder: Path) -> Generator[str]:
    """Start the server as a process; yields its base URL, which ends in `/`."""
    command = [sys.executable, __file__, str(folder)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None and server.stdin is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.stdin.close()


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and body are two writes

    def translate_path(self, path: str) -> str:
        """`/page` is `page.html` where there is nothing of that name."""
        found = super().translate_path(path)
        page = Path(found + ".html")
        return str(page) if page.is_file() and not Path(found).exists() else found

    def list_directory(self, path: Any) -> None:  # noqa: ARG002  the base's parameter
        """A folder without an index page is not there."""
        self.send_error(HTTPStatus.NOT_FOUND)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  as in the base
        """Say nothing."""


def main() -> None:
    """Serve until standard input ends."""
    handler = partial(_Handler, directory=sys.argv[1])
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(f"http://127.0.0.1:{server.server_port}/", flush=True)
        sys.stdin.read()
        server.shutdown()


if __name__ == "__main__":
    main()

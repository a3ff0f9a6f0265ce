"""A web server for tests: routes in a dictionary, every request counted."""

import threading
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from qindex_pipeline.crawl import Page, crawl
from qindex_pipeline.sites import Site

HTML = "text/html; charset=utf-8"
NO_ROBOTS = 404


@dataclass(frozen=True)
class Reply:
    """What a path answers."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": HTML})


@dataclass
class Server:
    """A running server: its base URL without the slash, its routes, what was asked."""

    base: str
    routes: dict[str, Reply]
    asked: Counter[str] = field(default_factory=Counter)
    agents: set[str] = field(default_factory=set)


def page(text: str, *links: str, head: str = "", title: str = "T") -> Reply:
    """A page with a main element that holds a heading, a text and links."""
    anchors = "".join(f'<a href="{link}">to {link}</a> ' for link in links)
    html = (
        f"<!doctype html><html lang=en><head><title>{title}</title>{head}</head><body>"
        f"<nav>menu</nav><main><h1>{text} heading</h1><p>This is the text of {text} for readers."
        f"</p><p>{anchors}</p></main></body></html>"
    )
    return Reply(html.encode())


def redirect(location: str, status: int = 302) -> Reply:
    return Reply(status=status, headers={"Location": location})


@contextmanager
def serving(routes: dict[str, Reply], host: str = "127.0.0.1") -> Generator[Server]:
    """Serve `routes` on a free port of `host`; other paths are 404."""
    server = Server("", routes)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.asked[self.path] += 1
            server.agents.add(self.headers["User-Agent"])
            reply = server.routes.get(self.path, Reply(b"<h1>no</h1>", 404))
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  as in the base
            """Say nothing."""

    with ThreadingHTTPServer((host, 0), Handler) as http:
        server.base = f"http://{host}:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()


def crawled(server: Server, start: str = "/", **options: Any) -> dict[str, Page]:
    """Crawl the server; rows by path, in the order of asking."""
    known = options.pop("known_urls", ())
    site = Site(key="hostile", start_url=server.base + start, **options)
    pages = crawl(site, known_urls=known)
    return {row.url.removeprefix(server.base): row for row in pages}


def outcomes(rows: Mapping[str, Page]) -> dict[str, str]:
    return {path: str(row.outcome) for path, row in rows.items()}

"""A web server for tests: routes in a dictionary, every request counted."""

import threading
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from qindex_pipeline.crawl import Crawled, CrawlSettings, Page, crawl
from qindex_pipeline.sites import Site

HTML = "text/html; charset=utf-8"
NO_ROBOTS = 404


@dataclass(frozen=True)
class Reply:
    """What a path answers; `cut` bytes of the announced body are never sent."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": HTML})
    cut: int = 0


@dataclass(frozen=True)
class Asked:
    """A request: its path, its headers, and the how-manieth of this path it is, from 1."""

    path: str
    headers: Mapping[str, str]
    count: int


Route = Reply | Callable[[Asked], Reply]


@dataclass
class Server:
    """A running server: its base URL without the slash, its routes, what was asked."""

    base: str
    routes: dict[str, Route]
    asked: Counter[str] = field(default_factory=Counter)
    agents: set[str] = field(default_factory=set)
    requests: list[Asked] = field(default_factory=list)

    def forget(self) -> None:
        """Begin to count anew."""
        self.asked.clear()
        self.requests.clear()


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


def conditional(reply: Reply) -> Callable[[Asked], Reply]:
    """A route with an ETag that answers 304 to who has the page already."""
    etag = f'"{sha256(reply.body).hexdigest()[:16]}"'

    def answer(asked: Asked) -> Reply:
        headers = {**reply.headers, "ETag": etag}
        if asked.headers.get("If-None-Match") == etag:
            return Reply(status=304, headers={"ETag": etag})
        return Reply(reply.body, reply.status, headers)

    return answer


@contextmanager
def serving(routes: Mapping[str, Route], host: str = "127.0.0.1") -> Generator[Server]:
    """Serve `routes` on a free port of `host`; other paths are 404."""
    server = Server("", dict(routes))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.asked[self.path] += 1
            server.agents.add(self.headers["User-Agent"])
            asked = Asked(self.path, dict(self.headers), server.asked[self.path])
            server.requests.append(asked)
            route = server.routes.get(self.path, Reply(b"<h1>no</h1>", 404))
            self._answer(route if isinstance(route, Reply) else route(asked))

        def _answer(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.status != 304:
                self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body[: len(reply.body) - reply.cut])

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


def whole_crawl(
    server: Server,
    start: str = "/",
    *,
    last: Sequence[Page] = (),
    suspect_share: float = 0.5,
    html: Callable[[str], str | None] = lambda _: None,
    **options: Any,
) -> Crawled:
    """Crawl the server; `last` are the rows that an earlier crawl left."""
    site = Site(key="hostile", start_url=server.base + start, **options)
    rows = [asdict(row) for row in last]
    return crawl(site, last=rows, html=html, settings=CrawlSettings(suspect_share=suspect_share))


def crawled(server: Server, start: str = "/", **options: Any) -> dict[str, Page]:
    """Crawl the server; the rows of the new table by path, in the order of asking."""
    pages = whole_crawl(server, start, **options).settled.pages
    return {row.url.removeprefix(server.base): row for row in pages}


def outcomes(rows: Mapping[str, Page]) -> dict[str, str]:
    return {path: str(row.outcome) for path, row in rows.items()}

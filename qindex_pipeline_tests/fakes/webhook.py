"""An incoming webhook on loopback, as Slack, Mattermost and Teams have them."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Webhook:
    """An incoming webhook that answers with the given statuses, then with 200."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)
    bodies: list[dict[str, str]] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        """What was posted, oldest first."""
        return [body["text"] for body in self.bodies]


@contextmanager
def serving_webhook(key: str) -> Generator[Webhook]:
    """Serve a webhook whose address ends with `key`, on a free port."""
    made = Webhook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.headers["Content-Type"] == "application/json"
            made.bodies.append(json.loads(body))
            self.send_response(made.statuses.pop(0) if made.statuses else 200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made.url = f"http://127.0.0.1:{server.server_port}/hooks/{key}"
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield made
        server.shutdown()

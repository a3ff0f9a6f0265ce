"""Qdrant's REST protocol, as qdrant-client 1.20 speaks it with `prefer_grpc=False`.

The key, error JSON, and a journal with which a restarted process goes on. What the calls do is
in `qdrant_store` and `qdrant_points`.
"""

import json
import os
import re
import threading
import time
from pathlib import Path
from typing import Any, Self

from qindex_pipeline_tests.fakes import qdrant_points as points
from qindex_pipeline_tests.fakes.loopback import LoopbackServer, RefusedError, Reply, Request
from qindex_pipeline_tests.fakes.qdrant_routes import Route, find
from qindex_pipeline_tests.fakes.qdrant_store import QdrantStore
from qindex_pipeline_tests.fakes.standalone import arguments, run_until_stopped

VERSION = "1.20.0"
MAX_REQUEST_BYTES = 32 * 1024 * 1024
"""The server's default `max_request_size_mb`."""
DIED = 70
"""Exit code of a process that `die_after_upserts` ended."""

_OPEN_PATHS = ("/", "/healthz", "/livez", "/readyz")
"""Paths that the server answers without a key."""


class QdrantServer(LoopbackServer):
    """`url` is what QdrantClient(url=...) takes. Collections end with the `with` block.

    With `persist_path`, each write is appended there before it is acknowledged, and a server
    that starts on the file repeats them. `die_after_upserts=N` ends the process after the Nth
    upsert is applied and before its answer: the client can't know that it was.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        api_key: str | None = None,
        persist_path: Path | None = None,
        die_after_upserts: int | None = None,
    ) -> None:
        super().__init__(port=port)
        self.api_key = api_key
        self._journal = persist_path
        self._upserts_to_live = die_after_upserts
        self._operation_id = 0
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._store = QdrantStore()
        if self._journal is not None and self._journal.exists():
            self._replay(self._journal)
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._store.close()

    @property
    def writes(self) -> list[tuple[str, str]]:
        """Method and path of each call that changes something, in order of arrival."""
        return [
            (request.method, request.path)
            for request in self.requests
            if (found := find(request.method, request.path)) and found[0].writes
        ]

    def failure(self, status: int, message: str) -> object:
        """Qdrant's error envelope; a refused key gets plain text."""
        if status in (401, 403):
            return message
        return {"status": {"error": message}, "time": 0.0}

    def answer(self, request: Request) -> Reply:
        """Whatever is in the table of routes."""
        if request.path == "/":
            title = "qdrant - vector search engine"
            return Reply({"title": title, "version": VERSION, "commit": None})
        if request.path in _OPEN_PATHS:
            return Reply(f"{request.path[1:-1]} check passed")
        self._check(request)
        found = find(request.method, request.path)
        if found is None:
            raise RefusedError(404, f"no route {request.method} {request.path}")
        route, names = found
        started = time.perf_counter()
        with self._lock:
            result = self._apply(route, names, request.body)
            if route.writes:
                self._remember(request)
                result = self._acknowledged(route, request, result)
        elapsed = time.perf_counter() - started
        return Reply({"result": result, "status": "ok", "time": elapsed})

    def _check(self, request: Request) -> None:
        sent = request.headers.get("api-key") or request.headers.get("authorization")
        if self.api_key is not None and sent is None:
            raise RefusedError(401, "Must provide an API key or an Authorization bearer token")
        if self.api_key is not None and sent not in (self.api_key, f"Bearer {self.api_key}"):
            raise RefusedError(401, "Invalid API key or JWT")
        if request.size > MAX_REQUEST_BYTES:
            limit = f"(limit: {MAX_REQUEST_BYTES} bytes)"
            raise RefusedError(
                413, f"JSON payload ({request.size} bytes) is larger than allowed {limit}."
            )

    def _apply(self, route: Route, names: dict[str, str], body: Any) -> object:
        try:
            return route.operation(
                self._store, names.get("name", ""), names.get("field") or body or {}
            )
        except ValueError as error:
            raise _refusal(str(error)) from error

    def _acknowledged(self, route: Route, request: Request, result: object) -> object:
        """Writes to points and indexes answer with an operation; the others with a verdict."""
        if route.operation is points.upsert and self._upserts_to_live is not None:
            self._upserts_to_live -= 1
            if self._upserts_to_live == 0:
                os._exit(DIED)
        if result != {}:
            return result
        self._operation_id += 1
        waited = request.query.get("wait") == "true"
        status = "completed" if waited else "acknowledged"
        return {"operation_id": self._operation_id, "status": status}

    def _remember(self, request: Request) -> None:
        if self._journal is None:
            return
        with self._journal.open("a", encoding="utf-8") as journal:
            journal.write(json.dumps([request.method, request.path, request.body]) + "\n")

    def _replay(self, journal: Path) -> None:
        """Repeat the writes; one that a kill tore off was never acknowledged and goes."""
        text = journal.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        journal.write_text(whole, encoding="utf-8")
        for line in whole.splitlines():
            method, path, body = json.loads(line)
            found = find(method, path)
            assert found is not None
            self._apply(*found, body)


def _refusal(message: str) -> RefusedError:
    """Status and words of the server for what local mode says."""
    missing = re.fullmatch(r"Collection (.+) not found", message)
    if missing:
        return RefusedError(404, f"Not found: Collection `{missing[1]}` doesn't exist!")
    status = 409 if "already exists" in message else 400
    return RefusedError(status, f"Wrong input: {message.removeprefix('Wrong input: ')}")


def _main() -> None:
    parser = arguments("qdrant_server")
    parser.add_argument("--api-key")
    parser.add_argument("--persist", type=Path)
    parser.add_argument("--die-after-upserts", type=int)
    given = parser.parse_args()
    run_until_stopped(
        QdrantServer(
            port=given.port,
            api_key=given.api_key,
            persist_path=given.persist,
            die_after_upserts=given.die_after_upserts,
        )
    )


if __name__ == "__main__":
    _main()

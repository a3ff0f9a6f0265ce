"""HTTP/1.1 on 127.0.0.1: requests in, replies out, a stop that leaves no thread behind."""

import email
import email.policy
import json
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic_core import to_json

from qindex_pipeline_tests.fakes.streaming import EventStream

NOT_JSON = object()
"""Body of a request whose bytes are no JSON."""


@dataclass(frozen=True)
class Request:
    """One request as received: header names in lower case, a JSON body or a form decoded."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any
    size: int
    """Bytes of the body."""


@dataclass(frozen=True)
class Reply:
    """One response. A `str` body goes out as plain text, an `EventStream` event by event.

    Anything else goes out as JSON.
    """

    body: object
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    """Whether the connection ends in the middle of the body."""


class Listener(ThreadingHTTPServer):
    """Passes each request to `handle`, in a thread of its connection."""

    daemon_threads = False  # server_close then waits for the thread of each connection
    request_queue_size = 64

    def __init__(self, port: int, handle: Callable[[Request], Reply]) -> None:
        self.handle_call = handle
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End kept-alive connections, on which a handler would wait for ever."""
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # the client was quicker

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news; the default prints a traceback."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave in one packet: two would wait for a delayed ACK

    def _respond(self) -> None:
        assert isinstance(self.server, Listener)
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        target = urlsplit(self.path)
        self._send(
            self.server.handle_call(
                Request(
                    method=self.command,
                    path=unquote(target.path),
                    query=dict(parse_qsl(target.query)),
                    headers={name.lower(): value for name, value in self.headers.items()},
                    body=_decoded(raw, self.headers.get("content-type", "")),
                    size=len(raw),
                )
            )
        )

    # The base class finds a method by these names.
    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _respond  # noqa: N815

    def _send(self, reply: Reply) -> None:
        if isinstance(reply.body, EventStream):
            self._send_events(reply.body, reply.headers)
            return
        text = isinstance(reply.body, str)
        raw = reply.body.encode() if isinstance(reply.body, str) else to_json(reply.body)
        self.send_response(reply.status)
        self.send_header("content-type", "text/plain" if text else "application/json")
        self.send_header("content-length", str(len(raw)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw[: len(raw) // 2] if reply.cut else raw)
        self.close_connection = self.close_connection or reply.cut

    def _send_events(self, stream: EventStream, headers: Mapping[str, str]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        for event in stream.events:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
            self.wfile.flush()
        if stream.whole:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        """No output: the tests read `requests`."""


def _decoded(raw: bytes, content_type: str) -> Any:
    if content_type.startswith("multipart/form-data"):
        return _form(raw, content_type)
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return NOT_JSON


def _form(raw: bytes, content_type: str) -> dict[str, str]:
    """The fields of a form by name; of a file, its text."""
    head = f"Content-Type: {content_type}\r\n\r\n".encode()
    message = email.message_from_bytes(head + raw, policy=email.policy.HTTP)
    return {
        str(part.get_param("name", header="content-disposition")): part.get_payload(
            decode=True
        ).decode()
        for part in message.iter_parts()
    }

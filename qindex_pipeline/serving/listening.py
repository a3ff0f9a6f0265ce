"""Listening on an address until the process is told to end."""

import errno
import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from qindex_pipeline.errors import WorkError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

GRACE_SECONDS = 3
"""What replies that are under way are given to end."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 takes any free one.

    Raises WorkError when the address is taken or no address of this machine.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        reason = "it is taken" if error.errno == errno.EADDRINUSE else error.strerror
        raise WorkError(
            f"cannot listen on {host}, port {port} ({reason}): give another --port or --host"
        ) from error


def url_of(listening: socket.socket) -> str:
    """The address that a browser on this machine opens."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


@contextmanager
def until_told() -> Generator[None]:
    """A block that Ctrl-C or SIGTERM ends, as its end and no failure."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


def serve(app: "ASGIApp", listening: socket.socket) -> None:
    """Serve `app`; a signal lets replies under way end, and is then raised again."""
    import uvicorn

    config = uvicorn.Config(
        app,
        # Named, so that an installation with faster ones runs what is tested.
        http="h11",
        loop="asyncio",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    with listening:
        uvicorn.Server(config).run(sockets=[listening])

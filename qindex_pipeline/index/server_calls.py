"""Calls to a Qdrant server: the client, which failures are tried again, and what people read."""

import time
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

import grpc
from qdrant_client import QdrantClient
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException

from qindex_pipeline.errors import TransientError, UsageError, WorkError
from qindex_pipeline.settings import Settings

P = ParamSpec("P")
T = TypeVar("T")

SERVER_ERRORS = (ApiException, QdrantException, grpc.RpcError)
"""What qdrant-client raises for a call that the server refused or never answered."""

TRANSIENT = {429, 500, 502, 503, 504}
TRANSIENT_GRPC = {
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.UNAVAILABLE,
}
REFUSED_KEY = {401, 403, grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED}
CONFLICT = {409, grpc.StatusCode.ALREADY_EXISTS}


@dataclass(frozen=True)
class Retry:
    """Tries a call again that may be made twice: a read, an upsert, a deletion by id.

    A call whose answer was lost may have been carried out. That is why an alias switch, after
    which the same call would mean something else, is never given to this.
    """

    retries: int = 3
    pause: float = 0.5
    """Seconds before the first retry, doubled for each further one."""

    def __call__(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Make the call; the last failure is raised as it came."""
        for attempt in range(self.retries):
            try:
                return call(*args, **kwargs)
            except SERVER_ERRORS as error:
                if not is_transient(error):
                    raise
                wanted = getattr(error, "retry_after_s", 0)
            time.sleep(max(self.pause * 2**attempt, wanted))
        return call(*args, **kwargs)


def is_transient(error: Exception) -> bool:
    """Whether the same call may succeed a moment later."""
    if isinstance(error, ResponseHandlingException | ResourceExhaustedResponse):
        return True  # no answer within the time-out, or the server's rate limit
    return status_of(error) in TRANSIENT | TRANSIENT_GRPC


def is_conflict(error: Exception) -> bool:
    """Whether what was to be created is there already: another run was quicker."""
    return status_of(error) in CONFLICT


def status_of(error: Exception) -> int | grpc.StatusCode | None:
    """The HTTP or gRPC status of a failed call."""
    if isinstance(error, grpc.RpcError):
        # An error of a call is a grpc.Call too; the library's types do not say so.
        return getattr(error, "code", lambda: None)()
    return getattr(error, "status_code", None)


def open_client(settings: Settings) -> QdrantClient:
    """A client for QDRANT_URL. Raises WorkError naming the address when it does not answer."""
    key = settings.qdrant_api_key
    with server_errors(settings.qdrant_url), warnings.catch_warnings():
        # Inside a private network (the compose file's) plain HTTP is meant.
        warnings.filterwarnings("ignore", message="Api key is used with an insecure connection")
        try:
            client = QdrantClient(
                url=settings.qdrant_url,
                api_key=key.get_secret_value() if key else None,
                prefer_grpc=settings.qdrant_transport == "grpc",
                grpc_port=settings.qdrant_grpc_port,
                timeout=settings.qdrant_timeout,
                check_compatibility=False,
            )
            client.get_collections()
        except ValueError:
            raise UsageError(
                f"QDRANT_URL={settings.qdrant_url!r} is not an address: it looks like "
                "http://127.0.0.1:6333"
            ) from None
    return client


@contextmanager
def server_errors(what: str | None) -> Generator[None]:
    """Turn a failed call into a WorkError of one line that names `what` it was about."""
    try:
        yield
    except SERVER_ERRORS as error:
        if status_of(error) in REFUSED_KEY:
            raise WorkError(f"Qdrant refused the key for {what}: check QDRANT_API_KEY") from error
        kind = TransientError if is_transient(error) else WorkError
        raise kind(
            f"Qdrant ({what}): {_first_line(error)[:200]}; is QDRANT_URL right and the server up?"
        ) from error


def _first_line(error: Exception) -> str:
    text = error.details() if isinstance(error, grpc.Call) else str(error)
    lines = (text or "").splitlines()
    return lines[0] if lines else type(error).__name__

"""Qdrant's gRPC port, as far as a client shows how it was set up: calls, key, and a status.

It answers each call with an empty message, or with the status it is told. What the calls do is
the business of the REST fake.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import grpc
from qdrant_client import grpc as messages

_REPLIES = {
    "/qdrant.Collections/List": messages.ListCollectionsResponse,
    "/qdrant.Collections/ListAliases": messages.ListAliasesResponse,
}


class QdrantGrpcServer(grpc.GenericRpcHandler):
    """`port` is known inside the `with` block; `calls` are method and API key, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str | None]] = []
        self.failures: list[grpc.StatusCode] = []
        """Statuses of the next answers."""

    def service(self, handler_call_details: Any) -> Any:
        """One handler for every method."""
        method = handler_call_details.method
        metadata = dict(handler_call_details.invocation_metadata)

        def answer(_: bytes, context: Any) -> bytes:
            self.calls.append((method, metadata.get("api-key")))
            if self.failures:
                context.abort(self.failures.pop(0), "queued failure\nof two lines")
            return _REPLIES[method]().SerializeToString()

        return grpc.unary_unary_rpc_method_handler(answer)

    def __enter__(self) -> Self:
        self._server = grpc.server(ThreadPoolExecutor(max_workers=2))
        self._server.add_generic_rpc_handlers((self,))
        self.port = self._server.add_insecure_port("127.0.0.1:0")
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop(grace=None).wait()

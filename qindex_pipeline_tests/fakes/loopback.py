"""What every fake shares: a server in a thread of this process, its faults and its records.

A fake subclasses `LoopbackServer` and gives `answer` (its protocol) and `failure` (its error
JSON).
"""

import threading
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

from qindex_pipeline_tests.fakes.listener import NOT_JSON, Listener, Reply, Request
from qindex_pipeline_tests.fakes.streaming import Said

__all__ = ["LoopbackServer", "RefusedError", "Reply", "Request"]


class RefusedError(Exception):
    """Raised inside `answer`: becomes the provider's error JSON with this status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass
class _Fault:
    times: int
    path: str
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    reply: Reply | None = None
    cut: bool = False
    seconds: float = 0.0


class LoopbackServer:
    """A server that a `with` block starts and stops; port 0 means any free port."""

    def __init__(self, *, port: int = 0) -> None:
        self.port = port
        self.requests: list[Request] = []
        self.delay = 0.0
        """Seconds before each answer."""
        self.peak_in_flight = 0
        """The most requests that were waiting for an answer at one time."""
        self.break_after: int | None = None
        """Events after which a stream's connection ends; None: it goes on to its end."""
        self._in_flight = 0
        self._said: list[Said] = []
        self._proposed: list[Said] = []
        self._faults: list[_Fault] = []
        self._guard = threading.Lock()
        self._stopping = threading.Event()

    @property
    def url(self) -> str:
        """Address without a path; known once the server runs."""
        return f"http://127.0.0.1:{self.port}"

    def answer(self, request: Request) -> Reply:
        """Speak the protocol; called from several threads at once."""
        raise NotImplementedError

    def failure(self, status: int, message: str) -> object:
        """Body of an error in the provider's own words."""
        raise NotImplementedError

    def fail_next(
        self,
        status: int,
        *,
        headers: Mapping[str, str] | None = None,
        times: int = 1,
        path: str = "",
    ) -> None:
        """Answer the next `times` requests whose path contains `path` with `status`.

        `/` never fails: it is the probe for a server being there, not a call.
        """
        self._queue(_Fault(times, path, status, headers or {}))

    def cut_next(self, *, times: int = 1, path: str = "") -> None:
        """End the connection in the middle of the next `times` answers."""
        self._queue(_Fault(times, path, cut=True))

    def slow_next(self, seconds: float, *, times: int = 1, path: str = "") -> None:
        """Answer the next `times` requests only after `seconds`."""
        self._queue(_Fault(times, path, seconds=seconds))

    def reply_next(self, reply: Reply, *, times: int = 1, path: str = "") -> None:
        """Answer the next `times` requests with this, whatever they ask."""
        self._queue(_Fault(times, path, reply=reply))

    def say(self, text: str = "", **values: str) -> None:
        """Let the model's next plain answer be this; `values` are those of `Said`."""
        self._said.append(Said(text, **values))

    def take_said(self, text: str) -> Said:
        """What the model says next: what a test asked for, else `text`."""
        with self._guard:
            return self._said.pop(0) if self._said else Said(text)

    def propose(self, text: str = "", **values: str) -> None:
        """Let this be what the model answers when it is next asked for questions."""
        self._proposed.append(Said(text, **values))

    def take_proposed(self) -> Said | None:
        """What a test asked for as the next answer with questions, None for an ordinary one."""
        with self._guard:
            return self._proposed.pop(0) if self._proposed else None

    def heal(self) -> None:
        """Forget what was asked, and every fault and answer that a test has queued."""
        with self._guard:
            for queue in (self.requests, self._faults, self._said, self._proposed):
                queue.clear()

    def handle(self, request: Request) -> Reply:
        """Record, wait, then fail or answer."""
        with self._guard:
            self.requests.append(request)
            self._in_flight += 1
            self.peak_in_flight = max(self.peak_in_flight, self._in_flight)
            fault = self._take_fault(request.path)
        try:
            self._stopping.wait(self.delay + (fault.seconds if fault else 0))
            if fault is not None and (reply := self._failing(fault)):
                return reply
            if request.body is NOT_JSON:
                raise RefusedError(400, "the body is not JSON")
            return replace(self.answer(request), cut=fault is not None and fault.cut)
        except RefusedError as refused:
            return Reply(self.failure(refused.status, refused.message), refused.status)
        except Exception:  # as a real server would: a bug in the fake shows at the client as 500
            return Reply(self.failure(500, traceback.format_exc()), 500)
        finally:
            with self._guard:
                self._in_flight -= 1

    def _failing(self, fault: _Fault) -> Reply | None:
        if fault.status is None:
            return fault.reply
        body = self.failure(fault.status, f"queued failure {fault.status}")
        return Reply(body, fault.status, fault.headers)

    def _queue(self, fault: _Fault) -> None:
        with self._guard:
            self._faults.append(fault)

    def _take_fault(self, path: str) -> _Fault | None:
        for fault in self._faults:
            if path != "/" and fault.path in path:
                fault.times -= 1
                if fault.times == 0:
                    self._faults.remove(fault)
                return fault
        return None

    def __enter__(self) -> Self:
        self._stopping.clear()
        self._listener = Listener(self.port, self.handle)
        self.port = self._listener.server_address[1]
        self._thread = threading.Thread(
            target=self._listener.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopping.set()
        self._listener.shutdown()
        self._listener.hang_up()
        self._listener.server_close()
        self._thread.join()

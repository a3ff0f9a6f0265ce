"""Work that blocks, done beside an event loop: a bounded number of threads, each for one caller."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from qindex_pipeline.errors import TransientError

T = TypeVar("T")


class BusyError(TransientError):
    """So many callers wait already that a further one is sent away."""


@dataclass(frozen=True)
class _Ended:
    """The end of a thread's work, and what it raised."""

    error: Exception | None


class Threads:
    """At most `running` threads at work, and at most `waiting` callers that wait for one.

    They are daemons: a provider that takes minutes must not hold up the end of the process.
    """

    def __init__(self, running: int, waiting: int, seconds: float) -> None:
        """Start none yet; `seconds` is how long a caller waits for the end of its work."""
        self._slots = asyncio.Semaphore(running)
        self._most, self._seconds = running + waiting, seconds
        self._callers = 0
        self._alive: set[threading.Thread] = set()

    async def run(self, work: Callable[[], Iterable[T]]) -> AsyncGenerator[T]:
        """What `work` yields, item by item as it comes; what it raises is raised here.

        Closing the generator early tells the thread to stop at its next item. A thread that works
        on after its caller has gone keeps its place until it ends, so that the bound holds.

        Raises:
            BusyError: Too many wait already.
            TransientError: The work took too long.
        """
        if self._callers >= self._most:
            raise BusyError("too many questions at once: ask again in a moment")
        self._callers += 1
        stopped = threading.Event()
        items: asyncio.Queue[T | _Ended] = asyncio.Queue()
        deadline = asyncio.get_running_loop().time() + self._seconds
        try:
            async with asyncio.timeout_at(deadline):
                await self._slots.acquire()
            self._start(work, items, stopped)
            while True:
                async with asyncio.timeout_at(deadline):
                    item = await items.get()
                if isinstance(item, _Ended):
                    break
                yield item
        except TimeoutError:
            raise TransientError(
                f"there was no answer within {self._seconds:.0f} seconds: ask again later"
            ) from None
        finally:
            self._callers -= 1
            stopped.set()
        if item.error is not None:
            raise item.error

    def wait(self, seconds: float) -> None:
        """Give the threads at work so many seconds to end; for the end of the process."""
        until = time.monotonic() + seconds
        for thread in tuple(self._alive):
            thread.join(max(0.0, until - time.monotonic()))

    def _start(
        self,
        work: Callable[[], Iterable[T]],
        items: "asyncio.Queue[T | _Ended]",
        stopped: threading.Event,
    ) -> None:
        loop = asyncio.get_running_loop()

        def tell(call: Callable[..., Any], *values: Any) -> None:
            with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                loop.call_soon_threadsafe(call, *values)

        def target() -> None:
            error = None
            try:
                for item in work():
                    if stopped.is_set():
                        break
                    tell(items.put_nowait, item)
            except Exception as raised:  # whatever it is, it is raised where it is waited for
                error = raised
            tell(items.put_nowait, _Ended(error))
            tell(self._ended, thread)

        thread = threading.Thread(target=target, name="asking", daemon=True)
        self._alive.add(thread)
        thread.start()

    def _ended(self, thread: threading.Thread) -> None:
        self._alive.discard(thread)
        self._slots.release()

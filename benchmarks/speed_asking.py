"""Asking one question after another, and where the time of each goes."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import psutil

PATIENCE, WARM_UP = 90.0, 30.0
"""Seconds after which no further question is asked: a peer takes that long for twenty."""


class Clock:
    """Adds up the time of the calls that it wraps."""

    def __init__(self) -> None:
        """Nothing was called yet."""
        self.seconds = self.cpu_seconds = 0.0

    def wrap(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """`call`, timed."""

        def timed(*args: Any, **kwargs: Any) -> Any:
            started, cpu = time.perf_counter(), time.process_time()
            try:
                return call(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - started
                self.cpu_seconds += time.process_time() - cpu

        return timed

    def take(self) -> tuple[float, float]:
        """Wall and CPU seconds since the last taking."""
        taken = self.seconds, self.cpu_seconds
        self.seconds = self.cpu_seconds = 0.0
        return taken


def asked(
    questions: Sequence[str],
    ask: Callable[[str], Sequence[str]],
    embed: Clock,
    search: Clock,
) -> dict[str, Any]:
    """Ask all twice and count the second time: an application holds its index open for days.

    The first round loads the model and touches the memory that holds what is near to the questions.

    Returns:
        Seconds of each question in all, for embedding and for searching, CPU seconds of all but
        embedding, the first three ids that each got, and memory now in 10^6 bytes.
    """
    figures: dict[str, Any] = {"ask": [], "embed": [], "search": [], "cpu": [], "top": []}
    started = time.perf_counter()
    for question in questions:
        ask(question)
        if time.perf_counter() - started > WARM_UP:
            break
    embed.take()
    search.take()
    started = time.perf_counter()
    for question in questions:
        before, cpu = time.perf_counter(), time.process_time()
        top = ask(question)
        figures["ask"].append(time.perf_counter() - before)
        cpu = time.process_time() - cpu
        embedding, embedding_cpu = embed.take()
        figures["embed"].append(embedding)
        figures["search"].append(search.take()[0])
        figures["cpu"].append(cpu - embedding_cpu)
        figures["top"].append(list(top)[:3])
        if time.perf_counter() - started > PATIENCE:
            break
    figures["memory"] = psutil.Process().memory_info().rss / 1e6
    return figures

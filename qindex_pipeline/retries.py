"""Which failed steps are tried again: those of a run that nobody watches, when it may heal.

A service that did not answer may be back in some minutes. A wrong setting, a refused key or a
closed gate stay what they are, and a person at a terminal is told at once.
"""

import functools
import inspect
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import dagster as dg

from qindex_pipeline.errors import TransientError

PAUSES = (60, 300)
"""Seconds before each further attempt. The clients' own retries span the first half minute."""


def retried(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Let the step of an asset or check try again after a `TransientError` of `compute`."""

    @functools.wraps(compute)
    def steps(*args: Any, **kwargs: Any) -> Generator[Any]:
        with _healing():
            yield from compute(*args, **kwargs)

    @functools.wraps(compute)
    def step(*args: Any, **kwargs: Any) -> Any:
        with _healing():
            return compute(*args, **kwargs)

    return steps if inspect.isgeneratorfunction(compute) else step


@contextmanager
def _healing() -> Generator[None]:
    try:
        yield
    except TransientError as error:
        context = dg.OpExecutionContext.get()
        if not is_unattended(context.run):
            raise
        pause = PAUSES[min(context.retry_number, len(PAUSES) - 1)]
        raise dg.RetryRequested(max_retries=len(PAUSES), seconds_to_wait=pause) from error


def is_unattended(run: dg.DagsterRun) -> bool:
    """Whether a daemon or the UI launched the run, rather than a command at a terminal."""
    return run.remote_job_origin is not None

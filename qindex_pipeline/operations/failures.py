"""Why a run failed, in the words of whoever raised it."""

from collections.abc import Iterable

import dagster as dg


def reason(events: Iterable[dg.DagsterEvent]) -> str | None:
    """The first line of the first error of a run's `events`; None when no event holds one.

    Dagster wraps what a stage raised; what raised that is for its log.
    """
    for event in events:
        error = getattr(event.event_specific_data, "error", None)
        if error is None:
            continue
        while error.cls_name.startswith(("Dagster", "RetryRequested")) and error.cause is not None:
            error = error.cause
        lines = [line for line in error.message.splitlines() if line.strip()]
        if lines:
            return lines[0].partition(": ")[2] or lines[0]
    return None

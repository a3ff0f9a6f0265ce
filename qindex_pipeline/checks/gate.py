"""How a check keeps what is broken from being written, and how one only warns.

Checks are evaluated inside the asset that they belong to. Dagster stores an asset's value before
it looks at a blocking check's result, so a check that must keep the last good table passes
through `gate` before the value is handed over.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import dagster as dg


def gate(result: dg.AssetCheckResult) -> Iterator[dg.AssetCheckResult]:
    """Record a check's result, and end the step when it failed: what was written stands."""
    yield result
    if not result.passed:
        raise dg.Failure(result.description, allow_retries=False)


def warning(
    spec: dg.AssetCheckSpec, problem: str | None, metadata: Mapping[str, Any] | None = None
) -> dg.AssetCheckResult:
    """A check that warns of `problem` and blocks nothing; None: there is none."""
    return dg.AssetCheckResult(
        passed=problem is None,
        check_name=spec.name,
        asset_key=spec.asset_key,
        severity=dg.AssetCheckSeverity.WARN,
        description=problem,
        metadata=metadata,
    )

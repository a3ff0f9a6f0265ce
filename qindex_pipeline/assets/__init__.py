"""The Dagster assets, one module each: sentences around the stages' functions."""

from collections.abc import Callable, Sequence
from typing import Any

import dagster as dg
import pandas as pd

from qindex_pipeline.retries import retried

OWNERS = ["team:docs"]

FRAME = dg.PythonObjectDagsterType(
    pd.DataFrame, name="DataFrame", description="Rows with Arrow dtypes, held against a schema."
)
"""What travels between assets. Stated on each asset: from `-> MaterializeResult` alone Dagster
infers that there is no value, and a parametrised result it refuses beside inline checks."""


def table_asset(
    sites: dg.StaticPartitionsDefinition,
    group: str,
    kinds: set[str],
    checks: Sequence[dg.AssetCheckSpec] = (),
    pool: str | None = None,
    deps: Sequence[str] = (),
) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    """The decorator of an asset that is one table: a Parquet file for each of `sites`.

    Args:
        sites: The partitions.
        group: Where the UI shows it.
        kinds: What it is made with.
        checks: What it yields beside its rows.
        pool: What its runs share: the instance limits how many of them are in it at once.
        deps: Assets that it depends on, and does not take as parameters.
    """
    asset = dg.asset(
        partitions_def=sites,
        dagster_type=FRAME,
        io_manager_key="parquet",
        group_name=group,
        kinds=kinds | {"parquet"},
        owners=OWNERS,
        check_specs=checks,
        pool=pool,
        deps=deps,
    )
    return lambda compute: asset(retried(compute))

"""The six Dagster assets, one module each: sentences around the stages' functions."""

import dagster as dg
import pandas as pd

FRAME = dg.PythonObjectDagsterType(
    pd.DataFrame, name="DataFrame", description="Rows with Arrow dtypes, held against a schema."
)
"""What travels between assets. Stated on each asset: from `-> MaterializeResult` alone Dagster
infers that there is no value, and a parametrised result it refuses beside inline checks."""

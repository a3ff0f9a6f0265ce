"""The code location that Dagster loads."""

from qindex_pipeline.build import build_definitions
from qindex_pipeline.settings import Settings

defs = build_definitions(Settings.from_env())

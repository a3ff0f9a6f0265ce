"""All wiring: assets, checks, the job, the schedule and their resources."""

from collections.abc import Mapping

import dagster as dg

from qindex_pipeline.assets import (
    candidate_questions,
    chunks,
    embeddings,
    grounded_questions,
    question_index,
    raw_pages,
)
from qindex_pipeline.jobs import site_refresh
from qindex_pipeline.progress import Progress
from qindex_pipeline.resources import ParquetIOManager, pipeline_resource
from qindex_pipeline.schedules import nightly_schedule
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site, load_sites

STAGES = (raw_pages, chunks, candidate_questions, grounded_questions, embeddings, question_index)


def build_definitions(
    settings: Settings,
    *,
    sites: Mapping[str, Site] | None = None,
    progress: Progress | None = None,
) -> dg.Definitions:
    """Everything that Dagster serves, for the sites of the sites file.

    Args:
        settings: Read once, by the caller.
        sites: Other sites than the file's (an ingest of a new site).
        progress: Who listens to the stages; None writes to the runs' logs.

    Raises:
        UsageError: The sites file is malformed.
    """
    if sites is None:
        sites = load_sites(settings.sites)
    partitions = dg.StaticPartitionsDefinition(list(sites))
    return dg.Definitions(
        assets=[stage.build(partitions) for stage in STAGES],
        jobs=[site_refresh],
        schedules=[nightly_schedule(list(sites), settings.schedule)],
        resources={
            "pipeline": pipeline_resource(settings, sites, progress),
            "parquet": ParquetIOManager(root=settings.data),
        },
        executor=dg.in_process_executor,
    )

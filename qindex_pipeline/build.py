"""All wiring: assets, checks, jobs, schedules, sensors and their resources."""

from collections.abc import Mapping

import dagster as dg

from qindex_pipeline.assets import (
    candidate_questions,
    change_report,
    chunks,
    documentation_gaps,
    embeddings,
    evaluation,
    grounded_questions,
    question_index,
    raw_pages,
)
from qindex_pipeline.assets.collection import collection
from qindex_pipeline.jobs import gap_report, index_audit, site_refresh, site_watch
from qindex_pipeline.operations.monitoring import (
    build_every_site_is_fresh,
    build_index_in_step,
    no_site_is_orphaned,
)
from qindex_pipeline.operations.sensors import alert_sensors
from qindex_pipeline.progress import Progress
from qindex_pipeline.resources import ParquetIOManager, pipeline_resource
from qindex_pipeline.schedules import (
    daily_watch,
    nightly_schedule,
    site_crons,
    weekly_audit,
    weekly_gaps,
)
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site, load_sites

STAGES = (
    raw_pages,
    chunks,
    candidate_questions,
    grounded_questions,
    embeddings,
    evaluation,
    question_index,
    change_report,
    documentation_gaps,
)


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
        assets=[*(stage.build(partitions) for stage in STAGES), collection],
        asset_checks=[
            build_index_in_step(partitions),
            build_every_site_is_fresh(site_crons(settings, sites)),
            no_site_is_orphaned,
        ],
        jobs=[site_refresh, index_audit, site_watch, gap_report],
        schedules=[
            nightly_schedule(settings, sites),
            weekly_audit(sites),
            daily_watch,
            weekly_gaps(settings, sites),
        ],
        sensors=alert_sensors(settings, sites),
        resources={
            "pipeline": pipeline_resource(settings, sites, progress),
            "parquet": ParquetIOManager(root=settings.data),
        },
        executor=dg.in_process_executor,
    )

"""Bring one site up to date, through Dagster, in this process; and tell what it took."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import dagster as dg

from qindex_pipeline.build import build_definitions
from qindex_pipeline.errors import WorkError
from qindex_pipeline.jobs import SITE_REFRESH
from qindex_pipeline.operations.failures import reason
from qindex_pipeline.progress import Progress
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site, add_site, load_sites

Numbers = Mapping[str, Any]
"""Metadata of one asset's materialisation: name to plain value."""


@dataclass(frozen=True)
class Ingested:
    """What a run did: each asset's metadata by asset name, and the seconds it took."""

    site: str
    is_new: bool
    seconds: float
    assets: Mapping[str, Numbers] = field(default_factory=dict[str, Numbers])


def ingest(settings: Settings, site: Site, progress: Progress) -> Ingested:
    """Run the whole chain for `site`; a new site enters the sites file after a good crawl.

    Raises:
        WorkError: A stage failed or a check blocked; the text is the stage's own. What earlier
            runs published stands.
    """
    # Read by Dagster when a run starts; a CLI run is nobody's statistics.
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "yes")
    started = time.monotonic()
    known = load_sites(settings.sites)
    definitions = build_definitions(settings, sites={**known, site.key: site}, progress=progress)
    job = definitions.resolve_job_def(SITE_REFRESH)
    with _instance() as instance:
        result = job.execute_in_process(
            partition_key=site.key,
            instance=instance,
            raise_on_error=False,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )
    assets = _numbers(result)
    if "raw_pages" in assets and known.get(site.key) != site:
        add_site(settings.sites, site)
    if not result.success:
        raise _failure(result)
    return Ingested(
        site=site.key,
        is_new=site.key not in known,
        seconds=round(time.monotonic() - started, 1),
        assets=assets,
    )


def _instance() -> dg.DagsterInstance:
    """The user's instance where DAGSTER_HOME names one, so that the UI shows the run."""
    return dg.DagsterInstance.get() if os.getenv("DAGSTER_HOME") else dg.DagsterInstance.ephemeral()


def _numbers(result: dg.ExecuteInProcessResult) -> dict[str, Numbers]:
    found: dict[str, Numbers] = {}
    for event in result.get_asset_materialization_events():
        materialization = event.step_materialization_data.materialization
        values = {name: value.value for name, value in materialization.metadata.items()}
        found[materialization.asset_key.path[-1]] = values
    return found


def _failure(result: dg.ExecuteInProcessResult) -> WorkError:
    """What a person needs in one line: a failed check's description, else what was raised."""
    for check in result.get_asset_check_evaluations():
        is_error = not check.passed and check.severity is dg.AssetCheckSeverity.ERROR
        if is_error and check.description:
            return WorkError(check.description)
    return WorkError(
        reason(result.all_events)
        or "the run failed and gave no reason; start it in `dagster dev`, read its log"
    )

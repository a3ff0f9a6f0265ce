"""The chain through Dagster in this process, and what a run says of itself."""

from typing import Any

import dagster as dg

from qindex_pipeline.build import build_definitions
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site


def materialize(settings: Settings, site: Site, *assets: str) -> dg.ExecuteInProcessResult:
    """Run the chain, or the named assets alone, for one site on an instance of its own."""
    definitions = build_definitions(settings, sites={site.key: site})
    job = definitions.resolve_job_def("site_refresh")
    with dg.DagsterInstance.ephemeral() as instance:
        return job.execute_in_process(
            partition_key=site.key,
            raise_on_error=False,
            instance=instance,
            asset_selection=[dg.AssetKey(name) for name in assets] or None,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )


def metadata(result: dg.ExecuteInProcessResult) -> dict[str, dict[str, Any]]:
    return {
        event.asset_key.path[-1]: {
            name: value.value
            for name, value in event.step_materialization_data.materialization.metadata.items()
        }
        for event in result.get_asset_materialization_events()
    }


def failure(result: dg.ExecuteInProcessResult) -> str:
    """All that the run says of its failure, a resource's included."""
    said = ""
    for event in result.all_events:
        error = getattr(event.event_specific_data, "error", None)
        while error is not None:
            said, error = said + error.message, error.cause
    return said

"""The nightly schedule: one run for every site, on by default."""

from collections.abc import Sequence

import dagster as dg

from qindex_pipeline.jobs import SITE_REFRESH


def nightly_schedule(keys: Sequence[str], cron: str) -> dg.ScheduleDefinition:
    """One run request for each of the sites `keys` at each tick of `cron` (UTC)."""

    @dg.schedule(
        name="nightly",
        job_name=SITE_REFRESH,
        cron_schedule=cron,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Re-reads every site; what has not changed costs nothing.",
    )
    def nightly() -> list[dg.RunRequest]:
        # A run key dedupes within a tick: a tick that is evaluated twice starts one run a site.
        return [dg.RunRequest(run_key=key, partition_key=key) for key in keys]

    return nightly

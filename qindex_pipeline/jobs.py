"""The job: the whole chain for one site."""

import dagster as dg

SITE_REFRESH = "site_refresh"

site_refresh = dg.define_asset_job(
    SITE_REFRESH,
    selection=dg.AssetSelection.all(),
    # The chain is linear and importing the libraries costs seconds of CPU a process: what
    # isolates a site is its run, not its steps.
    executor_def=dg.in_process_executor,
    description="The whole chain for one site: crawl, chunk, ask, embed, publish.",
)

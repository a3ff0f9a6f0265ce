"""The jobs: the whole chain for one site, an audit of its points, its gaps, a look at all sites."""

import dagster as dg

SITE_REFRESH, INDEX_AUDIT, SITE_WATCH = "site_refresh", "index_audit", "site_watch"
GAP_REPORT = "gap_report"

QUESTION_INDEX, COLLECTION = dg.AssetKey("question_index"), dg.AssetKey("collection")
CHANGE_REPORT = dg.AssetKey("change_report")
INDEX_IN_STEP = dg.AssetCheckKey(QUESTION_INDEX, "index_in_step")
EVERY_SITE_IS_FRESH = dg.AssetCheckKey(COLLECTION, "every_site_is_fresh")
NO_SITE_IS_ORPHANED = dg.AssetCheckKey(COLLECTION, "no_site_is_orphaned")

_GAPS = dg.AssetSelection.assets("documentation_gaps")
_AUDITS = dg.AssetSelection.checks(INDEX_IN_STEP)
_WATCHES = dg.AssetSelection.checks(EVERY_SITE_IS_FRESH, NO_SITE_IS_ORPHANED)

# Each in one process: the chain is linear and importing the libraries costs seconds of CPU a
# process. What isolates a site is its run, not its steps.
site_refresh = dg.define_asset_job(
    SITE_REFRESH,
    selection=dg.AssetSelection.all() - _AUDITS - _GAPS,
    executor_def=dg.in_process_executor,
    description="The whole chain for one site: crawl, chunk, ask, embed, publish.",
)

# A run a site. A job that holds checks alone cannot have partitions in Dagster, so whoever starts
# it names the site by the partition's tag: what keeps two runs of one site apart holds for it
# too, and it never reads what a refresh of the same site is writing.
index_audit = dg.define_asset_job(
    INDEX_AUDIT,
    selection=_AUDITS,
    executor_def=dg.in_process_executor,
    description="Holds one site's points against its tables, and mends what differs.",
)

site_watch = dg.define_asset_job(
    SITE_WATCH,
    selection=_WATCHES,
    executor_def=dg.in_process_executor,
    description="Looks at all sites: which were not refreshed in time, which are orphaned.",
)

# Not a part of the refresh: what was asked changes by the week, and the log may lie elsewhere.
gap_report = dg.define_asset_job(
    GAP_REPORT,
    selection=_GAPS,
    executor_def=dg.in_process_executor,
    description="Reports what was asked of one site, and its docs do not answer.",
)

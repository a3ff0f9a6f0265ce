"""Asset checks that look at what runs left behind: they run in jobs of their own.

The gates of a run stand in `checks`; these are for what no run would notice: a collection that
somebody else changed, a site whose runs never came, points that nobody owns any more.
"""

import warnings
from collections.abc import Mapping
from datetime import UTC, datetime

import dagster as dg

from qindex_pipeline.errors import TransientError, WorkError
from qindex_pipeline.jobs import (
    COLLECTION,
    EVERY_SITE_IS_FRESH,
    INDEX_IN_STEP,
    NO_SITE_IS_ORPHANED,
    QUESTION_INDEX,
)
from qindex_pipeline.operations.audit import Audit, audit_site, orphans, overdue
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.pools import INDEX
from qindex_pipeline.retries import retried

WARN, ERROR = dg.AssetCheckSeverity.WARN, dg.AssetCheckSeverity.ERROR


def build_index_in_step(sites: dg.StaticPartitionsDefinition) -> dg.AssetChecksDefinition:
    """The check that holds one site's points against its tables, and repairs them."""
    with warnings.catch_warnings():
        # Partitions of a check are a preview of Dagster's; the version is pinned.
        warnings.simplefilter("ignore", dg.PreviewWarning)

        @dg.asset_check(
            asset=QUESTION_INDEX,
            name=INDEX_IN_STEP.name,
            partitions_def=sites,
            pool=INDEX,
            description="The collection holds the site's points as the tables have them.",
        )
        @retried
        def index_in_step(
            context: dg.AssetCheckExecutionContext, pipeline: dg.ResourceParam[Pipeline]
        ) -> dg.AssetCheckResult:
            return judged(context.partition_key, pipeline)

    return index_in_step


def judged(site: str, pipeline: Pipeline) -> dg.AssetCheckResult:
    """The result of an audit of `site`: what was mended is a warning, for somebody did it."""
    try:
        found = audit_site(pipeline.settings, site)
    except TransientError:
        raise
    except WorkError as error:
        return dg.AssetCheckResult(passed=False, description=str(error), severity=ERROR)
    if found is None:
        return dg.AssetCheckResult(passed=True, description="the site has no points yet")
    return dg.AssetCheckResult(
        passed=found.in_step, description=found.line, severity=WARN, metadata=_counts(found)
    )


def build_every_site_is_fresh(crons: Mapping[str, str]) -> dg.AssetChecksDefinition:
    """The check that names the sites that were due and were not published since.

    One for all sites: Dagster's own freshness is that of an asset, where one fresh site hides
    nine stale ones.

    Args:
        crons: When each site is refreshed.
    """

    @dg.asset_check(
        asset=COLLECTION,
        name=EVERY_SITE_IS_FRESH.name,
        description="Every site was published since it was last due.",
    )
    def every_site_is_fresh(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
        published = last_published(context.instance, crons)
        late = overdue(crons, published, datetime.now(UTC))
        lines = [_late(site, due, published.get(site)) for site, due in late.items()]
        return dg.AssetCheckResult(
            passed=not late,
            severity=ERROR,
            description="; ".join(lines) or None,
            metadata={"sites": len(crons), "overdue": len(late)},
        )

    return every_site_is_fresh


@dg.asset_check(
    asset=COLLECTION,
    name=NO_SITE_IS_ORPHANED.name,
    description="Every site of the collection is in the sites file.",
)
@retried
def no_site_is_orphaned(pipeline: dg.ResourceParam[Pipeline]) -> dg.AssetCheckResult:
    """Report the sites that are still found and that nobody refreshes; none is deleted."""
    found = orphans(pipeline.settings, pipeline.sites)
    lines = [f"{site} ({count} points)" for site, count in found.items()]
    description = (
        f"not in {pipeline.settings.sites} but in the collection: {', '.join(lines)}; nothing was "
        "deleted. Add the site again; `qindex sites remove KEY --purge` then deletes its points"
    )
    return dg.AssetCheckResult(
        passed=not found,
        severity=WARN,
        description=description if found else None,
        metadata={"orphaned_sites": len(found), "orphaned_points": sum(found.values())},
    )


def last_published(instance: dg.DagsterInstance, sites: Mapping[str, str]) -> dict[str, datetime]:
    """When each of `sites` was last published, as the instance knows; those that ever were."""
    found: dict[str, datetime] = {}
    for site in sites:
        wanted = dg.AssetRecordsFilter(asset_key=QUESTION_INDEX, asset_partitions=[site])
        records = instance.fetch_materializations(wanted, limit=1).records
        if records:
            found[site] = datetime.fromtimestamp(records[0].timestamp, UTC)
    return found


def _late(site: str, due: datetime, last: datetime | None) -> str:
    since = f"last published {last:%Y-%m-%d %H:%M}" if last else "never published"
    return f"{site} was due {due:%Y-%m-%d %H:%M} UTC, {since}"


def _counts(found: Audit) -> dict[str, int]:
    repaired = found.repaired
    return {
        "points": found.points,
        "missing": found.missing,
        "foreign": found.foreign,
        "stale": found.stale,
        "written": repaired.written if repaired else 0,
        "deleted": repaired.deleted if repaired else 0,
    }

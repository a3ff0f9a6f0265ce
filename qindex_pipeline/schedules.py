"""The schedules: every site at its own time, an audit each week, a look at all sites each day."""

from collections.abc import Iterable, Mapping
from hashlib import sha256

import dagster as dg

from qindex_pipeline.cron import Cron, staggered
from qindex_pipeline.jobs import GAP_REPORT, INDEX_AUDIT, SITE_REFRESH, SITE_WATCH
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import OFF, Site

PARTITION_TAG = "dagster/partition"

AUDIT_CRON = "0 12 * * 0"
"""Sunday noon, UTC: far from the nights of most teams, and a day before they are back."""

GAPS_CRON = "0 5 * * 1"
"""Monday morning, UTC: the week before is whole, and the report is there when people are."""

WATCH_CRON = "0 9 * * *"
"""After the night and the grace that its runs have, when people are there to mend something."""


def site_crons(settings: Settings, sites: Mapping[str, Site]) -> dict[str, str]:
    """When each site is refreshed; a site whose schedule is off is left out.

    Sites without a time of their own start within a window after QINDEX_SCHEDULE, each always at
    the same minute of it, which hangs on its key alone: another site changes nothing for it.
    """
    own = {key: site.schedule for key, site in sites.items() if site.schedule != OFF}
    return {
        key: cron or staggered(settings.schedule, _offset(key, settings.stagger_minutes))
        for key, cron in own.items()
    }


def nightly_schedule(settings: Settings, sites: Mapping[str, Site]) -> dg.ScheduleDefinition:
    """One schedule that ticks at the times of all `sites`: one row and one switch in the UI."""
    crons = site_crons(settings, sites)
    parsed = {key: Cron.parse(cron) for key, cron in crons.items()}

    @dg.schedule(
        name="nightly",
        job_name=SITE_REFRESH,
        cron_schedule=_merged(crons.values()) or [settings.schedule],
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Re-reads each site at its time; what has not changed costs nothing.",
    )
    def nightly(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest] | dg.SkipReason:
        tick = context.scheduled_execution_time
        due = [key for key, cron in parsed.items() if cron.matches(tick)]
        waiting = _waiting(context.instance) if due else frozenset[str]()
        # A run key dedupes within a tick: a tick that is evaluated twice starts one run a site.
        requests = [
            dg.RunRequest(run_key=key, partition_key=key) for key in due if key not in waiting
        ]
        return requests or dg.SkipReason("every site that is due has a run that waits")

    return nightly


def weekly_audit(sites: Mapping[str, Site]) -> dg.ScheduleDefinition:
    """Each week a run for each of `sites` that holds its points against its tables."""

    @dg.schedule(
        name="weekly_audit",
        job_name=INDEX_AUDIT,
        cron_schedule=AUDIT_CRON,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        description="Holds the collection against the tables, point by point, and mends it.",
    )
    def weekly() -> list[dg.RunRequest]:
        return [dg.RunRequest(run_key=key, tags={PARTITION_TAG: key}) for key in sites]

    return weekly


def weekly_gaps(settings: Settings, sites: Mapping[str, Site]) -> dg.ScheduleDefinition:
    """Each week a gap report for each of `sites`, each always at the same minute.

    It runs by default where there is a log to read.
    """
    minutes = {key: _offset(key, settings.stagger_minutes) for key in sites}
    parsed = {key: Cron.parse(staggered(GAPS_CRON, minute)) for key, minute in minutes.items()}
    status = dg.DefaultScheduleStatus

    @dg.schedule(
        name="weekly_gaps",
        job_name=GAP_REPORT,
        cron_schedule=_merged(staggered(GAPS_CRON, minute) for minute in minutes.values())
        or [GAPS_CRON],
        execution_timezone="UTC",
        default_status=status.STOPPED if settings.query_log is None else status.RUNNING,
        description="Reports what was asked, and the docs do not answer.",
    )
    def weekly(context: dg.ScheduleEvaluationContext) -> list[dg.RunRequest]:
        tick = context.scheduled_execution_time
        due = [key for key, cron in parsed.items() if cron.matches(tick)]
        return [dg.RunRequest(run_key=key, partition_key=key) for key in due]

    return weekly


daily_watch = dg.ScheduleDefinition(
    name="daily_watch",
    job_name=SITE_WATCH,
    cron_schedule=WATCH_CRON,
    execution_timezone="UTC",
    default_status=dg.DefaultScheduleStatus.RUNNING,
    description="Looks for sites that were not refreshed in time, and for orphaned ones.",
)


def _waiting(instance: dg.DagsterInstance) -> frozenset[str]:
    """Sites whose refresh has not begun: it will read all that another one would.

    So a daemon that was down for days catches up with one run a site.
    """
    queued = dg.RunsFilter(job_name=SITE_REFRESH, statuses=[dg.DagsterRunStatus.QUEUED])
    runs = instance.get_run_records(queued)
    return frozenset(record.dagster_run.tags.get(PARTITION_TAG, "") for record in runs)


def _offset(key: str, minutes: int) -> int:
    """The site's minute of the window; a hash that is the same in every process."""
    return int.from_bytes(sha256(key.encode()).digest()[:4]) % max(1, minutes)


def _merged(crons: Iterable[str]) -> list[str]:
    """The expressions, those that differ in a plain minute alone as one: few words in the UI."""
    minutes: dict[str, set[int]] = {}
    others: set[str] = set()
    for cron in crons:
        minute, _, rest = cron.partition(" ")
        if minute.isdecimal():
            minutes.setdefault(rest, set()).add(int(minute))
        else:
            others.add(cron)
    merged = [f"{','.join(map(str, sorted(found)))} {rest}" for rest, found in minutes.items()]
    return sorted({*merged, *others})

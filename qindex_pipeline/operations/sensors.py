"""The sensors that tell people of failed runs, failed checks and changes, through a webhook.

They are there when QINDEX_WEBHOOK_URL is set, and on. A webhook that does not answer fails the
sensor's tick, where the UI shows it, and nothing else.
"""

from collections.abc import Iterator, Mapping, Sequence

import dagster as dg

from qindex_pipeline.changes.pages import Row
from qindex_pipeline.changes.stored import stored_report
from qindex_pipeline.changes.wording import message_text
from qindex_pipeline.jobs import CHANGE_REPORT
from qindex_pipeline.operations.alerts import (
    Alert,
    FailedCheck,
    alert_text,
    harmless,
    masked,
    post,
    run_line,
    secrets_of,
)
from qindex_pipeline.operations.failures import reason
from qindex_pipeline.schedules import PARTITION_TAG
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site
from qindex_pipeline.store import ParquetStore

WILL_RETRY_TAG = "dagster/will_retry"


def alert_sensors(settings: Settings, sites: Mapping[str, Site]) -> Sequence[dg.SensorDefinition]:
    """A sensor for runs that failed, one for failed checks, and one for what changed."""
    url = settings.webhook_url
    if url is None:
        return []

    secrets = secrets_of(settings, sites.values())

    def tell(alert: Alert) -> None:
        post(url, alert_text(alert, settings.webserver_url, secrets))

    @dg.run_failure_sensor(
        name="failed_runs",
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Posts a failed run and its failed checks to the webhook.",
    )
    def failed_runs(context: dg.RunFailureSensorContext) -> None:
        events = _events(context)
        tell(_alert(context.dagster_run, events, reason(events) or context.failure_event.message))

    @dg.run_status_sensor(
        name="failed_checks",
        run_status=dg.DagsterRunStatus.SUCCESS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Posts the failed checks of a run that ended well to the webhook.",
    )
    def failed_checks(context: dg.RunStatusSensorContext) -> None:
        alert = _alert(context.dagster_run, _events(context), None)
        if alert.checks:
            tell(alert)

    @dg.run_status_sensor(
        name="change_reports",
        run_status=dg.DagsterRunStatus.SUCCESS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Posts what a run changed on a site, where it changed anything, to the "
        "webhook.",
    )
    def change_reports(context: dg.RunStatusSensorContext) -> None:
        run = run_line(context.dagster_run.run_id, settings.webserver_url)
        for row in _reports(_events(context), settings):
            text = message_text(
                row,
                finish=lambda text: harmless(f"{text}\n\n{run}", secrets),
                hide=lambda words: masked(words, secrets),
            )
            post(url, text)

    return [failed_runs, failed_checks, change_reports]


def _events(context: dg.RunStatusSensorContext) -> list[dg.DagsterEvent]:
    entries = context.instance.all_logs(context.dagster_run.run_id)
    return [entry.dagster_event for entry in entries if entry.dagster_event is not None]


def _reports(events: Sequence[dg.DagsterEvent], settings: Settings) -> Iterator[Row]:
    """The change reports that a run made; one that told nothing has no id."""
    store = ParquetStore(settings.data)
    for event in events:
        if not event.is_step_materialization or event.asset_key != CHANGE_REPORT:
            continue
        materialization = event.step_materialization_data.materialization
        report_id = materialization.metadata.get("report_id")
        if report_id is not None and materialization.partition is not None:
            row = stored_report(store, materialization.partition, str(report_id.value))
            if row is not None:  # else the site was removed meanwhile
                yield row


def _alert(run: dg.DagsterRun, events: Sequence[dg.DagsterEvent], failure: str | None) -> Alert:
    return Alert(
        site=run.tags.get(PARTITION_TAG),
        job=_job(run),
        run_id=run.run_id,
        failure=failure,
        is_retried=run.tags.get(WILL_RETRY_TAG) == "true",
        checks=tuple(_failed(events)),
    )


def _job(run: dg.DagsterRun) -> str:
    """What people know the run as: assets that the UI materialised have no job of their own."""
    if not run.job_name.startswith("__"):
        return run.job_name
    return ", ".join(sorted(key.path[-1] for key in run.asset_selection or ())) or "run"


def _failed(events: Sequence[dg.DagsterEvent]) -> Iterator[FailedCheck]:
    """The last word of each check, where it is that it failed."""
    last: dict[dg.AssetCheckKey, dg.AssetCheckEvaluation] = {}
    for event in events:
        if event.event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            evaluation = event.asset_check_evaluation_data
            last[evaluation.asset_check_key] = evaluation
    for key, evaluation in last.items():
        if not evaluation.passed:
            yield FailedCheck(
                name=key.name,
                is_error=evaluation.severity is dg.AssetCheckSeverity.ERROR,
                description=evaluation.description or "no description",
            )

"""Who is told of what: runs of a real instance, the sensors' own ticks, a webhook on loopback."""

from collections.abc import Callable, Iterator
from pathlib import Path

import dagster as dg
import pytest
from pydantic import SecretStr

from qindex_pipeline.changes.stored import read_memory, write_report
from qindex_pipeline.errors import UsageError, WorkError
from qindex_pipeline.operations import alerts
from qindex_pipeline.operations.alerts import Alert, FailedCheck, alert_text, post, secrets_of
from qindex_pipeline.operations.sensors import alert_sensors
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site
from qindex_pipeline.store import ParquetStore
from qindex_pipeline_tests.changes.rows import Nights, page_row, tables
from qindex_pipeline_tests.conftest import CLOSED, MakeSettings
from qindex_pipeline_tests.fakes.webhook import Webhook, serving_webhook

KEY = "sk-@very-secret"
SITE = "docs.example.com"
WARN, ERROR = dg.AssetCheckSeverity.WARN, dg.AssetCheckSeverity.ERROR


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    with serving_webhook(KEY) as made:
        yield made


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alerts, "PAUSES", (0.0,))


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as made:
        yield made


# --- the sensors ----------------------------------------------------------------------------


def run_with(
    instance: dg.DagsterInstance,
    *checks: dg.AssetCheckResult,
    failure: Exception | None = None,
    **tags: str,
) -> str:
    """A run of one asset with these results; the run's id."""
    specs = [dg.AssetCheckSpec(check.check_name or "", asset="pages") for check in checks]

    @dg.asset(check_specs=specs)
    def pages() -> Iterator[object]:
        yield from checks
        if failure:
            raise failure
        yield dg.MaterializeResult()

    job = dg.Definitions(
        assets=[pages], jobs=[dg.define_asset_job("site_refresh", selection="*")]
    ).resolve_job_def("site_refresh")
    tags = {"dagster/partition": SITE} | tags
    return job.execute_in_process(instance=instance, tags=tags, raise_on_error=False).run_id


def check(name: str, severity: dg.AssetCheckSeverity, why: str | None) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        passed=why is None, check_name=name, severity=severity, description=why
    )


def tick_all(
    instance: dg.DagsterInstance, settings: Settings, cursors: dict[str, str | None]
) -> list[dg.DagsterEvent]:
    """A tick of each sensor, from where its last one ended; the errors that the ticks hold."""
    errors = []
    for sensor in alert_sensors(settings, {}):
        context = dg.build_sensor_context(instance=instance, cursor=cursors.get(sensor.name))
        result = sensor.evaluate_tick(context)
        cursors[sensor.name] = result.cursor
        errors += [found.error for found in result.dagster_run_reactions or () if found.error]
    return errors


def told(
    instance: dg.DagsterInstance, webhook: Webhook, *checks: dg.AssetCheckResult, **run: object
) -> tuple[str, list[str]]:
    """The id of a run, and what the webhook was told of it."""
    settings = Settings(
        webhook_url=SecretStr(webhook.url), webserver_url="https://dagster.example.com/"
    )
    cursors: dict[str, str | None] = {}
    tick_all(instance, settings, cursors)
    run_id = run_with(instance, *checks, **run)  # type: ignore[arg-type]
    assert tick_all(instance, settings, cursors) == []
    assert tick_all(instance, settings, cursors) == []  # a run is told of once
    return run_id, webhook.texts


def test_a_failed_run_is_told_with_its_site_its_reason_and_a_link(
    instance: dg.DagsterInstance, webhook: Webhook
) -> None:
    error = WorkError("site 'docs.example.com' refuses the connection")
    run, (text,) = told(instance, webhook, failure=error)
    assert text.splitlines() == [
        f"ERROR {SITE}: site_refresh failed",
        "site 'docs.example.com' refuses the connection",
        f"run {run}: https://dagster.example.com/runs/{run}",
    ]


def test_a_failed_run_names_the_check_that_failed_it_and_its_reason_once(
    instance: dg.DagsterInstance, webhook: Webhook
) -> None:
    why = "the start page answered HTTP 503"
    results = check("pages_fetched", ERROR, why), check("fine", ERROR, None)
    _, (text,) = told(instance, webhook, *results, failure=dg.Failure(why, allow_retries=False))
    assert text.splitlines()[1:-1] == [f"ERROR pages_fetched: {why}"]


@pytest.mark.parametrize(("severity", "weight"), [(WARN, "WARNING"), (ERROR, "ERROR")])
def test_a_good_run_with_a_failed_check_is_told_by_the_weight_of_the_check(
    instance: dg.DagsterInstance,
    webhook: Webhook,
    severity: dg.AssetCheckSeverity,
    weight: str,
) -> None:
    _, (text,) = told(instance, webhook, check("crawl_is_not_suspect", severity, "3 of 10 pages"))
    assert text.splitlines()[:2] == [
        f"{weight} {SITE}: site_refresh ended with failed checks",
        f"{weight} crawl_is_not_suspect: 3 of 10 pages",
    ]


def test_a_good_run_is_not_told(instance: dg.DagsterInstance, webhook: Webhook) -> None:
    assert told(instance, webhook, check("fine", ERROR, None))[1] == []


def test_a_run_that_dagster_starts_again_says_so(
    instance: dg.DagsterInstance, webhook: Webhook
) -> None:
    retried = {"dagster/will_retry": "true"}
    _, (text,) = told(instance, webhook, failure=WorkError("killed"), **retried)
    assert text.startswith(f"ERROR {SITE}: site_refresh failed and is tried once more\n")


def test_a_webhook_that_is_down_fails_its_tick_and_no_other(
    instance: dg.DagsterInstance, webhook: Webhook
) -> None:
    settings, cursors = Settings(webhook_url=SecretStr(webhook.url)), dict[str, str | None]()
    tick_all(instance, settings, cursors)
    webhook.statuses += [500, 500]
    run_with(instance, failure=WorkError("first"))
    (error,) = tick_all(instance, settings, cursors)
    assert "the webhook answered HTTP 500" in str(error)
    assert KEY not in str(error)
    run_with(instance, failure=WorkError("second"))
    assert tick_all(instance, settings, cursors) == []
    assert "second" in webhook.texts[-1]


# --- what changed ---------------------------------------------------------------------------


def reporting_run(instance: dg.DagsterInstance, **metadata: str) -> str:
    """A run of the site's change_report with this metadata; the run's id."""
    sites = dg.StaticPartitionsDefinition([SITE])

    @dg.asset(partitions_def=sites)
    def change_report() -> dg.MaterializeResult:
        return dg.MaterializeResult(metadata=metadata)

    job = dg.Definitions(
        assets=[change_report], jobs=[dg.define_asset_job("site_refresh", selection="*")]
    ).resolve_job_def("site_refresh")
    return job.execute_in_process(instance=instance, partition_key=SITE).run_id


def told_of_changes(
    instance: dg.DagsterInstance, webhook: Webhook, data: Path, title: str = "Oil"
) -> tuple[dict[str, str], Callable[..., tuple[str, list[str]]]]:
    """A store with a report of a page with this title; and what is posted of a run."""
    nights, store = Nights(), ParquetStore(str(data))
    for rows in ([page_row("guide")], [page_row("guide"), page_row("oil", title=title)]):
        memory = read_memory(store, SITE)
        write_report(store, SITE, memory, nights.night(tables(rows)))
    settings = Settings(
        webhook_url=SecretStr(webhook.url),
        webserver_url="https://dagster.example.com",
        data=str(data),
        OPENAI_API_KEY=SecretStr(KEY),
    )
    cursors: dict[str, str | None] = {}
    tick_all(instance, settings, cursors)

    def run(**metadata: str) -> tuple[str, list[str]]:
        run_id = reporting_run(instance, **metadata)
        assert tick_all(instance, settings, cursors) == []
        assert tick_all(instance, settings, cursors) == []  # a run is told of once
        return run_id, webhook.texts

    return {"report_id": nights.reports[-1]["report_id"]}, run


def test_a_run_that_changed_something_is_told_with_a_link_and_nothing_else(
    instance: dg.DagsterInstance, webhook: Webhook, tmp_path: Path
) -> None:
    metadata, run = told_of_changes(instance, webhook, tmp_path)
    run_id, (text,) = run(**metadata)
    lines = text.splitlines()
    assert lines[0] == "docs: 1 page added"
    assert "- Oil https://docs.example.com/oil" in lines
    assert lines[-1] == f"run {run_id}: https://dagster.example.com/runs/{run_id}"


def test_a_run_that_changed_nothing_is_not_told(
    instance: dg.DagsterInstance, webhook: Webhook, tmp_path: Path
) -> None:
    _, run = told_of_changes(instance, webhook, tmp_path)
    assert run()[1] == []


def test_a_report_that_was_purged_meanwhile_is_not_told(
    instance: dg.DagsterInstance, webhook: Webhook, tmp_path: Path
) -> None:
    _, run = told_of_changes(instance, webhook, tmp_path)
    assert run(report_id="of a site that was removed")[1] == []


def test_a_title_reaches_a_channel_as_words_and_without_secrets(
    instance: dg.DagsterInstance, webhook: Webhook, tmp_path: Path
) -> None:
    title = f"<!here> @all [Oil](http://evil.example) {KEY} {'x' * 10} {KEY}"
    metadata, run = told_of_changes(instance, webhook, tmp_path, title)
    _, (text,) = run(**metadata)
    assert (
        "&lt;!here&gt; @\u200ball [Oil]\u200b(http:\u200b//evil.example) *** xxxxxxxxxx ***" in text
    )


def test_without_a_webhook_there_is_no_sensor() -> None:
    assert alert_sensors(Settings(), {}) == []


# --- the text -------------------------------------------------------------------------------


def alert(*checks: FailedCheck, failure: str | None = None) -> Alert:
    return Alert(SITE, "site_refresh", "run-id", failure, False, checks)


def test_no_secret_stands_in_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCS_COOKIE", "session=abcdef")
    site = Site(key=SITE, start_url="http://docs/", cookies_from_env="DOCS_COOKIE")
    settings = Settings(OPENAI_API_KEY=SecretStr(KEY), webhook_url=SecretStr("http://hooks/token"))
    failure = f"refused {KEY} at http://hooks/token with session=abcdef"
    text = alert_text(alert(failure=failure), None, secrets_of(settings, [site]))
    assert "refused *** at *** with ***" in text


def test_a_text_calls_no_channel_and_is_not_endless() -> None:
    checks = [FailedCheck(f"check{n}", True, "<!channel> @here " + "x" * 5000) for n in range(100)]
    text = alert_text(alert(*checks), None)
    assert "<" not in text
    assert "@here" not in text
    assert len(text) < 5000
    assert text.splitlines()[-2:] == ["and 90 more checks", "run run-id"]


def test_a_run_of_all_sites_says_so() -> None:
    text = alert_text(Alert(None, "site_watch", "run-id", None, False, ()), None)
    assert text.startswith("WARNING all sites: site_watch")


# --- posting --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statuses", "posts", "arrives"),
    [([], 1, True), ([503], 2, True), ([429], 2, True), ([500, 500], 2, False), ([404], 1, False)],
)
def test_a_busy_webhook_is_asked_once_more_and_a_wrong_one_is_not(
    webhook: Webhook, statuses: list[int], posts: int, arrives: bool
) -> None:
    webhook.statuses += statuses
    try:
        post(SecretStr(webhook.url), "a text")
    except WorkError as error:
        assert not arrives
        assert "a text" in str(error)  # what was lost can be read where the tick is shown
        assert KEY not in str(error)
    else:
        assert arrives
    assert len(webhook.bodies) == posts


def test_a_webhook_that_nobody_serves_is_a_line() -> None:
    with pytest.raises(WorkError, match="cannot be reached"):
        post(SecretStr(f"{CLOSED}/{KEY}"), "a text")


def test_an_address_that_is_none_is_refused_and_not_shown(settings: MakeSettings) -> None:
    with pytest.raises(UsageError, match="QINDEX_WEBHOOK_URL is not an http") as raised:
        settings(QINDEX_WEBHOOK_URL=f"hooks.example.com/{KEY}")
    assert KEY not in str(raised.value)

"""When what is started: ticks of the schedules at moved clocks, against a real instance."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.remote_origin import (
    RegisteredCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._utils.schedules import schedule_execution_time_iterator

from qindex_pipeline.build import build_definitions
from qindex_pipeline.errors import UsageError
from qindex_pipeline.schedules import site_crons
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site, load_sites
from qindex_pipeline_tests.conftest import MakeSettings

MIDNIGHT = datetime(2024, 5, 15, tzinfo=UTC)  # a Wednesday
FORTY = [f"docs{number}.example.com" for number in range(40)]
DEFAULT = FORTY[:6]


def site(key: str, schedule: str | None = None) -> Site:
    return Site(key=key, start_url=f"http://{key}/", schedule=schedule)


SITES = {key: site(key) for key in DEFAULT} | {
    "thrice": site("thrice", "15 */8 * * *"),
    "weekdays": site("weekdays", "30 6 * * mon-fri"),
    "by-ci": site("by-ci", "off"),
}


@pytest.fixture(scope="module")
def definitions() -> dg.Definitions:
    return build_definitions(Settings(), sites=SITES)


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.local_temp(str(tmp_path_factory.mktemp("home"))) as made:
        yield made


def tick(
    definitions: dg.Definitions, name: str, at: datetime, instance: dg.DagsterInstance
) -> list[dg.RunRequest]:
    context = dg.build_schedule_context(
        instance=instance,
        scheduled_execution_time=at,
        repository_def=definitions.get_repository_def(),
    )
    schedule = definitions.resolve_schedule_def(name)
    return list(schedule.evaluate_tick(context).run_requests or [])


def ticks(definitions: dg.Definitions, name: str, start: datetime, days: int) -> list[datetime]:
    """The times at which Dagster evaluates a schedule, by its own reading of the crons."""
    schedule = definitions.resolve_schedule_def(name)
    times = schedule_execution_time_iterator(start.timestamp(), schedule.cron_schedule, "UTC")
    end = start + timedelta(days=days)
    return [time for time in islice(times, 10_000) if time < end]


def a_day(
    definitions: dg.Definitions, start: datetime, instance: dg.DagsterInstance
) -> dict[str, list[datetime]]:
    """When each site is requested from `start` on, for a day."""
    found: dict[str, list[datetime]] = {}
    for at in ticks(definitions, "nightly", start, 1):
        for request in tick(definitions, "nightly", at, instance):
            assert request.run_key == request.partition_key
            found.setdefault(str(request.partition_key), []).append(at)
    return found


# --- nightly --------------------------------------------------------------------------------


def test_each_site_is_requested_at_its_own_time(
    definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    times = a_day(definitions, MIDNIGHT, instance)
    assert set(times) == set(SITES) - {"by-ci"}
    assert times["thrice"] == [MIDNIGHT + timedelta(hours=hour, minutes=15) for hour in (0, 8, 16)]
    assert times["weekdays"] == [MIDNIGHT + timedelta(hours=6, minutes=30)]
    for key in DEFAULT:
        (at,) = times[key]
        assert at.hour == 2


def test_a_site_of_weekdays_rests_on_a_sunday(
    definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    times = a_day(definitions, datetime(2024, 5, 19, tzinfo=UTC), instance)
    assert "weekdays" not in times
    assert set(DEFAULT) < set(times)


def test_sites_without_a_time_of_their_own_do_not_start_together() -> None:
    together = Counter(site_crons(Settings(), {key: site(key) for key in FORTY}).values())
    assert len(together) > 20
    assert max(together.values()) <= 4


def test_a_sites_minute_hangs_on_its_key_alone() -> None:
    crons = site_crons(Settings(), SITES)
    fewer = dict(list(SITES.items())[3:])
    assert site_crons(Settings(), fewer) == {key: crons[key] for key in crons if key in fewer}


@pytest.mark.parametrize(("minutes", "longest"), [(0, 0), (1, 0), (10, 9), (60, 59), (1440, 1319)])
def test_the_window_is_as_long_as_the_settings_say(minutes: int, longest: int) -> None:
    crons = site_crons(Settings(stagger_minutes=minutes), {key: site(key) for key in FORTY})
    fields = [cron.split() for cron in crons.values()]
    offsets = [int(minute) + 60 * (int(hour) - 2) for minute, hour, *_ in fields]
    assert max(offsets) <= longest
    assert minutes < 2 or max(offsets) > longest // 2


def test_many_sites_are_one_schedule_of_few_expressions(definitions: dg.Definitions) -> None:
    crons = definitions.resolve_schedule_def("nightly").cron_schedule
    assert len(crons) == 3
    names = {schedule.name for schedule in definitions.schedules or ()}
    assert names == {"nightly", "weekly_audit", "daily_watch", "weekly_gaps"}


def test_a_site_whose_run_still_waits_is_not_requested_again(
    definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    at = MIDNIGHT + timedelta(hours=6, minutes=30)
    job = definitions.resolve_job_def("site_refresh")
    location = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin("location"), "repository")
    origin = RemoteJobOrigin(location, job.name)

    def with_a_run(status: dg.DagsterRunStatus) -> list[dg.RunRequest]:
        run = instance.create_run_for_job(
            job, tags={"dagster/partition": "weekdays"}, status=status, remote_job_origin=origin
        )
        try:
            return tick(definitions, "nightly", at, instance)
        finally:
            instance.delete_run(run.run_id)

    assert with_a_run(dg.DagsterRunStatus.QUEUED) == []
    assert len(with_a_run(dg.DagsterRunStatus.STARTED)) == 1
    assert len(with_a_run(dg.DagsterRunStatus.FAILURE)) == 1


def test_no_site_is_due_where_all_are_off(instance: dg.DagsterInstance) -> None:
    definitions = build_definitions(Settings(), sites={"by-ci": SITES["by-ci"]})
    assert a_day(definitions, MIDNIGHT, instance) == {}


# --- the others -----------------------------------------------------------------------------


def test_each_week_every_site_is_audited_on_a_sunday(
    definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    (at,) = ticks(definitions, "weekly_audit", MIDNIGHT, 7)
    assert at.isoweekday() == 7
    requests = tick(definitions, "weekly_audit", at, instance)
    assert [request.tags["dagster/partition"] for request in requests] == list(SITES)
    assert definitions.resolve_schedule_def("weekly_audit").job_name == "index_audit"


def test_each_day_one_run_looks_at_all_sites(
    definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    (at,) = ticks(definitions, "daily_watch", MIDNIGHT, 1)
    (request,) = tick(definitions, "daily_watch", at, instance)
    assert "dagster/partition" not in request.tags
    assert definitions.resolve_schedule_def("daily_watch").job_name == "site_watch"


def test_each_week_every_site_has_its_gap_report_on_a_monday_at_its_own_minute(
    definitions: dg.Definitions, instance: dg.DagsterInstance
) -> None:
    times = ticks(definitions, "weekly_gaps", MIDNIGHT, 7)
    assert {at.isoweekday() for at in times} == {1}
    requests = [
        request.partition_key
        for at in times
        for request in tick(definitions, "weekly_gaps", at, instance)
    ]
    assert sorted(map(str, requests)) == sorted(SITES)
    assert len(times) > len(SITES) // 2
    assert definitions.resolve_schedule_def("weekly_gaps").job_name == "gap_report"


def test_the_gap_report_is_on_where_there_is_a_log() -> None:
    for log, status in ((None, "STOPPED"), ("log", "RUNNING")):
        made = build_definitions(Settings(query_log=log), sites=SITES)
        assert made.resolve_schedule_def("weekly_gaps").default_status.value == status


@pytest.mark.parametrize("name", ["nightly", "weekly_audit", "daily_watch"])
def test_a_schedule_is_on_and_ticks_in_utc(definitions: dg.Definitions, name: str) -> None:
    schedule = definitions.resolve_schedule_def(name)
    assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING
    assert schedule.execution_timezone == "UTC"


# --- the sites file and the settings --------------------------------------------------------


def test_a_mistake_in_the_cron_of_a_site_is_named(tmp_path: Path) -> None:
    file = tmp_path / "sites.yaml"
    file.write_text("sites:\n  docs:\n    start_url: http://docs/\n    schedule: 0 25 * * *\n")
    with pytest.raises(UsageError, match=r"site 'docs': schedule: .*'25' is no hour"):
        load_sites(file)


def test_off_needs_no_quotes_in_the_sites_file(tmp_path: Path) -> None:
    file = tmp_path / "sites.yaml"
    file.write_text("sites:\n  docs:\n    start_url: http://docs/\n    schedule: off\n")
    assert load_sites(file)["docs"].schedule == "off"


def test_a_mistake_in_the_cron_of_the_settings_is_named(settings: MakeSettings) -> None:
    with pytest.raises(UsageError, match=r"QINDEX_SCHEDULE='0 2 \* \*': .* five fields"):
        settings(QINDEX_SCHEDULE="0 2 * *")

"""What runs left behind: points that differ are mended, late and orphaned sites are reported."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest

from qindex_pipeline.build import build_definitions
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.ingest import ingest
from qindex_pipeline.operations.audit import GRACE, Audit, audit_site, orphans, overdue
from qindex_pipeline.profiles import resolve_models
from qindex_pipeline.progress import silent
from qindex_pipeline.rebuild import projection
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site
from qindex_pipeline.store import ParquetStore
from qindex_pipeline_tests.chain import failure
from qindex_pipeline_tests.command import write_site

NOW = datetime(2024, 5, 15, 9, tzinfo=UTC)  # a Wednesday
PAGE = "<h1>Lantern</h1><p>The lantern is lit with the small brass key.</p>"
TAG = "dagster/partition"


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which one site was ingested with the offline profile."""
    folder = tmp_path_factory.mktemp("ingested")
    write_site(folder / "site", index=PAGE)
    ingest(settings_in(folder), site_in(folder), silent)
    return folder


@pytest.fixture
def folder(ingested: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ingested, tmp_path / "work"))


def settings_in(folder: Path) -> Settings:
    return Settings(profile="offline", data=str(folder / "data"), sites=folder / "sites.yaml")


def site_in(folder: Path, key: str = "lantern") -> Site:
    return Site(key=key, folder=folder / "site")


def spoil(settings: Settings, key: str = "lantern") -> int:
    """Let the collection lack a point of the site, hold a foreign one and an altered one."""
    wanted = projection(settings, ParquetStore(settings.data), "lantern")
    first, second, *rest = wanted.points
    foreign = replace(first, id="00000000-0000-5000-8000-000000000000")
    altered = replace(second, payload=second.payload | {"content_hash": "another"})
    engine = open_engine(settings)
    engine.sync(wanted.alias, wanted.manifest, key, [foreign, altered, *rest])
    return len(wanted.points)


def evaluations(
    settings: Settings,
    sites: dict[str, Site],
    job: str,
    instance: dg.DagsterInstance,
    site: str | None = None,
) -> dict[str, dg.AssetCheckEvaluation]:
    """Run a job of checks as its schedule asks for it; the results by name."""
    result = (
        build_definitions(settings, sites=sites)
        .resolve_job_def(job)
        .execute_in_process(
            instance=instance, tags={TAG: site} if site else {}, raise_on_error=False
        )
    )
    assert result.success, failure(result)
    return {found.check_name: found for found in result.get_asset_check_evaluations()}


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as made:
        yield made


# --- the audit ------------------------------------------------------------------------------


def test_a_collection_that_was_changed_is_mended_and_reported(folder: Path) -> None:
    settings = settings_in(folder)
    points = spoil(settings)
    found = audit_site(settings, "lantern")
    assert found is not None
    assert (found.points, found.missing, found.foreign, found.stale) == (points, 1, 1, 1)
    assert found.repaired is not None
    assert (found.repaired.written, found.repaired.deleted) == (2, 1)
    assert audit_site(settings, "lantern") == Audit(points)


def test_a_collection_that_is_in_step_is_left_alone(folder: Path) -> None:
    before = sorted(path.name for path in (folder / "data/state/index").rglob("*"))
    found = audit_site(settings_in(folder), "lantern")
    assert found is not None
    assert found.in_step
    assert sorted(path.name for path in (folder / "data/state/index").rglob("*")) == before


def test_the_weekly_run_of_a_site_warns_of_what_it_mended(
    folder: Path, instance: dg.DagsterInstance
) -> None:
    settings, sites = settings_in(folder), {"lantern": site_in(folder)}
    points = spoil(settings)
    for passed, counts in ((False, (1, 1, 1)), (True, (0, 0, 0))):
        run = evaluations(settings, sites, "index_audit", instance, "lantern")
        check = run["index_in_step"]
        assert check.passed is passed
        assert check.severity is dg.AssetCheckSeverity.WARN
        assert check.partition == "lantern"
        assert check.metadata["points"].value == points
        names = ("missing", "foreign", "stale")
        assert tuple(check.metadata[name].value for name in names) == counts
    assert check.description == f"{points} points, all as the tables have them"


def test_a_site_that_was_never_indexed_is_in_step(
    folder: Path, instance: dg.DagsterInstance
) -> None:
    sites = {"new": site_in(folder, "new")}
    run = evaluations(settings_in(folder), sites, "index_audit", instance, "new")
    assert run["index_in_step"].passed


def test_tables_that_are_not_the_indexs_are_an_error_and_nothing_is_written(
    folder: Path, instance: dg.DagsterInstance
) -> None:
    settings, sites = settings_in(folder), {"lantern": site_in(folder)}
    (folder / "data/chunks/lantern.parquet").unlink()
    check = evaluations(settings, sites, "index_audit", instance, "lantern")["index_in_step"]
    assert not check.passed
    assert check.severity is dg.AssetCheckSeverity.ERROR
    assert "chunks of site 'lantern' has not been materialised" in (check.description or "")


# --- orphaned sites -------------------------------------------------------------------------


def test_a_site_that_left_the_file_is_reported_and_keeps_its_points(
    folder: Path, instance: dg.DagsterInstance
) -> None:
    settings = settings_in(folder)
    points = sites_of(settings)["lantern"]
    for _ in range(2):
        run = evaluations(settings, {"new": site_in(folder, "new")}, "site_watch", instance)
        check = run["no_site_is_orphaned"]
        assert not check.passed
        assert check.severity is dg.AssetCheckSeverity.WARN
        assert f"lantern ({points} points)" in (check.description or "")
    assert sites_of(settings) == {"lantern": points}
    assert orphans(settings, {"lantern"}) == {}


def test_without_a_collection_no_site_is_orphaned(tmp_path: Path) -> None:
    assert orphans(settings_in(tmp_path), {}) == {}


def sites_of(settings: Settings) -> dict[str, int]:
    collection = open_engine(settings).open(resolve_models(settings).collection_name)
    assert collection is not None
    found = collection.sites()
    collection.close()
    return found


# --- freshness ------------------------------------------------------------------------------

NIGHTLY, WEEKDAYS, HOURLY = "0 2 * * *", "0 2 * * mon-fri", "0 * * * *"
LAST_PUBLISHED = [
    (NIGHTLY, "2024-05-15 02:10", None),
    (NIGHTLY, "2024-05-14 02:10", "2024-05-15 02:00"),
    (NIGHTLY, None, "2024-05-15 02:00"),
    ("30 5 * * *", "2024-05-14 05:40", None),  # due this morning, within the grace
    ("30 5 * * *", "2024-05-13 05:40", "2024-05-14 05:30"),
    (WEEKDAYS, "2024-05-15 02:10", None),
    (HOURLY, "2024-05-15 03:05", None),
    (HOURLY, "2024-05-15 02:55", "2024-05-15 03:00"),
]


@pytest.mark.parametrize(("cron", "last", "due"), LAST_PUBLISHED)
def test_a_site_is_late_when_a_time_of_its_own_passed_without_publication(
    cron: str, last: str | None, due: str | None
) -> None:
    published = {"docs": at(last)} if last else {}
    expected = {"docs": at(due)} if due else {}
    assert overdue({"docs": cron}, published, NOW) == expected


def test_a_site_of_weekdays_is_not_missed_at_the_week_end() -> None:
    friday, sunday = at("2024-05-17 02:10"), at("2024-05-19 09:00")
    assert overdue({"docs": WEEKDAYS}, {"docs": friday}, sunday) == {}
    monday = at("2024-05-20 02:00")
    assert overdue({"docs": WEEKDAYS}, {"docs": friday}, monday + GRACE) == {"docs": monday}


def test_the_daily_run_names_the_sites_that_were_not_published(
    folder: Path, instance: dg.DagsterInstance
) -> None:
    every_minute, off = {"schedule": "* * * * *"}, {"schedule": "off"}
    sites = {
        "lantern": site_in(folder).model_copy(update=every_minute),
        "stale": site_in(folder, "stale").model_copy(update=every_minute),
        "by-ci": site_in(folder, "by-ci").model_copy(update=off),
    }
    instance.report_runless_asset_event(
        dg.AssetMaterialization("question_index", partition="lantern")
    )
    check = evaluations(settings_in(folder), sites, "site_watch", instance)["every_site_is_fresh"]
    assert not check.passed
    assert check.severity is dg.AssetCheckSeverity.ERROR
    description = check.description or ""
    assert description.startswith("stale was due ")
    assert description.endswith(" UTC, never published")
    assert "lantern" not in description
    assert check.metadata["sites"].value == 2


# --- the jobs -------------------------------------------------------------------------------


def test_no_run_of_a_site_looks_at_the_others(folder: Path) -> None:
    definitions = build_definitions(settings_in(folder), sites={"lantern": site_in(folder)})
    names = {node.name for node in definitions.resolve_job_def("site_refresh").nodes}
    assert not {name for name in names if name.startswith(("collection", "question_index_"))}


def at(text: str) -> datetime:
    return datetime.fromisoformat(text + "+00:00")

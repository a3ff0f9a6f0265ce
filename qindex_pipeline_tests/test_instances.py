"""What the instance of the containers and the one of `dagster dev` promise alike."""

from pathlib import Path
from typing import Any

import pytest
from dagster._core.instance.ref import InstanceRef
from ruamel.yaml import YAML

from qindex_pipeline.settings import Settings

DEPLOY = Path(__file__).parents[1] / "deploy"
FOLDERS = {"containers": DEPLOY, "dagster dev": DEPLOY / "local"}


def read(folder: Path) -> dict[str, Any]:
    return YAML(typ="safe").load(folder / "dagster.yaml")


@pytest.mark.parametrize("folder", FOLDERS.values(), ids=FOLDERS)
def test_a_site_has_one_run_at_a_time_whatever_started_it(folder: Path) -> None:
    # Every run of a partition carries the tag, a backfill's and the audit's too.
    assert read(folder)["concurrency"]["runs"]["tag_concurrency_limits"] == [
        {"key": "dagster/partition", "value": {"applyLimitPerUniqueValue": True}, "limit": 1}
    ]


@pytest.mark.parametrize("folder", FOLDERS.values(), ids=FOLDERS)
def test_a_crashed_run_is_noticed_and_tried_once_more(folder: Path) -> None:
    config = read(folder)
    assert config["run_monitoring"]["enabled"] is True
    assert config["run_monitoring"]["poll_interval_seconds"] == 15
    assert config["run_monitoring"]["free_slots_after_run_end_seconds"] == 30
    assert config["run_retries"] == {
        "enabled": True,
        "max_retries": 1,
        "retry_on_asset_or_op_failure": False,
    }


@pytest.mark.parametrize("folder", FOLDERS.values(), ids=FOLDERS)
def test_a_daemon_that_was_down_makes_up_for_the_whole_window(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOST", "DB", "USER", "PASSWORD"):
        monkeypatch.setenv(f"DAGSTER_POSTGRES_{name}", "any")
    scheduler = InstanceRef.from_dir(str(folder)).scheduler
    assert scheduler is not None
    assert scheduler.max_catchup_runs >= Settings.model_fields["stagger_minutes"].default


@pytest.mark.parametrize("folder", FOLDERS.values(), ids=FOLDERS)
def test_pools_have_no_default_of_dagsters(folder: Path) -> None:
    assert "default_limit" not in read(folder)["concurrency"].get("pools", {})


@pytest.mark.parametrize("folder", FOLDERS.values(), ids=FOLDERS)
def test_ticks_are_forgotten_and_nothing_is_reported_home(folder: Path) -> None:
    config = read(folder)
    assert config["telemetry"] == {"enabled": False}
    for kind in ("schedule", "sensor"):
        assert set(config["retention"][kind]["purge_after_days"]) == {
            "skipped",
            "started",
            "success",
            "failure",
        }

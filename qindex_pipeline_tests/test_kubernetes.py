"""The manifests of deploy/k8s, as kustomize renders them, and the Job that the launcher makes.

Kubernetes' own schemas judge both, without a cluster; the launcher speaks to an API on loopback.
"""

import functools
import json
import re
import shutil
import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import kubernetes_validate
import pytest
from dagster._core.code_pointer import ModuleCodePointer
from dagster._core.instance.ref import InstanceRef
from dagster._core.launcher import LaunchRunContext, WorkerStatus
from dagster._core.origin import JobPythonOrigin, RepositoryPythonOrigin
from dagster._core.remote_origin import (
    GrpcServerCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)
from dagster._core.run_coordinator import QueuedRunCoordinator
from dagster._daemon.run_coordinator.queued_run_coordinator_daemon import (
    QueuedRunCoordinatorDaemon,
)
from dagster_k8s import K8sRunLauncher
from ruamel.yaml import YAML

from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import load_sites
from qindex_pipeline_tests.fakes.kubernetes_api import KubernetesApi
from qindex_pipeline_tests.test_deployment import env_references, settings_variables

pytestmark = pytest.mark.slow

K8S = Path(__file__).parents[1] / "deploy" / "k8s"
VERSIONS = ("1.29.0", kubernetes_validate.utils.latest_version())
"""The oldest that still gets a cloud's support, and the newest whose schema is known."""

DRIVERS = {
    "AWS_ENDPOINT_URL",
    "AWS_DEFAULT_REGION",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
}
"""What the S3 driver reads from the environment."""

needs_kubectl = pytest.mark.skipif(
    shutil.which("kubectl") is None, reason="kubectl, which renders the manifests, is not installed"
)


@functools.cache
def rendered(folder: str = "example") -> list[dict[str, Any]]:
    done = subprocess.run(
        ["kubectl", "kustomize", K8S / folder], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return [document for document in YAML(typ="safe").load_all(done.stdout) if document]


def named(kind: str, name: str) -> dict[str, Any]:
    (found,) = [
        document
        for document in rendered()
        if document["kind"] == kind and document["metadata"]["name"] == name
    ]
    return found


def instance_config() -> dict[str, Any]:
    """dagster.yaml as it stands in the rendered ConfigMap."""
    return YAML(typ="safe").load(named("ConfigMap", "qindex-instance")["data"]["dagster.yaml"])


def deployments() -> dict[str, dict[str, Any]]:
    """Each Deployment's pod by its name."""
    return {
        document["metadata"]["name"]: document["spec"]["template"]["spec"]
        for document in rendered()
        if document["kind"] == "Deployment"
    }


def secret_keys() -> dict[str, list[str]]:
    """The variables of each Secret, as the example tells a team to make them."""
    found: dict[str, list[str]] = {}
    text = (K8S / "example" / "secrets.example.env").read_text(encoding="utf-8")
    for line in text.partition("\n\n")[2].splitlines():
        if heading := re.match(r"# (qindex-[a-z]+)", line):
            found[heading[1]] = []
        elif name := re.fullmatch(r"([A-Z_]+)=", line):
            found[[*found][-1]].append(name[1])
    return found


def environment(container: dict[str, Any]) -> dict[str, str]:
    """Every variable of a container, of its ConfigMaps, Secrets and own lines."""
    found: dict[str, str] = {}
    for source in container["envFrom"]:
        if "configMapRef" in source:
            found |= named("ConfigMap", source["configMapRef"]["name"])["data"]
        else:
            found |= dict.fromkeys(secret_keys()[source["secretRef"]["name"]], "secret")
    return found | {item["name"]: item.get("value", "a field") for item in container["env"]}


# --- the manifests --------------------------------------------------------------------------


@needs_kubectl
@pytest.mark.parametrize("version", VERSIONS)
def test_every_manifest_is_valid(version: str) -> None:
    for folder in ("base", "example"):
        for document in rendered(folder):
            kubernetes_validate.validate(document, version, strict=True)


@needs_kubectl
def test_a_field_that_kubernetes_does_not_know_is_caught() -> None:
    wrong = json.loads(json.dumps(named("Deployment", "daemon")))
    wrong["spec"]["template"]["spec"]["automountToken"] = False
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


def assert_restricted(pod: dict[str, Any]) -> None:
    """What the namespace's own admission asks of a pod, and a root that nobody writes to."""
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == 10001
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    mounted = {volume["name"] for volume in pod["volumes"]}
    for container in pod["containers"] + pod.get("initContainers", []):
        security = container["securityContext"]
        assert security["allowPrivilegeEscalation"] is False
        assert security["readOnlyRootFilesystem"] is True
        assert security["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}
        assert "memory" in container["resources"]["limits"]
        assert {mount["name"] for mount in container["volumeMounts"]} <= mounted
    assert {key for volume in pod["volumes"] for key in volume} <= {"name", "configMap", "emptyDir"}


@needs_kubectl
def test_every_pod_is_restricted_and_watched() -> None:
    assert set(deployments()) == {"code", "webserver", "daemon"}
    for pod in deployments().values():
        assert_restricted(pod)
        (container,) = pod["containers"]
        assert container["startupProbe"]
        assert container["livenessProbe"]


@needs_kubectl
def test_only_who_launches_or_ends_runs_has_a_token_of_the_cluster() -> None:
    with_token = {
        name for name, pod in deployments().items() if pod["automountServiceAccountToken"]
    }
    assert with_token == {"daemon", "webserver"}
    accounts = [document for document in rendered() if document["kind"] == "ServiceAccount"]
    assert {account["automountServiceAccountToken"] for account in accounts} == {False}
    kinds = {document["kind"] for document in rendered()}
    assert not kinds & {"Secret", "ClusterRole", "ClusterRoleBinding", "Ingress"}


@needs_kubectl
def test_all_processes_and_the_runs_have_one_image() -> None:
    images = {c["image"] for pod in deployments().values() for c in pod["containers"]}
    (code,) = deployments()["code"]["containers"]
    assert images == {environment(code)["DAGSTER_CURRENT_IMAGE"]}
    assert "job_image" not in instance_config()["run_launcher"]["config"]


@needs_kubectl
def test_every_env_of_dagster_yaml_is_set_in_every_process() -> None:
    referenced = set(env_references(instance_config()))
    assert {"DAGSTER_POSTGRES_PASSWORD", "DAGSTER_K8S_NAMESPACE"} <= referenced
    for pod in deployments().values():
        for container in pod["containers"] + pod.get("initContainers", []):
            assert referenced <= set(environment(container)), container["name"]


@needs_kubectl
def test_variables_are_settings_and_the_settings_take_them(monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = deployments()["code"]["containers"]
    given = environment(code)
    ours = {name for name in given if not name.startswith("DAGSTER_")} - DRIVERS
    assert ours <= settings_variables()
    for name, value in (given | {"QINDEX_WEBHOOK_URL": "https://hooks.example.com/"}).items():
        monkeypatch.setenv(name, value)
    settings = Settings.from_env()
    assert settings.is_on_object_store
    mounts = {mount["mountPath"] for mount in code["volumeMounts"]}
    for path in (settings.state_dir, settings.questions, settings.sites.parent):
        assert str(path) in mounts


@needs_kubectl
def test_the_sites_file_of_the_example_is_one(tmp_path: Path) -> None:
    file = tmp_path / "sites.yaml"
    file.write_text(named("ConfigMap", "qindex-sites")["data"]["sites.yaml"])
    assert list(load_sites(file)) == ["docs.example.com"]


# --- the instance ---------------------------------------------------------------------------


def test_the_instance_is_that_of_the_containers_but_for_the_launcher() -> None:
    here, there = (
        YAML(typ="safe").load(folder / "dagster.yaml") for folder in (K8S / "base", K8S.parent)
    )
    for config in (here, there):
        del config["run_launcher"]
        del config["compute_logs"]
        del config["run_monitoring"]["start_timeout_seconds"]  # a node may have to start first
    assert here == there


def test_the_location_is_named_as_everywhere() -> None:
    here, there = (
        YAML(typ="safe").load(folder / "workspace.yaml") for folder in (K8S / "base", K8S.parent)
    )
    assert here == there


@contextmanager
def instance_at(folder: Path, **overrides: Any) -> Generator[dg.DagsterInstance]:
    """The instance of dagster.yaml with SQLite in the place of Postgres."""
    config = YAML(typ="safe").load(K8S / "base" / "dagster.yaml")
    del config["storage"]
    ref = InstanceRef.from_dir(str(folder), overrides=config | overrides)
    with dg.DagsterInstance.from_ref(ref) as instance:
        yield instance


def queued(instance: dg.DagsterInstance, site: str, number: int) -> dg.DagsterRun:
    run = dg.DagsterRun(
        job_name="site_refresh",
        run_id=f"00000000-0000-4000-8000-{number:012}",
        status=dg.DagsterRunStatus.QUEUED,
        tags={"dagster/partition": site},
        remote_job_origin=RemoteJobOrigin(
            RemoteRepositoryOrigin(
                GrpcServerCodeLocationOrigin("code", 4000, location_name="qindex_pipeline"),
                "__repository__",
            ),
            "site_refresh",
        ),
    )
    return instance.add_run(run)


def test_dagsters_queue_keeps_two_runs_of_one_site_apart_on_any_machine(tmp_path: Path) -> None:
    with instance_at(
        tmp_path, run_launcher={"module": "dagster", "class": "DefaultRunLauncher"}
    ) as instance:
        assert isinstance(instance.run_coordinator, QueuedRunCoordinator)

        def next_ones() -> list[str]:
            with QueuedRunCoordinatorDaemon(interval_seconds=1) as daemon:
                found = daemon._get_runs_to_dequeue(
                    instance, instance.get_concurrency_config(), None
                )
            return [run.run_id for run in found]

        first, again, other = (
            queued(instance, site, number)
            for number, site in enumerate(["lantern", "lantern", "gadget"])
        )
        assert next_ones() == [first.run_id, other.run_id]
        instance.report_run_failed(first)
        assert next_ones() == [again.run_id, other.run_id]


# --- a run ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[KubernetesApi]:
    with KubernetesApi() as running:
        yield running


@pytest.fixture
def api(server: KubernetesApi) -> KubernetesApi:
    """The server, as if nobody had asked it anything."""
    server.heal()
    server.jobs.clear()
    server.has_pods = True
    return server


@pytest.fixture(scope="module")
def launcher(
    server: KubernetesApi, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[K8sRunLauncher]:
    """The launcher of dagster.yaml, which speaks to the API on loopback."""
    folder = tmp_path_factory.mktemp("instance")
    kubeconfig = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": server.url}}],
        "users": [{"name": "u", "user": {"token": "any"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    (folder / "kubeconfig").write_text(json.dumps(kubeconfig))
    block = YAML(typ="safe").load(K8S / "base" / "dagster.yaml")["run_launcher"]
    block["config"] |= {
        "load_incluster_config": False,
        "kubeconfig_file": str(folder / "kubeconfig"),
    }
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("DAGSTER_K8S_NAMESPACE", "qindex")
        with instance_at(folder, run_launcher=block) as instance:
            assert isinstance(instance.run_launcher, K8sRunLauncher)
            yield instance.run_launcher


def launched(launcher: K8sRunLauncher, **tags: Any) -> dg.DagsterRun:
    pointer = ModuleCodePointer("qindex_pipeline.definitions", "defs", None)
    origin = JobPythonOrigin(
        "site_refresh",
        RepositoryPythonOrigin("python", pointer, "qindex_pipeline:0.1.0", ["dagster"]),
    )
    run = dg.DagsterRun(
        job_name="site_refresh",
        status=dg.DagsterRunStatus.STARTING,
        tags={name: json.dumps(value) for name, value in tags.items()},
        job_code_origin=origin,
    )
    launcher._instance.add_run(run)
    launcher.launch_run(LaunchRunContext(run, None))
    return run


def test_a_run_is_one_valid_restricted_job_that_cleans_up_after_itself(
    launcher: K8sRunLauncher, api: KubernetesApi
) -> None:
    run = launched(launcher)
    (job,) = api.jobs.values()
    for version in VERSIONS:
        kubernetes_validate.validate(job, version, strict=True)
    assert job["spec"]["backoffLimit"] == 0
    assert job["spec"]["ttlSecondsAfterFinished"] == 86400
    assert job["metadata"]["labels"]["app"] == "qindex_pipeline"
    assert job["metadata"]["labels"]["dagster/run-id"] == run.run_id
    pod = job["spec"]["template"]["spec"]
    assert_restricted(pod)
    assert pod["automountServiceAccountToken"] is False
    assert pod["serviceAccountName"] == "qindex-run"
    assert pod["restartPolicy"] == "Never"
    (container,) = pod["containers"]
    assert container["image"] == "qindex_pipeline:0.1.0"
    assert container["args"][:3] == ["dagster", "api", "execute_run"]
    assert "command" not in container  # the image's entry point stands


@needs_kubectl
def test_a_run_has_every_variable_and_no_secret_but_its_own(
    launcher: K8sRunLauncher, api: KubernetesApi
) -> None:
    launched(launcher)
    (job,) = api.jobs.values()
    (container,) = job["spec"]["template"]["spec"]["containers"]
    given = environment(container)
    assert set(env_references(instance_config())) <= set(given)
    (code,) = deployments()["code"]["containers"]
    kept_back = {"DAGSTER_CURRENT_IMAGE", "QINDEX_WEBHOOK_URL"}
    assert set(environment(code)) - set(given) == kept_back
    mounts = {mount["mountPath"] for mount in code["volumeMounts"]}
    assert mounts <= {mount["mountPath"] for mount in container["volumeMounts"]}


def test_a_tag_may_ask_for_resources_and_for_nothing_else(
    launcher: K8sRunLauncher, api: KubernetesApi
) -> None:
    large = {"limits": {"memory": "8Gi"}}
    launched(launcher, **{"dagster-k8s/config": {"container_config": {"resources": large}}})
    (job,) = api.jobs.values()
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"] == {"memory": "8Gi"}
    for wish in (
        {"pod_spec_config": {"volumes": [{"name": "host", "host_path": {"path": "/"}}]}},
        {"container_config": {"security_context": {"privileged": True}}},
        {"container_config": {"env_from": [{"secret_ref": {"name": "other"}}]}},
        {"container_config": {"image": "stranger:1"}},
    ):
        with pytest.raises(Exception, match="violated the allowed list"):
            launched(launcher, **{"dagster-k8s/config": wish})
    assert len(api.jobs) == 1


@needs_kubectl
def test_the_roles_allow_what_the_launcher_does_and_no_more(
    launcher: K8sRunLauncher, api: KubernetesApi
) -> None:
    run = launched(launcher)
    assert launcher.check_run_worker_health(run).status is WorkerStatus.FAILED
    assert "the last line of the run" in (launcher.get_run_worker_debug_info(run) or "")
    assert launcher.terminate(run.run_id)
    api.has_pods = False
    assert launcher.get_run_worker_debug_info(run)
    roles = [document for document in rendered() if document["kind"] == "Role"]
    allowed = {
        (group, resource, verb)
        for role in roles
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert api.used == allowed
    bound = {
        document["roleRef"]["name"]: {subject["name"] for subject in document["subjects"]}
        for document in rendered()
        if document["kind"] == "RoleBinding"
    }
    assert bound == {
        "launch-runs": {"qindex-daemon"},
        "watch-and-end-runs": {"qindex-daemon", "qindex-webserver"},
    }

"""The calls of Kubernetes' API that Dagster's launcher makes: Jobs, their pods, logs and events."""

import re
from typing import Any

from qindex_pipeline_tests.fakes.loopback import LoopbackServer, RefusedError, Reply, Request

_PATH = re.compile(
    r"/api(?:s/(?P<group>[a-z.]+))?/v1/namespaces/(?P<namespace>[^/]+)/(?P<kind>[a-z]+)"
    r"(?:/(?P<name>[^/]+))?(?:/(?P<part>[a-z]+))?"
)
_POD = {
    "metadata": {"name": "the-pod", "namespace": "qindex"},
    "spec": {"containers": [{"name": "dagster"}]},
    "status": {
        "phase": "Failed",
        "containerStatuses": [
            {
                "name": "dagster",
                "image": "any",
                "imageID": "any",
                "ready": False,
                "restartCount": 0,
                "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}},
            }
        ],
    },
}


class KubernetesApi(LoopbackServer):
    """Takes Jobs, and says of each that its pod was killed. `used` is what RBAC would look at."""

    def __init__(self) -> None:
        super().__init__()
        self.has_pods = True
        """Whether a Job's pod is still there."""
        self.jobs: dict[str, dict[str, Any]] = {}

    @property
    def used(self) -> set[tuple[str, str, str]]:
        """API group, resource and verb of each call so far."""
        return {_permission(request) for request in self.requests}

    def failure(self, status: int, message: str) -> object:
        """A Status object."""
        return {"kind": "Status", "status": "Failure", "message": message, "code": status}

    def answer(self, request: Request) -> Reply:
        """Whatever the launcher asks of its own namespace."""
        found = _PATH.fullmatch(request.path)
        if found is None:
            raise RefusedError(404, f"no such path: {request.path}")
        if found["kind"] == "jobs":
            return Reply(self._jobs(request, found["name"]))
        if found["part"] == "log":
            return Reply("the last line of the run")
        return Reply(
            {"metadata": {}, "items": [_POD] if found["kind"] == "pods" and self.has_pods else []}
        )

    def _jobs(self, request: Request, name: str | None) -> object:
        if request.method == "POST":
            self.jobs[request.body["metadata"]["name"]] = request.body
            return request.body
        if name is None:
            return {"metadata": {}, "items": list(self.jobs.values())}
        if name not in self.jobs:
            raise RefusedError(404, f"jobs {name} not found")
        if request.method == "DELETE":
            return {"kind": "Status", "status": "Success"}
        return self.jobs[name] | {"status": {"failed": 1}}


def _permission(request: Request) -> tuple[str, str, str]:
    found = _PATH.fullmatch(request.path)
    assert found is not None, request.path
    kind = "/".join(filter(None, (found["kind"], found["part"])))
    verb = {"POST": "create", "DELETE": "delete"}.get(request.method)
    return found["group"] or "", kind, verb or ("get" if found["name"] else "list")

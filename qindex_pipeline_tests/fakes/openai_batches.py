"""OpenAI's files and batches, as a store that a fake server keeps for as long as it lives."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_json

from qindex_pipeline_tests.fakes.listener import Reply, Request
from qindex_pipeline_tests.fakes.loopback import RefusedError

Batched = Callable[[Any], tuple[int, object]]


@dataclass
class Batch:
    """One batch: its requests, and how often its state was asked for."""

    batch_id: str
    file_id: str
    requests: list[Any]
    metadata: Mapping[str, str]
    refusal: str = ""
    looks: int = 0
    files: dict[str, str] = field(default_factory=dict)


class BatchStore:
    """Batches and files by id. A batch ends once it was looked at more than `looks` times."""

    def __init__(self) -> None:
        self.looks = 1
        """How often a batch is still being processed when it is looked at."""
        self.fates: dict[str, str] = {}
        """A word in a request, and what becomes of that request: expired or errored."""
        self.refusal = ""
        """Why the next batch is refused as a whole; empty: it is not."""
        self.batches: dict[str, Batch] = {}
        self.files: dict[str, str] = {}
        self._guard = threading.Lock()

    def answer(self, request: Request, batched: Batched) -> Reply:
        """Upload and content of files; create, list and retrieve of batches."""
        with self._guard:
            match request.method, request.path.removeprefix("/v1/").strip("/").split("/"):
                case "POST", ["files"]:
                    return Reply(self._upload(request.body))
                case "GET", ["files", file_id, "content"]:
                    return Reply(self._file(file_id))
                case "POST", ["batches"]:
                    return Reply(self._create(request.body))
                case "GET", ["batches"]:
                    return Reply(self._list(request.query))
                case "GET", ["batches", batch_id]:
                    return Reply(self._look(batch_id, batched))
                case _:
                    raise RefusedError(404, f"Invalid URL ({request.method} {request.path})")

    def _upload(self, form: Mapping[str, str]) -> object:
        if form.get("purpose") != "batch":
            raise RefusedError(400, f"purpose {form.get('purpose')!r} is not known here")
        file_id = self._store(form["file"])
        return {
            "id": file_id,
            "object": "file",
            "bytes": len(form["file"]),
            "created_at": 0,
            "filename": "questions.jsonl",
            "purpose": "batch",
            "status": "processed",
        }

    def _store(self, text: str) -> str:
        file_id = f"file-{len(self.files) + 1}"
        self.files[file_id] = text
        return file_id

    def _file(self, file_id: str) -> str:
        if file_id not in self.files:
            raise RefusedError(404, f"No such File object: {file_id}")
        return self.files[file_id]

    def _create(self, body: Any) -> object:
        requests = [json.loads(line) for line in self._file(body["input_file_id"]).splitlines()]
        batch = Batch(
            batch_id=f"batch_{len(self.batches) + 1}",
            file_id=body["input_file_id"],
            requests=requests,
            metadata=body.get("metadata") or {},
            refusal=self.refusal,
        )
        self.refusal = ""
        self.batches[batch.batch_id] = batch
        return self._shown(batch)

    def _list(self, query: Mapping[str, str]) -> object:
        newest = list(reversed(self.batches.values()))
        ids = [batch.batch_id for batch in newest]
        start = ids.index(query["after"]) + 1 if "after" in query else 0
        page = newest[start : start + int(query.get("limit", 20))]
        return {
            "object": "list",
            "data": [self._shown(batch) for batch in page],
            "has_more": start + len(page) < len(newest),
        }

    def _look(self, batch_id: str, batched: Batched) -> object:
        if batch_id not in self.batches:
            raise RefusedError(404, f"No batch found with id '{batch_id}'.")
        batch = self.batches[batch_id]
        batch.looks += 1
        if self._status(batch) == "completed" and not batch.files:
            answered, failed = list[str](), list[str]()
            for item in batch.requests:
                line = self._line(item, batched)
                good = (line["response"] or {}).get("status_code") == 200
                (answered if good else failed).append(to_json(line).decode())
            for name, lines in (("output_file_id", answered), ("error_file_id", failed)):
                if lines:
                    batch.files[name] = self._store("\n".join(lines) + "\n")
        return self._shown(batch)

    def _line(self, item: Any, batched: Batched) -> dict[str, Any]:
        fate = next((fate for word, fate in self.fates.items() if word in str(item)), "")
        line = {"id": f"batch_req_{item['custom_id']}", "custom_id": item["custom_id"]}
        if fate == "expired":
            error = {"code": "batch_expired", "message": "This request could not be executed."}
            return {**line, "response": None, "error": error}
        status, body = (500, {"error": {"message": "oops"}}) if fate else batched(item["body"])
        return {**line, "response": {"status_code": status, "body": body}, "error": None}

    def _status(self, batch: Batch) -> str:
        if batch.refusal:
            return "failed"
        return "completed" if batch.looks > self.looks else "in_progress"

    def _shown(self, batch: Batch) -> dict[str, Any]:
        total = 0 if batch.refusal else len(batch.requests)
        failed = len(self.files.get(batch.files.get("error_file_id", ""), "").splitlines())
        done = total - failed if self._status(batch) == "completed" else 0
        return {
            "id": batch.batch_id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "created_at": 0,
            "input_file_id": batch.file_id,
            "status": self._status(batch),
            "metadata": batch.metadata,
            "errors": _refused(batch.refusal) if batch.refusal else None,
            "request_counts": {"total": total, "completed": done, "failed": failed},
            **batch.files,
        }


def _refused(message: str) -> object:
    return {"object": "list", "data": [{"code": "invalid", "message": message}]}

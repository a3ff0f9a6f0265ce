"""Anthropic's Message Batches, as a store that a fake server keeps for as long as it lives."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic_core import to_json

from qindex_pipeline_tests.fakes.listener import Reply, Request
from qindex_pipeline_tests.fakes.loopback import RefusedError

MAX_ID = 64
_ROOT = "/v1/messages/batches"


@dataclass
class Batch:
    """One batch: its requests as they came, and how often its state was asked for."""

    batch_id: str
    requests: list[Any]
    created: datetime
    looks: int = 0
    lines: list[dict[str, Any]] = field(default_factory=list)


class BatchStore:
    """Batches by id. One has ended once its state was asked for more than `looks` times."""

    def __init__(self) -> None:
        self.looks = 1
        """How often a batch is still being processed when it is looked at."""
        self.fates: dict[str, str] = {}
        """A word in a request, and what becomes of that request: errored, expired, canceled."""
        self.batches: dict[str, Batch] = {}
        self._guard = threading.Lock()

    def answer(self, request: Request, url: str, batched: Callable[[Any], object]) -> Reply:
        """Create, list, retrieve, results; `batched` gives the reply to one request."""
        with self._guard:
            match request.method, request.path.removeprefix(_ROOT).strip("/").split("/"):
                case "POST", [""]:
                    return Reply(self._create(request.body["requests"], url))
                case "GET", [""]:
                    return Reply(self._list(request.query, url))
                case "GET", [batch_id]:
                    batch = self._batch(batch_id)
                    batch.looks += 1
                    if self._ended(batch) and not batch.lines:
                        batch.lines = [self._line(item, batched) for item in batch.requests]
                    return Reply(self._shown(batch, url))
                case "GET", [batch_id, "results"]:
                    lines = self._batch(batch_id).lines
                    return Reply("".join(to_json(line).decode() + "\n" for line in lines))
                case _:
                    raise RefusedError(404, "Not Found")

    def _create(self, requests: list[Any], url: str) -> object:
        ids = [item["custom_id"] for item in requests]
        if not requests:
            raise RefusedError(400, "requests: List should have at least 1 item")
        if len(set(ids)) < len(ids) or any(not _is_id(custom_id) for custom_id in ids):
            raise RefusedError(400, "requests: custom_id must be unique, of 1 to 64 [a-zA-Z0-9_-]")
        batch = Batch(f"msgbatch_{len(self.batches) + 1}", requests, datetime.now(UTC))
        self.batches[batch.batch_id] = batch
        return self._shown(batch, url)

    def _list(self, query: Mapping[str, str], url: str) -> object:
        newest = list(reversed(self.batches.values()))
        ids = [batch.batch_id for batch in newest]
        start = ids.index(query["after_id"]) + 1 if "after_id" in query else 0
        page = newest[start : start + int(query.get("limit", 20))]
        return {
            "data": [self._shown(batch, url) for batch in page],
            "has_more": start + len(page) < len(newest),
            "first_id": page[0].batch_id if page else None,
            "last_id": page[-1].batch_id if page else None,
        }

    def _batch(self, batch_id: str) -> Batch:
        if batch_id not in self.batches:
            raise RefusedError(404, f"Message Batch {batch_id} not found")
        return self.batches[batch_id]

    def _ended(self, batch: Batch) -> bool:
        return batch.looks > self.looks

    def _line(self, item: Any, batched: Callable[[Any], object]) -> dict[str, Any]:
        text = str(item["params"])
        fate = next((fate for word, fate in self.fates.items() if word in text), "succeeded")
        result: dict[str, Any] = {"type": fate}
        if fate == "succeeded":
            result["message"] = batched(item["params"])
        elif fate == "errored":
            error = {"type": "api_error", "message": "Internal server error"}
            result["error"] = {"type": "error", "error": error}
        return {"custom_id": item["custom_id"], "result": result}

    def _shown(self, batch: Batch, url: str) -> dict[str, Any]:
        ended = self._ended(batch)
        fates = [line["result"]["type"] for line in batch.lines]
        counts = {
            fate: fates.count(fate) for fate in ("succeeded", "errored", "canceled", "expired")
        }
        counts["processing"] = 0 if ended else len(batch.requests)
        return {
            "id": batch.batch_id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": batch.created.isoformat(),
            "expires_at": (batch.created + timedelta(hours=24)).isoformat(),
            "ended_at": datetime.now(UTC).isoformat() if ended else None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{url}{_ROOT}/{batch.batch_id}/results" if ended else None,
        }


def _is_id(text: str) -> bool:
    bare = text.replace("_", "").replace("-", "")
    return 0 < len(text) <= MAX_ID and bare.isascii() and bare.isalnum()

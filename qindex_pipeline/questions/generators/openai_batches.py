"""OpenAI's Batch: a file of chat completions at half the price, answered within 24 hours."""

import json
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from qindex_pipeline.errors import WorkError
from qindex_pipeline.providers import provider_errors
from qindex_pipeline.questions.generators.generator import (
    Answer,
    BatchState,
    InvalidAnswerError,
    Task,
)

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types import Batch
    from openai.types.chat import ChatCompletion

MAX_REQUESTS = 50_000
"""Of one batch, as OpenAI documents it; its file may have 200 MB."""

_ENDPOINT = "/v1/chat/completions"
_LABEL = "qindex_label"
_ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
_NO_BATCHES = frozenset({404, 405, 501})
"""HTTP statuses of a server that speaks the protocol without files and batches."""


class OpenAIBatches:
    """The batch interface of one model. A submission's label stands in the batch's metadata."""

    max_requests = MAX_REQUESTS

    def __init__(
        self,
        model: str,
        client: "OpenAI",
        request: Callable[[Task], Mapping[str, Any]],
        read: Callable[["ChatCompletion"], Answer],
    ) -> None:
        """`request` makes a call's parameters of a task, `read` an answer of its reply."""
        self._model, self._client = model, client
        self._request, self._read = request, read

    def submit(self, tasks: Mapping[str, Task], label: str) -> str:
        """Hand over requests by key; the batch's id. The label may have 512 characters."""
        lines = [
            json.dumps(
                {"custom_id": key, "method": "POST", "url": _ENDPOINT, "body": self._request(task)}
            )
            for key, task in tasks.items()
        ]
        with provider_errors("openai", self._model), self._needs_batches():
            data = ("\n".join(lines) + "\n").encode()
            file = self._client.files.create(file=("questions.jsonl", data), purpose="batch")
            # Without the SDK's retries: when the answer to this call is lost, the batch may be
            # there all the same, and a second one would be paid too. `find` sees it later.
            batch = self._client.with_options(max_retries=0).batches.create(
                input_file_id=file.id,
                endpoint=_ENDPOINT,
                completion_window="24h",
                metadata={_LABEL: label},
            )
        return batch.id

    def find(self, label: str, total: int) -> str | None:  # noqa: ARG002 - of the protocol
        """The newest batch of `label`."""
        with provider_errors("openai", self._model), self._needs_batches():
            for batch in self._client.batches.list(limit=100):
                if (batch.metadata or {}).get(_LABEL) == label:
                    return batch.id
        return None

    def state(self, batch_id: str) -> BatchState | None:
        """How far a batch is; None when OpenAI does not know it.

        A batch that OpenAI refused as a whole (a queue that is full, a model that has no batches)
        has ended with nothing done.
        """
        batch = self._retrieve(batch_id)
        if batch is None:
            return None
        counts = batch.request_counts
        done, total = (counts.completed + counts.failed, counts.total) if counts else (0, 0)
        return BatchState(batch.status in _ENDED, done, total)

    def results(self, batch_id: str) -> Iterator[tuple[str, Answer | InvalidAnswerError | None]]:
        """Each key with its outcome; None for a request that failed, expired or was cancelled.

        None of these is paid. Raises WorkError with OpenAI's reason for a batch that it refused
        as a whole.
        """
        batch = self._retrieve(batch_id)
        if batch is None:
            return
        if batch.status == "failed":
            raise WorkError(f"openai:{self._model} refused the batch {batch_id}: {_reason(batch)}")
        for file_id in (batch.output_file_id, batch.error_file_id):
            if file_id is not None:
                with provider_errors("openai", self._model):
                    content = self._client.files.content(file_id)
                for line in content.iter_lines():
                    if line:
                        row = json.loads(line)
                        yield row["custom_id"], self._outcome(row)

    def _outcome(self, row: Mapping[str, Any]) -> Answer | InvalidAnswerError | None:
        from openai.types.chat import ChatCompletion

        response = row.get("response")
        if response is None or response["status_code"] != 200:
            return None
        try:
            return self._read(ChatCompletion.construct(**response["body"]))
        except InvalidAnswerError as error:
            return error

    def _retrieve(self, batch_id: str) -> "Batch | None":
        from openai import NotFoundError

        with provider_errors("openai", self._model):
            try:
                return self._client.batches.retrieve(batch_id)
            except NotFoundError:
                return None

    @contextmanager
    def _needs_batches(self) -> Generator[None]:
        """A server without the interface, as one line that says which setting to take back."""
        from openai import APIStatusError

        try:
            yield
        except APIStatusError as error:
            if error.status_code not in _NO_BATCHES:
                raise
            raise WorkError(
                f"openai:{self._model}: the server at {self._client.base_url} has no batches "
                f"(HTTP {error.status_code}): unset QINDEX_LLM_BATCH"
            ) from error


def _reason(batch: "Batch") -> str:
    errors = batch.errors.data if batch.errors and batch.errors.data else []
    messages = [error.message for error in errors if error.message]
    return messages[0] if messages else "no reason given"

"""Anthropic's Message Batches: many Messages calls at half the price, within 24 hours."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from qindex_pipeline.providers import provider_errors
from qindex_pipeline.questions.generators.generator import (
    Answer,
    BatchState,
    InvalidAnswerError,
    Task,
)

if TYPE_CHECKING:
    from anthropic import Anthropic
    from anthropic.types import Message
    from anthropic.types.messages import MessageBatch

MAX_REQUESTS = 100_000
"""Of one batch, as Anthropic documents it; its body may have 256 MB."""

_RESULTS_KEPT = timedelta(days=29)
_MARK_LENGTH = 16
_SEPARATOR = "_"


class AnthropicBatches:
    """The batch interface of one model.

    A batch of Anthropic's carries no text of its own, so that a submission's label stands, as a
    short hash, in the id of each of its requests: `<key>_<hash>`. The ids are shown with the
    results, hence only of a batch that has ended.
    """

    max_requests = MAX_REQUESTS

    def __init__(
        self,
        model: str,
        client: "Anthropic",
        request: Callable[[Task], Mapping[str, Any]],
        read: Callable[["Message"], Answer],
    ) -> None:
        """`request` makes a call's parameters of a task, `read` an answer of its reply."""
        self._model, self._client = model, client
        self._request, self._read = request, read

    def submit(self, tasks: Mapping[str, Task], label: str) -> str:
        """Hand over requests by key (of at most 47 characters); the batch's id."""
        mark = _SEPARATOR + _mark(label)
        requests: list[Any] = [
            {"custom_id": key + mark, "params": self._request(task)} for key, task in tasks.items()
        ]
        with provider_errors("anthropic", self._model):
            # Without the SDK's retries: when the answer to this call is lost, the batch may be
            # there all the same, and a second one would be paid too. `find` sees it later.
            client = self._client.with_options(max_retries=0)
            return client.messages.batches.create(requests=requests).id

    def find(self, label: str, total: int) -> str | None:
        """The newest batch of `label`.

        A batch that has ended is known by its requests' ids. One that is still being processed
        shows nothing but its size, and is taken when that is `total`. The risk in this: a batch
        of somebody else's in the same workspace, of the very same size and unfinished, is waited
        for in vain. None of its ids is a key of ours, which are hashes of what is asked, so that
        nothing is taken for an answer that is none; our own batch is then paid and not read.
        """
        with provider_errors("anthropic", self._model):
            for batch in self._client.messages.batches.list(limit=100):
                if batch.created_at < datetime.now(UTC) - _RESULTS_KEPT:
                    break  # the newest come first
                if _total(batch) != total:
                    continue
                if batch.processing_status != "ended":
                    return batch.id
                if batch.results_url is not None and self._has_mark(batch.id, label):
                    return batch.id
        return None

    def state(self, batch_id: str) -> BatchState | None:
        """How far a batch is; None when it is unknown, or its results are kept no more (29 days).

        Anthropic counts no request as done before the whole batch has ended.
        """
        from anthropic import NotFoundError

        with provider_errors("anthropic", self._model):
            try:
                batch = self._client.messages.batches.retrieve(batch_id)
            except NotFoundError:
                return None
        if batch.archived_at is not None:
            return None
        total = _total(batch)
        ended = batch.processing_status == "ended"
        return BatchState(ended, total - batch.request_counts.processing, total)

    def results(self, batch_id: str) -> Iterator[tuple[str, Answer | InvalidAnswerError | None]]:
        """Each key with its outcome; None for a request that failed, expired or was canceled.

        None of these is paid.
        """
        with provider_errors("anthropic", self._model):
            for line in self._client.messages.batches.results(batch_id):
                key = line.custom_id.rpartition(_SEPARATOR)[0]
                reply = line.result.message if line.result.type == "succeeded" else None
                yield key, self._outcome(reply)

    def _outcome(self, reply: "Message | None") -> Answer | InvalidAnswerError | None:
        if reply is None:
            return None
        try:
            return self._read(reply)
        except InvalidAnswerError as error:
            return error

    def _has_mark(self, batch_id: str, label: str) -> bool:
        """Whether the first result's id carries the label; nothing more is read."""
        results = self._client.messages.batches.results(batch_id)
        try:
            return any(line.custom_id.endswith(_SEPARATOR + _mark(label)) for line in results)
        finally:
            results.close()


def _mark(label: str) -> str:
    return hashlib.sha256(label.encode()).hexdigest()[:_MARK_LENGTH]


def _total(batch: "MessageBatch") -> int:
    counts = batch.request_counts
    parts = (counts.processing, counts.succeeded, counts.errored, counts.canceled, counts.expired)
    return sum(parts)

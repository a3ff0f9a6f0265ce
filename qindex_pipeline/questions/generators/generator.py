"""What a question generator is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from qindex_pipeline.errors import WorkError
from qindex_pipeline.questions.generators.proposal import Proposal

Chunk = Mapping[str, Any]
"""A row of the chunks table."""

Failure = Literal["refused", "truncated", "malformed"]
"""Why an answer cannot be used: the model declined, its answer was cut off, or has no shape."""


@dataclass(frozen=True)
class Usage:
    """Tokens of one or more calls, as the provider counted them.

    Attributes:
        tokens_in: Prompt tokens, those that the provider read from its cache included.
        tokens_out: Answer tokens.
        cached_in: Prompt tokens that the provider read from its own cache.
    """

    tokens_in: int = 0
    tokens_out: int = 0
    cached_in: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.cached_in + other.cached_in,
        )


class InvalidAnswerError(WorkError):
    """The model answered, but nothing that can be used; what it took was paid all the same."""

    def __init__(
        self, message: str, failure: Failure = "malformed", usage: Usage | None = None
    ) -> None:
        """`message` for people; `failure` and `usage` for the ledger."""
        super().__init__(message)
        self.failure: Failure = failure
        self.usage = usage or Usage()


@dataclass(frozen=True)
class Task:
    """What a generator is asked for one chunk.

    Attributes:
        chunk: A row of the chunks table.
        kept: Questions of an earlier state of the chunk that still stand: not to be asked again.
    """

    chunk: Chunk
    kept: tuple[Proposal, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What a generator proposed for one chunk, and what it took."""

    proposals: tuple[Proposal, ...]
    usage: Usage = Usage()


class Generator(Protocol):
    """Proposes the questions that a chunk answers.

    Attributes:
        spec: `provider:model`, as the settings name it.
        prompt_version: Version of the prompt or of the rules.
        is_paid: Whether an answer costs a call, and so has to be remembered.
    """

    spec: str
    prompt_version: str
    is_paid: bool

    def generate(self, task: Task) -> Answer:
        """The questions of one chunk; safe to call from several threads.

        Raises InvalidAnswerError for an answer that cannot be used, WorkError when the provider
        fails.
        """
        ...

    def estimate(self, task: Task) -> Usage:
        """What a call for `task` will take, roughly; nothing is asked."""
        ...

    @property
    def batches(self) -> "Batches | None":
        """The provider's batch interface, None where it has none."""
        ...


@dataclass(frozen=True)
class BatchState:
    """How far a batch is, in requests."""

    ended: bool
    done: int
    total: int


class Batches(Protocol):
    """A provider's batch interface: many requests handed over at once, answered at half the price.

    Every method raises WorkError when the provider fails.
    """

    def submit(self, tasks: Mapping[str, Task], label: str) -> str:
        """Hand over requests by key (at most 47 characters); the batch's id at the provider.

        `label` is stored with the batch where the provider can, so that `find` sees it.
        """
        ...

    def find(self, label: str, total: int) -> str | None:
        """The id of a batch of `total` requests, submitted under `label`, that was never noted."""
        ...

    def state(self, batch_id: str) -> BatchState | None:
        """How far a batch is; None when the provider does not know it any more."""
        ...

    def results(self, batch_id: str) -> Iterator[tuple[str, Answer | InvalidAnswerError | None]]:
        """Each key with its outcome, in any order; None for a request that was never answered."""
        ...

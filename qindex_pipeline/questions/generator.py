"""What a question generator is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from qindex_pipeline.errors import WorkError
from qindex_pipeline.questions.proposal import Proposal

Chunk = Mapping[str, Any]
"""A row of the chunks table."""


class InvalidAnswerError(WorkError):
    """The model answered, but not in the shape that was asked for."""


@dataclass(frozen=True)
class Answer:
    """What a generator proposed for one chunk, and what it took."""

    proposals: tuple[Proposal, ...]
    tokens_in: int = 0
    tokens_out: int = 0


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

    def generate(self, chunk: Chunk) -> Answer:
        """The questions of one chunk; safe to call from several threads.

        Raises InvalidAnswerError for an answer out of shape, WorkError when the provider fails.
        """
        ...

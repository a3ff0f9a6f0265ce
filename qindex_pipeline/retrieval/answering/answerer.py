"""What an answerer is, and how a setting `provider:model` becomes one.

An answerer sees only results that passed the threshold, and is never called without one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from qindex_pipeline.errors import UsageError
from qindex_pipeline.retrieval.result import Result

if TYPE_CHECKING:
    from qindex_pipeline.settings import Settings


@dataclass(frozen=True)
class Cited:
    """A citation inside an answer.

    Attributes:
        number: Position of the cited result among those that the answerer was given, from 1.
    """

    number: int


@dataclass(frozen=True)
class Ended:
    """How an answer ended that did not simply end.

    Attributes:
        refused: Whether what was written before, if anything, is no answer.
        reason: What happened, in one line for people.
    """

    refused: bool
    reason: str


Part = str | Cited | Ended
"""What an answer arrives as; `Ended`, if it comes at all, comes last."""

NOT_ANSWERED = Ended(refused=True, reason="the passages do not answer it")


class Answerer(Protocol):
    """Writes an answer from passing results."""

    def stream(self, question: str, results: Sequence[Result]) -> Iterator[Part]:
        """The answer, piece by piece, as it is written.

        Raises WorkError when the provider fails, also in the middle of an answer.
        """
        ...


def open_answerer(spec: str, settings: "Settings") -> Answerer:
    """The answerer that `spec` names: `extract`, `anthropic:`, `openai:` or `ollama:` + model.

    Raises UsageError for an unknown provider or a missing key.
    """
    provider, _, model = spec.partition(":")
    if spec == "extract":
        from qindex_pipeline.retrieval.answering.extract import ExtractAnswerer

        return ExtractAnswerer()
    if provider == "anthropic" and model:
        from qindex_pipeline.providers import anthropic_client
        from qindex_pipeline.retrieval.answering.models import AnthropicAnswerer

        return AnthropicAnswerer(model, anthropic_client(settings))
    if provider in {"openai", "ollama"} and model:
        from qindex_pipeline.providers import openai_client
        from qindex_pipeline.retrieval.answering.models import OpenAIAnswerer

        return OpenAIAnswerer(provider, model, openai_client(provider, settings))
    raise UsageError(
        f"answerer {spec!r} is not known: use extract, anthropic:<model>, openai:<model> or "
        "ollama:<model>"
    )

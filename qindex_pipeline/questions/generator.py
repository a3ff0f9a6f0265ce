"""What a question generator is, and how a setting `provider:model` becomes one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from qindex_pipeline.errors import UsageError, WorkError
from qindex_pipeline.questions.proposal import Proposal
from qindex_pipeline.settings import Settings

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


def open_generator(spec: str, settings: Settings) -> Generator:
    """The generator that `spec` names: `rules`, `anthropic:`, `openai:` or `ollama:` + model.

    Raises UsageError for an unknown provider or a missing key.
    """
    provider, _, model = spec.partition(":")
    if spec == "rules":
        from qindex_pipeline.questions.rules_generator import RulesGenerator

        return RulesGenerator(settings.max_questions)
    if provider == "anthropic" and model:
        from qindex_pipeline.providers import anthropic_client
        from qindex_pipeline.questions.anthropic_generator import AnthropicGenerator

        return AnthropicGenerator(model, anthropic_client(settings), settings.max_questions)
    if provider in {"openai", "ollama"} and model:
        from qindex_pipeline.providers import openai_client
        from qindex_pipeline.questions.openai_generator import OpenAIGenerator

        client = openai_client(provider, settings)
        return OpenAIGenerator(provider, model, client, settings.max_questions)
    raise UsageError(
        f"generator {spec!r} is not known: use rules, anthropic:<model>, openai:<model> or "
        "ollama:<model>"
    )

"""How a setting `provider:model` becomes an answerer."""

from typing import TYPE_CHECKING

from qindex_pipeline.errors import UsageError
from qindex_pipeline.retrieval.answering.answerer import Answerer

if TYPE_CHECKING:
    from qindex_pipeline.settings import Settings


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

"""How a setting `provider:model` becomes a question generator."""

from qindex_pipeline.errors import UsageError
from qindex_pipeline.questions.generators.generator import Generator
from qindex_pipeline.settings import Settings


def open_generator(spec: str, settings: Settings) -> Generator:
    """The generator that `spec` names: `rules`, `anthropic:`, `openai:` or `ollama:` + model.

    Raises UsageError for an unknown provider or a missing key.
    """
    provider, _, model = spec.partition(":")
    if spec == "rules":
        from qindex_pipeline.questions.generators.rules import RulesGenerator

        return RulesGenerator(settings.max_questions)
    if provider == "anthropic" and model:
        from qindex_pipeline.providers import anthropic_client
        from qindex_pipeline.questions.generators.anthropic import AnthropicGenerator

        return AnthropicGenerator(model, anthropic_client(settings), settings.max_questions)
    if provider in {"openai", "ollama"} and model:
        from qindex_pipeline.providers import openai_client
        from qindex_pipeline.questions.generators.openai import OpenAIGenerator

        client = openai_client(provider, settings)
        return OpenAIGenerator(provider, model, client, settings.max_questions)
    raise UsageError(
        f"generator {spec!r} is not known: use rules, anthropic:<model>, openai:<model> or "
        "ollama:<model>"
    )

"""Questions by Anthropic's models: structured output through a forced tool."""

from typing import TYPE_CHECKING, Any, cast

from qindex_pipeline.providers import provider_errors
from qindex_pipeline.questions.generator import Answer, Chunk
from qindex_pipeline.questions.parsing import proposals_of
from qindex_pipeline.questions.prompts import (
    PROMPT_VERSION,
    SCHEMA,
    TOOL_NAME,
    system_prompt,
    user_prompt,
)

if TYPE_CHECKING:
    from anthropic import Anthropic

MAX_TOKENS = 2048


class AnthropicGenerator:
    """One Messages call a chunk."""

    prompt_version = PROMPT_VERSION
    is_paid = True

    def __init__(self, model: str, client: "Anthropic", limit: int) -> None:
        """Ask `model` through `client` for at most `limit` questions a chunk."""
        self.spec = f"anthropic:{model}"
        self._model, self._client, self._limit = model, client, limit
        self._request: dict[str, Any] = {
            "model": model,
            "max_tokens": MAX_TOKENS,
            "system": [
                {
                    "type": "text",
                    "text": system_prompt(limit),
                    "cache_control": {"type": "ephemeral"},
                }
            ],
            "tools": [
                {
                    "name": TOOL_NAME,
                    "description": "Record the questions that the passage answers.",
                    "input_schema": dict(SCHEMA),
                }
            ],
            "tool_choice": {"type": "tool", "name": TOOL_NAME},
        }

    def generate(self, chunk: Chunk) -> Answer:
        """Ask for the questions of one chunk."""
        content = user_prompt(chunk["title"], chunk["heading_path"], chunk["text"])
        with provider_errors("anthropic", self._model):
            reply = self._client.messages.create(
                **self._request, messages=[{"role": "user", "content": content}]
            )
        calls = [block.input for block in reply.content if block.type == "tool_use"]
        payload = cast(object, calls[0] if calls else None)
        return Answer(
            proposals_of(payload, self._limit, self.spec),
            reply.usage.input_tokens,
            reply.usage.output_tokens,
        )

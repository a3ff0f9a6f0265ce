"""Questions by OpenAI's models, Ollama's, and servers that speak the same protocol."""

from typing import TYPE_CHECKING, Any

from qindex_pipeline.providers import provider_errors
from qindex_pipeline.questions.generator import Answer, Chunk
from qindex_pipeline.questions.parsing import parse_json, proposals_of
from qindex_pipeline.questions.prompts import (
    PROMPT_VERSION,
    SCHEMA,
    TOOL_NAME,
    system_prompt,
    user_prompt,
)

if TYPE_CHECKING:
    from openai import OpenAI


class OpenAIGenerator:
    """One chat completion a chunk, its shape held by a JSON schema."""

    prompt_version = PROMPT_VERSION
    is_paid = True

    def __init__(self, provider: str, model: str, client: "OpenAI", limit: int) -> None:
        """Ask `model` through `client`; `provider` is `openai` or `ollama`."""
        self.spec = f"{provider}:{model}"
        self._provider, self._model = provider, model
        self._client, self._limit = client, limit
        self._format: Any = {
            "type": "json_schema",
            "json_schema": {"name": TOOL_NAME, "strict": True, "schema": dict(SCHEMA)},
        }

    def generate(self, chunk: Chunk) -> Answer:
        """Ask for the questions of one chunk."""
        content = user_prompt(chunk["title"], chunk["heading_path"], chunk["text"])
        with provider_errors(self._provider, self._model):
            reply = self._client.chat.completions.create(
                model=self._model,
                messages=[
                    {"role": "system", "content": system_prompt(self._limit)},
                    {"role": "user", "content": content},
                ],
                response_format=self._format,
            )
        payload = parse_json(reply.choices[0].message.content or "", self.spec)
        usage = reply.usage
        return Answer(
            proposals_of(payload, self._limit, self.spec),
            usage.prompt_tokens if usage else 0,
            usage.completion_tokens if usage else 0,
        )

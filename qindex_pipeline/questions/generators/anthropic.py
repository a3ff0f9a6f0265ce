"""Questions by Anthropic's models: structured output through a forced tool."""

from typing import TYPE_CHECKING, Any, cast

from qindex_pipeline.providers import foreign_reply, provider_errors
from qindex_pipeline.questions.generators.anthropic_batches import AnthropicBatches
from qindex_pipeline.questions.generators.generator import (
    Answer,
    InvalidAnswerError,
    Task,
    Usage,
)
from qindex_pipeline.questions.generators.parsing import paid, parse_json, proposals_of
from qindex_pipeline.questions.generators.prompts import (
    TOOL_NAME,
    answer_tokens,
    prompt_version,
    rough_tokens,
    schema,
    system_prompt,
    typical_answer,
    user_prompt,
)

if TYPE_CHECKING:
    from anthropic import Anthropic
    from anthropic.types import Message

# Anthropic prepends a system prompt of its own to a call that forces a tool.
_FORCED_TOOL_TOKENS = 313

_CUT_OFF = frozenset({"max_tokens", "model_context_window_exceeded"})


class AnthropicGenerator:
    """One Messages call a chunk."""

    is_paid = True

    def __init__(self, model: str, client: "Anthropic", limit: int) -> None:
        """Ask `model` through `client` for at most `limit` questions a chunk."""
        self.spec = f"anthropic:{model}"
        self.prompt_version = prompt_version(limit)
        self._model, self._client, self._limit = model, client, limit
        # The mark on the system prompt lets the provider cache the tool too, which stands before
        # it. Haiku 4.5 caches from 4,096 tokens on, Sonnet 4.5 from 1,024; the fixed part has
        # about 700, so that with these models nothing is cached and nothing more is paid.
        self._fixed: dict[str, Any] = {
            "model": model,
            "max_tokens": answer_tokens(limit),
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
                    "description": "Record the questions that the chunk answers.",
                    "input_schema": schema(limit),
                }
            ],
            "tool_choice": {"type": "tool", "name": TOOL_NAME},
        }

    @property
    def batches(self) -> AnthropicBatches:
        """Message Batches: half the price, within 24 hours."""
        return AnthropicBatches(self._model, self._client, self.request, self.read)

    def estimate(self, task: Task) -> Usage:
        """By the length of the whole prompt, and an ordinary answer."""
        fixed = rough_tokens(system_prompt(self._limit), str(self._fixed["tools"]))
        tokens_in = _FORCED_TOOL_TOKENS + fixed + rough_tokens(user_prompt(task))
        return Usage(tokens_in, typical_answer(task, self._limit))

    def generate(self, task: Task) -> Answer:
        """Ask for the questions of one chunk."""
        from anthropic.types import Message

        with provider_errors("anthropic", self._model):
            reply = self._client.messages.create(**self.request(task))
        if not isinstance(reply, Message):
            raise foreign_reply(self.spec, str(self._client.base_url))
        return self.read(reply)

    def request(self, task: Task) -> dict[str, Any]:
        """The parameters of the call for `task`."""
        messages = [{"role": "user", "content": user_prompt(task)}]
        return self._fixed | {"messages": messages}

    def read(self, reply: "Message") -> Answer:
        """What a reply proposes. Raises InvalidAnswerError, with what the reply took."""
        usage = _usage(reply)
        with paid(usage):
            if reply.stop_reason == "refusal":
                raise InvalidAnswerError(f"{self.spec} declined to answer", "refused")
            if reply.stop_reason in _CUT_OFF:
                raise InvalidAnswerError(f"{self.spec} gave an answer that is cut off", "truncated")
            return Answer(proposals_of(self._payload(reply), self._limit, self.spec), usage)

    def _payload(self, reply: "Message") -> object:
        for block in reply.content:
            if block.type == "tool_use":
                return cast(object, block.input)
        # Servers that only speak the protocol may not know how to force a tool.
        text = "".join(block.text for block in reply.content if block.type == "text")
        return parse_json(text, self.spec)


def _usage(reply: "Message") -> Usage:
    """Anthropic counts tokens read from its cache, and those written to it, beside the others."""
    usage = reply.usage
    cached = usage.cache_read_input_tokens or 0
    tokens_in = usage.input_tokens + cached + (usage.cache_creation_input_tokens or 0)
    return Usage(tokens_in, usage.output_tokens, cached)

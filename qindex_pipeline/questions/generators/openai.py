"""Questions by OpenAI's models, Ollama's, and servers that speak the same protocol."""

from typing import TYPE_CHECKING, Any

from qindex_pipeline.providers import foreign_reply, provider_errors
from qindex_pipeline.questions.generators.generator import (
    Answer,
    InvalidAnswerError,
    Task,
    Usage,
)
from qindex_pipeline.questions.generators.openai_batches import OpenAIBatches
from qindex_pipeline.questions.generators.parsing import paid, parse_json, proposals_of
from qindex_pipeline.questions.generators.prompts import (
    JSON_SHAPE,
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
    from openai import APIStatusError, OpenAI
    from openai.types.chat import ChatCompletion

THINKING_TOKENS = 2048
"""More tokens for an answer here: a model that thinks spends them before it begins. Together with
the answer's own the bound that ends a small model's endless repetition."""

# Hosts that take `max_completion_tokens` alone with newer models. Ollama knows only `max_tokens`,
# vLLM, llama.cpp and LM Studio know both.
_OWN_HOSTS = ("api.openai.com", ".openai.azure.com")

_FORMAT_REFUSED = frozenset({400, 422})
_FORMAT_WORDS = ("response format", "json schema", "json object", "json mode", "structured output")


class OpenAIGenerator:
    """One chat completion a chunk.

    Its shape is held by a JSON schema. A server that refuses that is asked for any JSON, then
    for plain text, from then on and by all threads.
    """

    is_paid = True

    def __init__(self, provider: str, model: str, client: "OpenAI", limit: int) -> None:
        """Ask `model` through `client`; `provider` is `openai` or `ollama`."""
        self.spec = f"{provider}:{model}"
        self.prompt_version = prompt_version(limit)
        self._provider, self._model = provider, model
        self._client, self._limit = client, limit
        # Small models do not see the schema that their server holds them to. OpenAI refuses to
        # answer in JSON unless the prompt says so.
        self._system = system_prompt(limit) + JSON_SHAPE
        own = client.base_url.host.endswith(_OWN_HOSTS)
        self._fixed: dict[str, Any] = {
            "model": model,
            ("max_completion_tokens" if own else "max_tokens"): (
                THINKING_TOKENS + answer_tokens(limit)
            ),
        }
        shape = schema(limit, bounded=not own)
        json_schema = {"name": TOOL_NAME, "strict": True, "schema": shape}
        self._formats: tuple[dict[str, Any], ...] = (
            {"response_format": {"type": "json_schema", "json_schema": json_schema}},
            {"response_format": {"type": "json_object"}},
            {},
        )
        self._format = 0

    @property
    def batches(self) -> OpenAIBatches | None:
        """OpenAI's Batch: half the price, within 24 hours; Ollama has none."""
        if self._provider == "ollama":
            return None
        return OpenAIBatches(self._model, self._client, self.request, self.read)

    def estimate(self, task: Task) -> Usage:
        """By the length of the whole prompt, and an ordinary answer."""
        tokens_in = rough_tokens(self._system, user_prompt(task))
        return Usage(tokens_in, typical_answer(task, self._limit))

    def generate(self, task: Task) -> Answer:
        """Ask for the questions of one chunk."""
        with provider_errors(self._provider, self._model):
            reply = self._ask(task)
        return self.read(reply)

    def request(self, task: Task) -> dict[str, Any]:
        """The parameters of the call for `task`."""
        messages = [
            {"role": "system", "content": self._system},
            {"role": "user", "content": user_prompt(task)},
        ]
        return self._fixed | {"messages": messages} | self._formats[self._format]

    def read(self, reply: "ChatCompletion") -> Answer:
        """What a reply proposes. Raises InvalidAnswerError, with what the reply took."""
        usage = _usage(reply)
        with paid(usage):
            if not reply.choices:
                raise InvalidAnswerError(f"{self.spec} answered nothing")
            choice = reply.choices[0]
            if choice.message.refusal or choice.finish_reason == "content_filter":
                raise InvalidAnswerError(f"{self.spec} declined to answer", "refused")
            if choice.finish_reason == "length":
                raise InvalidAnswerError(f"{self.spec} gave an answer that is cut off", "truncated")
            payload = parse_json(choice.message.content or "", self.spec)
            return Answer(proposals_of(payload, self._limit, self.spec), usage)

    def _ask(self, task: Task) -> "ChatCompletion":
        from openai import APIStatusError
        from openai.types.chat import ChatCompletion

        while True:
            tried = self._format
            try:
                reply = self._client.chat.completions.create(**self.request(task))
            except APIStatusError as error:
                if tried == len(self._formats) - 1 or not _refuses_format(error):
                    raise
                self._format = max(self._format, tried + 1)
                continue
            if not isinstance(reply, ChatCompletion):
                raise foreign_reply(self.spec, str(self._client.base_url))
            return reply


def _refuses_format(error: "APIStatusError") -> bool:
    """Whether a server means the response format; each words it in its own way."""
    words = str(error).lower().replace("_", " ")
    return error.status_code in _FORMAT_REFUSED and any(word in words for word in _FORMAT_WORDS)


def _usage(reply: "ChatCompletion") -> Usage:
    """OpenAI counts cached tokens among the prompt's; some servers count nothing at all."""
    usage = reply.usage
    if usage is None:
        return Usage()
    details = usage.prompt_tokens_details
    cached = (details.cached_tokens or 0) if details else 0
    return Usage(usage.prompt_tokens, usage.completion_tokens, cached)

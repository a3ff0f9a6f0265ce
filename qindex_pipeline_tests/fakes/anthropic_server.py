"""Anthropic's Messages API: plain answers, also streamed, a forced tool, structured output.

Message Batches stand in `anthropic_batches`.
"""

from collections.abc import Collection
from typing import Any

from pydantic_core import from_json, to_json

from qindex_pipeline_tests.fakes.anthropic_batches import BatchStore
from qindex_pipeline_tests.fakes.language_model import (
    asks_for_questions,
    count_words,
    fit_to_schema,
    open_object,
    text_of,
    write_answer,
    write_questions,
)
from qindex_pipeline_tests.fakes.loopback import LoopbackServer, RefusedError, Reply, Request
from qindex_pipeline_tests.fakes.standalone import arguments, run_until_stopped
from qindex_pipeline_tests.fakes.streaming import Said, anthropic_events

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class AnthropicServer(LoopbackServer):
    """`url` is the SDK's `base_url`. A key that is missing or contains "wrong" is refused."""

    def __init__(
        self, *, port: int = 0, models: Collection[str] = ("claude-haiku-4-5-20251001",)
    ) -> None:
        super().__init__(port=port)
        self.models = models
        self.batches = BatchStore()
        self.cached = 0
        """Tokens of each prompt that come from the provider's cache."""

    def failure(self, status: int, message: str) -> object:
        """Anthropic's error envelope."""
        error = {"type": _ERROR_TYPES.get(status, "api_error"), "message": message}
        return {"type": "error", "error": error, "request_id": f"req_{len(self.requests)}"}

    def answer(self, request: Request) -> Reply:
        """POST /v1/messages, and /v1/messages/batches with what stands below it."""
        _check_key(key_of(request))
        if request.path.startswith("/v1/messages/batches"):
            return self.batches.answer(request, self.url, self.batched)
        if (request.method, request.path) != ("POST", "/v1/messages"):
            raise RefusedError(404, "Not Found")
        body = request.body or {}
        self._check(body)
        said = self._said_to(body)
        message = self._message(body, said)
        headers = {"request-id": f"req_{len(self.requests)}"}
        if not body.get("stream"):
            return Reply(message, headers=headers)
        error = {"type": "overloaded_error", "message": said.error} if said.error else None
        stream = anthropic_events(message, error).broken_after(self.break_after)
        return Reply(stream, headers=headers)

    def batched(self, body: Any) -> object:
        """The reply to one request of a batch."""
        self._check(body)
        return self._message(body, self._said_to(body))

    def _check(self, body: Any) -> None:
        for name in ("model", "max_tokens", "messages"):
            if name not in body:
                raise RefusedError(400, f"{name}: Field required")
        if body["model"] not in self.models:
            raise RefusedError(404, f"model: {body['model']}")

    def _said_to(self, body: Any) -> Said:
        prompt = _prompt(body)
        if asks_for_questions(prompt):
            return self.take_proposed() or Said(_questions(prompt))
        return self.take_said(write_answer(prompt))

    def _message(self, body: Any, said: Said) -> dict[str, Any]:
        prompt = _prompt(body)
        block = _content(body, prompt, said)
        return {
            "id": f"msg_{len(self.requests)}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [block],
            "stop_reason": _stop_reason(block, said),
            "stop_sequence": None,
            "usage": {
                "input_tokens": count_words(text_of(body.get("system")), prompt) - self.cached,
                "cache_read_input_tokens": self.cached,
                "cache_creation_input_tokens": 0,
                "output_tokens": count_words(str(block.get("text") or block.get("input"))),
            },
        }


def key_of(request: Request) -> str:
    """The key that a request came with; by SDK version, `x-api-key` or a bearer."""
    bearer = request.headers.get("authorization", "").removeprefix("Bearer").strip()
    return request.headers.get("x-api-key") or bearer


def _check_key(key: str) -> None:
    if not key:
        raise RefusedError(401, "x-api-key header is required")
    if "wrong" in key:
        raise RefusedError(401, "invalid x-api-key")


def _stop_reason(block: Any, said: Said) -> str | None:
    if said.stop is not None:
        return said.stop or None
    return "tool_use" if block["type"] == "tool_use" else "end_turn"


def _prompt(body: Any) -> str:
    return "\n".join(
        text_of(message["content"]) for message in body["messages"] if message["role"] == "user"
    )


def _questions(prompt: str) -> str:
    return to_json({"questions": write_questions(prompt)}).decode()


def _content(body: Any, prompt: str, said: Said) -> dict[str, Any]:
    tool = _forced_tool(body)
    if tool is not None:
        return _tool_use(tool, said)
    output_format = (body.get("output_config") or {}).get("format")
    if output_format is None:
        return {"type": "text", "text": said.text}
    if open_object(output_format["schema"]):
        raise RefusedError(
            400,
            "output_config.format.schema: For 'object' type, 'additionalProperties' must be "
            "explicitly set to false",
        )
    questions = fit_to_schema({"questions": write_questions(prompt)}, output_format["schema"])
    return {"type": "text", "text": to_json(questions).decode()}


def _tool_use(tool: Any, said: Said) -> dict[str, Any]:
    """The tool's input; text that is no JSON stays text, as of a server that forces nothing."""
    try:
        given = from_json(said.text, allow_partial=said.stop == "max_tokens")
    except ValueError:
        return {"type": "text", "text": said.text}
    questions = fit_to_schema(given, tool["input_schema"])
    return {"type": "tool_use", "id": "toolu_1", "name": tool["name"], "input": questions}


def _forced_tool(body: Any) -> Any:
    """The tool that `tool_choice` forces: a named one, or the first when it says "any"."""
    choice = body.get("tool_choice") or {}
    if choice.get("type") not in ("tool", "any"):
        return None
    for tool in body.get("tools") or []:
        if choice["type"] == "any" or tool["name"] == choice["name"]:
            return tool
    raise RefusedError(400, f"tool_choice: tool {choice.get('name')!r} not found in `tools`")


if __name__ == "__main__":
    run_until_stopped(AnthropicServer(port=arguments("anthropic_server").parse_args().port))

"""OpenAI's API: chat completions, embeddings, models, files and batches, its errors."""

import base64
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic_core import to_json

from qindex_pipeline_tests.fakes.hashed_embedding import embed
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
from qindex_pipeline_tests.fakes.openai_batches import BatchStore
from qindex_pipeline_tests.fakes.standalone import arguments, run_until_stopped
from qindex_pipeline_tests.fakes.streaming import Said, openai_events

DIMENSIONS: Mapping[str, int] = {"text-embedding-3-small": 1536, "nomic-embed-text": 768}
MAX_INPUTS = 2048
"""Texts in one embeddings request, as OpenAI documents it."""

_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}


class OpenAIServer(LoopbackServer):
    """`base_url` is the SDK's. A key that is missing or contains "wrong" is refused."""

    def __init__(
        self,
        *,
        port: int = 0,
        chat_models: Collection[str] = ("gpt-4o-mini",),
        embedding_models: Mapping[str, int] = DIMENSIONS,
    ) -> None:
        super().__init__(port=port)
        self.chat_models = chat_models
        self.embedding_models = embedding_models
        """Model name to dimension."""
        self.formats: Collection[str] = ("json_schema", "json_object", "text")
        """Response formats that this server knows; another one is refused with 400."""
        self.batches: BatchStore | None = BatchStore()
        """None: a server that speaks the protocol without files and batches."""
        self.cached = 0
        """Tokens of each prompt that come from the provider's cache."""

    @property
    def base_url(self) -> str:
        """Address with `/v1`, as OPENAI_BASE_URL has it."""
        return f"{self.url}/v1"

    def failure(self, status: int, message: str) -> object:
        """OpenAI's error envelope."""
        kind = "invalid_request_error" if status < 429 else "server_error"
        error = {"message": message, "type": kind, "param": None, "code": _CODES.get(status)}
        return {"error": error}

    def answer(self, request: Request) -> Reply:
        """POST /v1/chat/completions, POST /v1/embeddings, GET /v1/models, files and batches."""
        self.check_key(request)
        if self.batches is not None and request.path.startswith(("/v1/files", "/v1/batches")):
            return self.batches.answer(request, self._batched)
        match request.method, request.path:
            case "POST", "/v1/chat/completions":
                return Reply(self._chat(request.body))
            case "POST", "/v1/embeddings":
                return Reply(self._embeddings(request.body))
            case "GET", "/v1/models":
                return Reply({"object": "list", "data": self._model_list()})
            case _:
                raise RefusedError(404, f"Invalid URL ({request.method} {request.path})")

    def check_key(self, request: Request) -> None:
        """Refuse a missing or wrong Bearer key with 401."""
        key = request.headers.get("authorization", "").removeprefix("Bearer").strip()
        if not key:
            raise RefusedError(401, "You didn't provide an API key.")
        if "wrong" in key:
            raise RefusedError(401, f"Incorrect API key provided: {key}.")

    def check_schema(self, json_schema: Any) -> None:
        """Refuse a strict schema that OpenAI refuses."""
        if json_schema.get("strict") and open_object(json_schema["schema"]):
            raise RefusedError(
                400,
                f"Invalid schema for response_format '{json_schema['name']}': "
                "'additionalProperties' is required to be supplied and to be false.",
            )

    def resolve(self, model: str, known: Collection[str]) -> str:
        """The known model that a request names; 404 when there is none."""
        if model not in known:
            raise RefusedError(
                404, f"The model `{model}` does not exist or you do not have access to it."
            )
        return model

    def _chat(self, body: Any) -> object:
        self.resolve(body["model"], self.chat_models)
        texts = [(message["role"], text_of(message["content"])) for message in body["messages"]]
        prompt = "\n".join(text for role, text in texts if role == "user")
        said = self._said_to(
            body.get("response_format") or {"type": "text"}, [text for _, text in texts], prompt
        )
        used = count_words(*(text for _, text in texts)), count_words(said.text)
        completion = self._completion(body, said, used)
        if not body.get("stream"):
            return completion
        error = {"type": "server_error", "message": said.error} if said.error else None
        return openai_events(completion, error).broken_after(self.break_after)

    def _batched(self, body: Any) -> tuple[int, object]:
        """Status and body of the reply to one request of a batch."""
        try:
            return 200, self._chat(body)
        except RefusedError as refused:
            return refused.status, self.failure(refused.status, refused.message)

    def _completion(self, body: Any, said: Said, used: tuple[int, int]) -> dict[str, Any]:
        message = {"role": "assistant", "content": said.text, "refusal": said.refusal}
        return {
            "id": f"chatcmpl-{len(self.requests)}",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": "stop" if said.stop is None else said.stop or None,
                    "logprobs": None,
                }
            ],
            "usage": {
                "prompt_tokens": used[0],
                "completion_tokens": used[1],
                "total_tokens": sum(used),
                "prompt_tokens_details": {"cached_tokens": self.cached},
            },
        }

    def _said_to(self, response_format: Any, texts: Sequence[str], prompt: str) -> Said:
        kind = response_format["type"]
        if kind not in self.formats:
            known = " or ".join(f"'{name}'" for name in self.formats)
            raise RefusedError(400, f"'response_format.type' must be {known}")
        if kind == "json_object" and not any("json" in text.lower() for text in texts):
            raise RefusedError(
                400,
                "'messages' must contain the word 'json' in some form, to use 'response_format' "
                "of type 'json_object'.",
            )
        if kind == "text" and not asks_for_questions(prompt):
            return self.take_said(write_answer(prompt))
        json_schema = response_format.get("json_schema") or {"schema": {}}
        self.check_schema(json_schema)
        questions = fit_to_schema({"questions": write_questions(prompt)}, json_schema["schema"])
        return self.take_proposed() or Said(to_json(questions).decode())

    def read(self, text: str) -> tuple[str, int]:
        """What an embedding model reads of a text, and its tokens."""
        return text, count_words(text)

    def _embeddings(self, body: Any) -> object:
        dimension = self.embedding_models[self.resolve(body["model"], self.embedding_models)]
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if not 0 < len(texts) <= MAX_INPUTS or not all(texts):
            raise RefusedError(400, "'$.input' is invalid. Please check the API reference.")
        asked = body.get("dimensions") or dimension
        if asked > dimension:
            raise RefusedError(400, f"Invalid value for 'dimensions': {asked} > {dimension}.")
        as_base64 = body.get("encoding_format") == "base64"
        read = [self.read(text) for text in texts]
        tokens = sum(count for _, count in read)
        return {
            "object": "list",
            "model": body["model"],
            "data": [
                {
                    "object": "embedding",
                    "index": index,
                    "embedding": _encoded(_shortened(embed(text, dimension), asked), as_base64),
                }
                for index, (text, _) in enumerate(read)
            ],
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }

    def _model_list(self) -> list[dict[str, Any]]:
        return [
            {"id": name, "object": "model", "created": 0, "owned_by": "library"}
            for name in (*self.chat_models, *self.embedding_models)
        ]


def _shortened(vector: npt.NDArray[np.float32], dimension: int) -> npt.NDArray[np.float32]:
    """The first `dimension` numbers at unit length, as `dimensions` is documented."""
    head = vector[:dimension]
    return head / max(float(np.linalg.norm(head)), 1e-9)


def _encoded(vector: npt.NDArray[np.float32], as_base64: bool) -> str | list[float]:
    return base64.b64encode(vector.tobytes()).decode() if as_base64 else vector.tolist()


if __name__ == "__main__":
    run_until_stopped(OpenAIServer(port=arguments("openai_server").parse_args().port))

"""Ollama: OpenAI's endpoints without a key, and the few of its own that say what is installed."""

from collections.abc import Collection, Mapping
from typing import Any

from qindex_pipeline.embedding.wordpiece import wordpiece
from qindex_pipeline_tests.fakes.loopback import RefusedError, Reply, Request
from qindex_pipeline_tests.fakes.openai_server import OpenAIServer
from qindex_pipeline_tests.fakes.standalone import arguments, run_until_stopped


class OllamaServer(OpenAIServer):
    """`url` is the address of Ollama, `base_url` that of its OpenAI endpoints.

    As in Ollama, a model that was pulled without a tag is listed with `:latest`, and a request
    may leave that tag out. A text longer than the context is cut and nothing is said of it, or
    it is refused, as releases since 0.13.5 do.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        chat_models: Collection[str] = ("qwen2.5:14b",),
        embedding_models: Mapping[str, int] | None = None,
        context_length: int = 2048,
        refuses_long_texts: bool = False,
    ) -> None:
        super().__init__(
            port=port,
            chat_models=chat_models,
            embedding_models=(
                {"nomic-embed-text:latest": 768} if embedding_models is None else embedding_models
            ),
        )
        self.batches = None
        self.context_length = context_length
        self.refuses_long_texts = refuses_long_texts
        self._tokenizer = wordpiece()

    def failure(self, status: int, message: str) -> object:
        """The error envelope of Ollama's OpenAI endpoints."""
        kind = {400: "invalid_request_error", 404: "not_found_error"}.get(status, "api_error")
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}

    def check_key(self, request: Request) -> None:
        """Ollama reads no key."""

    def check_schema(self, json_schema: Any) -> None:
        """Ollama turns any schema into a grammar."""

    def resolve(self, model: str, known: Collection[str]) -> str:
        """The installed model of that name, with or without its `:latest`."""
        for name in (model, f"{model}:latest"):
            if name in known:
                return name
        raise RefusedError(404, f'model "{model}" not found, try pulling it first')

    def read(self, text: str) -> tuple[str, int]:
        """The text up to the context's end, in tokens of nomic-embed-text."""
        encoding = self._tokenizer.encode(text)
        if len(encoding.ids) <= self.context_length:
            return text, len(encoding.ids)
        if self.refuses_long_texts:
            raise RefusedError(400, "the input length exceeds the context length")
        # The last token of the context closes the text.
        return text[: encoding.offsets[self.context_length - 2][1]], self.context_length

    def answer(self, request: Request) -> Reply:
        """GET /, /api/version and /api/tags; the rest as OpenAI's."""
        match request.method, request.path:
            case "GET", "/":
                return Reply("Ollama is running")
            case "GET", "/api/version":
                return Reply({"version": "0.12.6"})
            case "GET", "/api/tags":
                names = (*self.chat_models, *self.embedding_models)
                return Reply({"models": [_installed(name) for name in names]})
            case _:
                return super().answer(request)


def _installed(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "model": name,
        "modified_at": "2026-01-01T00:00:00Z",
        "size": 1,
        "digest": "0" * 64,
        "details": {"format": "gguf"},
    }


if __name__ == "__main__":
    run_until_stopped(OllamaServer(port=arguments("ollama_server").parse_args().port))

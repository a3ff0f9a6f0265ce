"""Answerers that ask a language model, through the providers' own SDKs, streaming.

There is one way to ask, streaming: whoever wants the whole answer reads it to its end.
"""

import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from qindex_pipeline.errors import WorkError
from qindex_pipeline.providers import provider_errors
from qindex_pipeline.retrieval.answering.answerer import Ended, Part
from qindex_pipeline.retrieval.answering.prompt import SYSTEM, user_prompt
from qindex_pipeline.retrieval.answering.text import read_answer
from qindex_pipeline.retrieval.result import Result

if TYPE_CHECKING:
    from anthropic import Anthropic
    from openai import OpenAI

MAX_TOKENS = 1024
"""Of an answer, where the provider's API demands a limit: about 700 words."""

CUT_OFF = Ended(refused=False, reason="the answer was cut off at the model's limit of tokens")
STOPPED = Ended(refused=False, reason="the answer was cut off: its stream ended too early")
DECLINED = Ended(refused=True, reason="the model declined to answer")


class AnthropicAnswerer:
    """Answers by an Anthropic model."""

    def __init__(self, model: str, client: "Anthropic") -> None:
        """Ask `model` through `client`."""
        self._model, self._client = model, client

    def stream(self, question: str, results: Sequence[Result]) -> Iterator[Part]:
        """One Messages call."""
        return read_answer(self._pieces(user_prompt(question, results)), len(results))

    def _pieces(self, prompt: str) -> Generator[str | Ended]:
        reason = None
        with (
            provider_errors("anthropic", self._model),
            self._client.messages.create(
                model=self._model,
                max_tokens=MAX_TOKENS,
                system=SYSTEM,
                messages=[{"role": "user", "content": prompt}],
                stream=True,
            ) as events,
            _breaking_off("anthropic", self._model),
        ):
            for event in events:
                if event.type == "content_block_delta" and event.delta.type == "text_delta":
                    yield event.delta.text
                elif event.type == "message_delta":
                    reason = event.delta.stop_reason
        if reason in {"max_tokens", "model_context_window_exceeded"}:
            yield CUT_OFF
        elif reason == "refusal":
            yield DECLINED
        elif reason is None:
            yield STOPPED


class OpenAIAnswerer:
    """Answers by a model behind OpenAI's protocol, Ollama's included."""

    def __init__(self, provider: str, model: str, client: "OpenAI") -> None:
        """Ask `model` through `client`; `provider` is `openai` or `ollama`."""
        self._provider, self._model, self._client = provider, model, client

    def stream(self, question: str, results: Sequence[Result]) -> Iterator[Part]:
        """One chat completion, without a limit of tokens: a model that thinks spends them first."""
        return read_answer(self._pieces(user_prompt(question, results)), len(results))

    def _pieces(self, prompt: str) -> Generator[str | Ended]:
        reason, refusal = None, ""
        with (
            provider_errors(self._provider, self._model),
            self._client.chat.completions.create(
                model=self._model,
                messages=[
                    {"role": "system", "content": SYSTEM},
                    {"role": "user", "content": prompt},
                ],
                stream=True,
            ) as chunks,
            _breaking_off(self._provider, self._model),
        ):
            # A chunk without a choice carries the usage.
            for choice in (choice for chunk in chunks for choice in chunk.choices):
                reason = choice.finish_reason or reason
                refusal += choice.delta.refusal or ""
                if choice.delta.content:
                    yield choice.delta.content
        if refusal or reason == "content_filter":
            yield DECLINED
        elif reason == "length":
            yield CUT_OFF
        elif reason is None:
            yield STOPPED


@contextmanager
def _breaking_off(provider: str, model: str) -> Generator[None]:
    """A connection that ends while an answer streams, as a WorkError that says so."""
    try:
        yield
    except _connection_errors(provider) as error:
        raise WorkError(
            f"{provider}:{model} broke off in the middle of its answer "
            f"({type(error).__name__}): ask again"
        ) from error


def _connection_errors(provider: str) -> tuple[type[Exception], ...]:
    """What the SDK raises, or lets through from its HTTP library, by its release.

    There are two such libraries; the one in use is loaded by the time that an answer streams.
    """
    if provider == "anthropic":
        from anthropic import APIConnectionError
    else:
        from openai import APIConnectionError
    loaded = (sys.modules.get(name) for name in ("httpx", "httpx2"))
    return APIConnectionError, *(module.HTTPError for module in loaded if module is not None)

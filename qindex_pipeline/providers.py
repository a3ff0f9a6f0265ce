"""Clients of the model providers, opened one way, and their errors as one clear line each.

Retries are the SDKs' own: they honour Retry-After and back off with jitter.
"""

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from qindex_pipeline.errors import TransientError, UsageError, WorkError

if TYPE_CHECKING:
    from anthropic import Anthropic
    from openai import OpenAI

    from qindex_pipeline.settings import Settings

REFUSED = frozenset({401, 403})
"""HTTP statuses by which a provider refuses a key."""

OVERLOADED = frozenset({502, 503, 504, 529})
"""HTTP statuses of a provider that cannot serve right now; 529 is Anthropic's own."""

KEY_VARIABLES = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}


def anthropic_client(settings: "Settings") -> "Anthropic":
    """A client for `anthropic:` models. Raises UsageError when ANTHROPIC_API_KEY is missing."""
    from anthropic import Anthropic

    if settings.anthropic_api_key is None:
        raise _missing_key("anthropic")
    return Anthropic(
        api_key=settings.anthropic_api_key.get_secret_value(),
        base_url=settings.anthropic_base_url,
        max_retries=settings.llm_retries,
        timeout=settings.llm_timeout,
    )


def openai_client(provider: str, settings: "Settings") -> "OpenAI":
    """A client for `openai:` or `ollama:` models.

    A server named by QINDEX_OPENAI_BASE_URL may need no key; OpenAI itself does, and its absence
    raises UsageError.
    """
    from openai import OpenAI

    if provider == "ollama":
        base_url, key = settings.ollama_url.rstrip("/") + "/v1", "ollama"
    else:
        base_url = settings.openai_base_url
        if settings.openai_api_key is not None:
            key = settings.openai_api_key.get_secret_value()
        elif base_url is not None:
            key = "none"
        else:
            raise _missing_key("openai")
    return OpenAI(
        api_key=key,
        base_url=base_url,
        max_retries=settings.llm_retries,
        timeout=settings.llm_timeout,
    )


def _missing_key(provider: str) -> UsageError:
    return UsageError(
        f"{KEY_VARIABLES[provider]} is not set, and the {provider} models need it: set it, or "
        "QINDEX_PROFILE=offline for no key at all"
    )


@contextmanager
def provider_errors(provider: str, model: str) -> Generator[None]:
    """Turn an SDK's exception into a WorkError that says which key, model or address to mend.

    By then the SDK has repeated whatever may pass: lost connections, 429, 5xx.
    """
    try:
        yield
    except _sdk_errors(provider) as error:
        status = getattr(error, "status_code", None)
        # A provider may repeat the refused key in its text, which a log would keep.
        cause = None if status in REFUSED else error
        kind = TransientError if _may_heal(status, error) else WorkError
        raise kind(_explain(provider, model, status, error)) from cause
    except json.JSONDecodeError as error:
        # The SDKs let it through when a reply of status 200 is no JSON.
        raise WorkError(
            f"{provider}:{model} sent a reply that is no JSON ({_first_line(error)}): is a proxy "
            "between, is the address right?"
        ) from error


def foreign_reply(spec: str, address: str) -> WorkError:
    """What to say when the SDK hands on a reply that it cannot read, as of a page in HTML."""
    return WorkError(
        f"{spec}: what answers at {address} does not speak the provider's protocol: is the "
        "address right? OpenAI's usually ends in /v1"
    )


def _sdk_errors(provider: str) -> tuple[type[Exception], ...]:
    """What the SDK raises, and what it lets through from its HTTP library while a reply streams.

    There are two such libraries, by release; the one in use is loaded by then.
    """
    if provider == "anthropic":
        from anthropic import AnthropicError as Own
    else:
        from openai import OpenAIError as Own
    loaded = (sys.modules.get(name) for name in ("httpx", "httpx2"))
    return Own, *(module.HTTPError for module in loaded if module is not None)


def _explain(provider: str, model: str, status: int | None, error: Exception) -> str:
    name = f"{provider}:{model}"
    if status in REFUSED:
        variable = KEY_VARIABLES.get(provider, "the key")
        return f"{name} refused the key (HTTP {status}): check {variable}"
    if status == 404:
        remedy = f"`ollama pull {model}`" if provider == "ollama" else "check the model's name"
        return f"{name} does not exist at this provider (HTTP 404): {remedy}"
    if status is None:
        return f"{name} cannot be reached ({_first_line(error)}): is the address right, is it up?"
    if status == 429:
        return f"{name} {_too_many(error)}"
    if status in OVERLOADED:
        return f"{name} is overloaded (HTTP {status}), after all retries too: run again later"
    return f"{name} answered HTTP {status}: {_first_line(error)}"


def _may_heal(status: int | None, error: Exception) -> bool:
    """Whether the same call may succeed some minutes later, though nobody mends anything."""
    if getattr(error, "code", None) == "insufficient_quota":
        return False
    return status is None or status in {408, 409, 429} or status >= 500


def _too_many(error: Exception) -> str:
    # OpenAI answers 429 to an account without credit too, which no waiting mends.
    if getattr(error, "code", None) == "insufficient_quota":
        return "has no credit left (HTTP 429): check the account's billing"
    return (
        "refuses more calls for now (HTTP 429), after all retries too: wait, lower "
        "QINDEX_LLM_CONCURRENCY, or set QINDEX_LLM_REQUESTS_PER_MINUTE"
    )


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return (lines[0] if lines else type(error).__name__)[:200]

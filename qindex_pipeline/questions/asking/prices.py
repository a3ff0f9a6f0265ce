"""What tokens cost: list prices in US dollars a million tokens, and those that the settings name.

A model that stands in neither has an unknown price, not a price of 0. A price goes with a model's
name: who reaches the model through another address and pays otherwise says so in QINDEX_PRICES.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from qindex_pipeline.errors import UsageError
from qindex_pipeline.questions.generators.generator import Usage
from qindex_pipeline.settings import Settings

PRICES_OF = "2025-10"
"""The month in which the providers' price lists had the figures below."""

BATCH_SHARE = 0.5
"""A batch costs half at Anthropic and at OpenAI."""

CACHED_SHARE: Mapping[str, float] = {"anthropic": 0.1, "openai": 0.5}
"""What a prompt token read from the provider's cache costs, as a share of a fresh one; where the
table below says nothing else. Writing into the cache costs Anthropic's callers 1.25 times a fresh
token; the fixed part of our prompt is below what Haiku caches, so usage does not count it apart."""

FREE = frozenset({"rules", "human", "minilm", "extract", "ollama", "fastembed"})
"""Providers that run on one's own machine."""


@dataclass(frozen=True)
class Price:
    """Dollars a million tokens: prompt, answer, and prompt tokens read from a cache."""

    prompt: float
    answer: float
    cached: float


def _listed() -> Iterator[tuple[str, Price]]:
    for model, prompt, answer in (
        ("claude-haiku-4-5-20251001", 1.0, 5.0),
        ("claude-haiku-4-5", 1.0, 5.0),
        ("claude-sonnet-4-5-20250929", 3.0, 15.0),
        ("claude-sonnet-4-5", 3.0, 15.0),
        ("claude-3-5-haiku-20241022", 0.8, 4.0),
    ):
        yield _price(f"anthropic:{model}", prompt, answer)
    for model, prompt, answer, cached in (
        ("gpt-4o", 2.5, 10.0, 1.25),
        ("gpt-4o-mini", 0.15, 0.6, 0.075),
        ("gpt-4.1", 2.0, 8.0, 0.5),
        ("gpt-4.1-mini", 0.4, 1.6, 0.1),
        ("gpt-4.1-nano", 0.1, 0.4, 0.025),
        ("gpt-5", 1.25, 10.0, 0.125),
        ("gpt-5-mini", 0.25, 2.0, 0.025),
        ("gpt-5-nano", 0.05, 0.4, 0.005),
        ("text-embedding-3-small", 0.02, 0.0, 0.02),
        ("text-embedding-3-large", 0.13, 0.0, 0.13),
    ):
        yield f"openai:{model}", Price(prompt, answer, cached)


def _price(spec: str, prompt: float, answer: float) -> tuple[str, Price]:
    provider = spec.partition(":")[0]
    return spec, Price(prompt, answer, prompt * CACHED_SHARE.get(provider, 1.0))


LISTED: Mapping[str, Price] = dict(_listed())
"""The list price of each model by `provider:model`."""


@dataclass(frozen=True)
class Prices:
    """What each model costs: the settings' prices before the listed ones."""

    named: Mapping[str, Price]

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Read QINDEX_PRICES. Raises UsageError naming the part that is no price."""
        parts = (settings.prices or "").split(",")
        return cls(dict(_parsed(part.strip()) for part in parts if part.strip()))

    def of(self, spec: str) -> Price | None:
        """The price of a model; None when it is not known."""
        if spec in self.named:
            return self.named[spec]
        if spec.partition(":")[0] in FREE:
            return Price(0.0, 0.0, 0.0)
        return LISTED.get(spec)

    def cost(self, spec: str, usage: Usage, *, batch: bool = False) -> float | None:
        """Dollars for `usage` of a model; 0 for no tokens at all, None for an unknown price.

        Args:
            spec: The model, as `provider:model`.
            usage: Its tokens; those read from a cache are among the prompt's.
            batch: Whether they went through the batch interface, at half the price.
        """
        if usage.tokens_in + usage.tokens_out == 0:
            return 0.0
        price = self.of(spec)
        if price is None:
            return None
        fresh = usage.tokens_in - usage.cached_in
        dollars = (
            fresh * price.prompt + usage.cached_in * price.cached + usage.tokens_out * price.answer
        ) / 1_000_000
        return dollars * BATCH_SHARE if batch else dollars

    def source(self, spec: str) -> str:
        """Where a model's price comes from, for people."""
        if spec in self.named:
            return "QINDEX_PRICES"
        if spec.partition(":")[0] in FREE:
            return "runs on your own machine"
        if spec in LISTED:
            return f"list price of {PRICES_OF}"
        return f"price unknown: add {spec}=in/out to QINDEX_PRICES"


def _parsed(part: str) -> tuple[str, Price]:
    spec, _, figures = part.rpartition("=")
    provider, _, model = spec.strip().partition(":")
    prompt, slash, answer = figures.partition("/")
    if not (provider and model and slash):
        raise _malformed(part)
    return _price(spec.strip(), _dollars(prompt, part), _dollars(answer, part))


def _dollars(figure: str, part: str) -> float:
    try:
        dollars = float(figure)
    except ValueError:
        raise _malformed(part) from None
    if not math.isfinite(dollars) or dollars < 0:
        raise _malformed(part)
    return dollars


def _malformed(part: str) -> UsageError:
    return UsageError(
        f"QINDEX_PRICES: {part!r} is no price: write provider:model=in/out in dollars a million "
        "tokens, such as openai:gpt-4o-mini=0.15/0.60, separated by commas"
    )

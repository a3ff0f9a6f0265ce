"""How a run asks, as the settings say it."""

from dataclasses import dataclass, field
from typing import Self

from qindex_pipeline.questions.asking.prices import Prices
from qindex_pipeline.settings import Settings


@dataclass(frozen=True)
class AskingOptions:
    """How a run asks.

    Attributes:
        concurrency: Calls in flight.
        max_questions: Questions a chunk, at most.
        max_failed_share: Of the chunks, that may be without a valid answer.
        requests_per_minute: To the provider, at most; None: no limit of ours.
        tokens_per_minute: To and from the provider, at most; None: no limit of ours.
        max_cost_usd: Of this run's calls; None: no cap.
        prices: What the models cost.
        batch: Whether to ask through the batch interface, where the provider has one.
        batch_poll: Seconds between two looks at a batch.
    """

    concurrency: int = 4
    max_questions: int = 8
    max_failed_share: float = 0.10
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    max_cost_usd: float | None = None
    prices: Prices = field(default_factory=lambda: Prices({}))
    batch: bool = False
    batch_poll: float = 30.0

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """The settings' options. Raises UsageError for malformed prices."""
        return cls(
            concurrency=settings.llm_concurrency,
            max_questions=settings.max_questions,
            max_failed_share=settings.max_failed_share,
            requests_per_minute=settings.llm_requests_per_minute,
            tokens_per_minute=settings.llm_tokens_per_minute,
            max_cost_usd=settings.max_cost_usd,
            prices=Prices.from_settings(settings),
            batch=settings.llm_batch,
            batch_poll=settings.llm_batch_poll,
        )

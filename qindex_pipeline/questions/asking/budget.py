"""What a run spends, and the cap that it keeps to.

Beside other calls in flight a call goes only while the most that they all may cost fits; the
last ones under the cap go alone, as long as the dearest so far would fit. A run thus ends within
one call of its cap, on either side.
"""

import threading

from qindex_pipeline.errors import UsageError
from qindex_pipeline.questions.asking.prices import Prices
from qindex_pipeline.questions.generators.generator import Usage

PROMPT_MARGIN = 2
"""Estimates count characters; code and scripts other than Latin take up to twice the tokens."""


class Budget:
    """The money of one run; safe for several threads.

    Attributes:
        calls: Calls that were charged.
        usage: Their tokens.
    """

    def __init__(
        self, spec: str, prices: Prices, cap: float | None = None, answer_tokens: int = 0
    ) -> None:
        """Count what calls of `spec` cost.

        Args:
            spec: The model, as `provider:model`.
            prices: What the models cost.
            cap: Dollars that the run may spend; None: any.
            answer_tokens: The most that an answer may take.

        Raises:
            UsageError: There is a cap, and the model's price is not known.
        """
        check_cap(spec, prices, cap)
        self.calls, self.usage = 0, Usage()
        self._spec, self._prices, self._cap = spec, prices, cap
        self._answer_tokens = answer_tokens
        self._lock = threading.Lock()
        self._spent: float | None = 0.0
        self._reserved = self._dearest = 0.0

    @property
    def spent(self) -> float | None:
        """Dollars; None when the price is not known."""
        return self._spent

    def take(self, estimate: Usage, *, batch: bool = False) -> float | None:
        """Reserve the most that a call may cost; None when it must not be made, or not yet.

        Args:
            estimate: About what the call will take.
            batch: Whether it is one of a batch, of which all have to fit.
        """
        if self._cap is None:
            return 0.0
        with self._lock:
            most = max(self._most(estimate, batch=batch), self._dearest)
            spent = self._spent or 0.0
            is_alone = self._reserved == 0 and not batch
            fits = spent + self._reserved + most <= self._cap
            if not fits and not (
                is_alone and spent < self._cap and spent + self._dearest <= self._cap
            ):
                return None
            self._reserved += most
            return most

    def charge(self, reserved: float, usage: Usage, *, batch: bool = False) -> None:
        """Count a call that was made, and free what was reserved for it."""
        with self._lock:
            self._reserved = self._without(reserved)
            self.calls += 1
            self.usage += usage
            cost = self._prices.cost(self._spec, usage, batch=batch)
            if cost is None or self._spent is None:
                self._spent = None
            else:
                self._spent += cost
                self._dearest = max(self._dearest, cost)

    def release(self, reserved: float) -> None:
        """Free what was reserved for a call that cost nothing."""
        with self._lock:
            self._reserved = self._without(reserved)

    def cap_line(self, answered: int, total: int) -> str:
        """What a run says that ends at its cap."""
        return (
            f"QINDEX_MAX_COST_USD={self._cap:g} stops this run: ${self._spent or 0.0:.4f} are "
            f"spent, {answered} of {total} chunks are answered; raise QINDEX_MAX_COST_USD and run "
            "again, what was answered is kept"
        )

    def _without(self, reserved: float) -> float:
        # Sums of floats leave a rest; below a millionth of a cent nothing is in flight.
        rest = self._reserved - reserved
        return rest if rest > 1e-8 else 0.0

    def _most(self, estimate: Usage, *, batch: bool) -> float:
        usage = Usage(
            estimate.tokens_in * PROMPT_MARGIN, max(estimate.tokens_out, self._answer_tokens)
        )
        return self._prices.cost(self._spec, usage, batch=batch) or 0.0


def check_cap(spec: str, prices: Prices, cap: float | None) -> None:
    """Raise UsageError when a cap is set that cannot be kept: nobody knows the model's price."""
    if cap is not None and prices.cost(spec, Usage(1, 1)) is None:
        raise UsageError(
            f"QINDEX_MAX_COST_USD is set, but the price of {spec} is not known: add "
            f"{spec}=in/out, in dollars a million tokens, to QINDEX_PRICES"
        )

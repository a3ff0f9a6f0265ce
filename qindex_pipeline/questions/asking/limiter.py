"""How many requests and tokens a minute go to one provider, whoever in this process asks.

Calls are spaced evenly: a provider that counts by the second refuses a minute's calls at once.
The wait that a provider itself asks for (Retry-After) is the SDKs' own.
"""

import threading
import time
from collections.abc import Callable
from functools import cache


class Limiter:
    """Tells each call how long to wait; safe for several threads."""

    def __init__(
        self,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Without a number there is no limit. `clock` tells seconds."""
        self._seconds_a_request = 60 / requests_per_minute if requests_per_minute else 0.0
        self._seconds_a_token = 60 / tokens_per_minute if tokens_per_minute else 0.0
        self._clock = clock
        self._lock = threading.Lock()
        self._free_at = clock()
        self._tokens_free_at = self._free_at

    def reserve(self, tokens: int) -> float:
        """Seconds that a call of about so many tokens has to wait; its turn is its own."""
        with self._lock:
            now = self._clock()
            turn = max(now, self._free_at, self._tokens_free_at)
            self._free_at = turn + self._seconds_a_request
            self._tokens_free_at = turn + tokens * self._seconds_a_token
            return turn - now

    def correct(self, tokens: int) -> None:
        """Count so many tokens more than were reserved, or fewer where negative."""
        with self._lock:
            self._tokens_free_at += tokens * self._seconds_a_token


@cache
def limiter_of(
    provider: str,  # noqa: ARG001 - the cache's key
    requests_per_minute: int | None,
    tokens_per_minute: int | None,
) -> Limiter:
    """The limiter that all runs of this process share for a provider."""
    return Limiter(requests_per_minute, tokens_per_minute)

"""When a host may be asked: intervals, pauses, back-off, and giving up on it.

One `Pace` serves a crawl, whichever engine fetches. It knows hosts by their netloc and asks
nothing itself.
"""

import asyncio
import random
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from qindex_pipeline.crawl.fetch.private import is_loopback
from qindex_pipeline.crawl.outcomes import FetchOutcome, Outcome
from qindex_pipeline.crawl.urls import normalise
from qindex_pipeline.sites import Site

_INTERVAL_SECONDS = 0.5
_JITTER = 0.2
_MAX_CRAWL_DELAY_SECONDS = 10.0
_MAX_PAUSE_SECONDS = 120.0
_MAX_BACK_OFF_SECONDS = 60.0
_UNHURRIED_SHARE = 1 / 50  # of the back-off, where the host is one's own
_FAILURES_TO_OPEN = 5
_HOST_FAILURES = frozenset(
    {
        Outcome.CONNECT_ERROR,
        Outcome.DNS_ERROR,
        Outcome.CONNECT_TIMEOUT,
        Outcome.READ_TIMEOUT,
        Outcome.TOTAL_TIMEOUT,
        Outcome.RESET,
        Outcome.HTTP_5XX,
        Outcome.HTTP_429,
    }
)
"""Outcomes that speak of the host, not of the page."""


@dataclass
class _Host:
    """What is known of one host: `ready_at` is the clock's time of the next request."""

    interval: float
    slots: asyncio.Semaphore
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    ready_at: float = 0.0
    failures: int = 0
    opened_by: FetchOutcome | None = None


class Pace:
    """Grants turns to ask a host, and is told what became of them."""

    def __init__(
        self,
        site: Site,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Pace the hosts of `site` by its options.

        Args:
            site: Its min_interval and concurrency hold for every host.
            clock: Seconds that never run backwards.
            sleep: Waits that many of them.
            chance: A number from 0 to 1, for the jitter.
        """
        self._site = site
        self._clock, self._sleep, self._chance = clock, sleep, chance
        self._hosts: dict[str, _Host] = {}

    @property
    def unavailable(self) -> FetchOutcome | None:
        """The fetch that made us give up the site's own host, None while it is asked."""
        return self.failure_of(normalise(self._site.public_url) or self._site.public_url)

    def failure_of(self, url: str) -> FetchOutcome | None:
        """The fetch that made us give up the host of `url`, None while it is asked."""
        return self._of(url).opened_by

    @asynccontextmanager
    async def turn(self, url: str) -> AsyncGenerator[None]:
        """Wait until the host of `url` may be asked, and hold one of its slots for the request.

        A host that was given up grants turns at once: look at `failure_of` inside.
        """
        host = self._of(url)
        async with host.slots:
            # Waiting under the lock makes a queue: one at a time, first come, first served.
            async with host.lock:
                while (seconds := host.ready_at - self._clock()) > 0 and host.opened_by is None:
                    await self._sleep(seconds)
                host.ready_at = max(host.ready_at, self._clock() + self._jittered(host.interval))
            yield

    async def back_off(self, url: str, attempt: int) -> None:
        """Wait before a request is repeated: 1, 2, 4 and so on seconds, from attempt 0 on."""
        seconds = min(2.0**attempt, _MAX_BACK_OFF_SECONDS)
        if self._of(url).interval == 0:
            seconds *= _UNHURRIED_SHARE
        await self._sleep(self._jittered(seconds))

    def interval_of(self, url: str) -> float:
        """Seconds between two requests to the host of `url`, at least."""
        return self._of(url).interval

    def slow_down(self, host: str, seconds: float) -> None:
        """Ask `host` (a netloc) no faster than its robots.txt wants, within 10 s."""
        found = self._host(host)
        found.interval = max(found.interval, min(seconds, _MAX_CRAWL_DELAY_SECONDS))

    def pause(self, url: str, seconds: float) -> None:
        """Ask nothing of the host of `url` for that long, at most 120 s (Retry-After)."""
        host = self._of(url)
        until = self._clock() + min(seconds, _MAX_PAUSE_SECONDS)
        host.ready_at = max(host.ready_at, until)

    def record(self, fetch: FetchOutcome) -> None:
        """Count what became of a page in the end; five failures in a row give its host up."""
        host = self._of(fetch.final_url)
        if fetch.outcome in _HOST_FAILURES:
            host.failures += 1
            if host.failures >= _FAILURES_TO_OPEN and host.opened_by is None:
                host.opened_by = fetch
        elif fetch.status is not None:
            host.failures = 0

    def _jittered(self, seconds: float) -> float:
        return seconds * (1 + _JITTER * self._chance())

    def _of(self, url: str) -> _Host:
        return self._host(urlsplit(url).netloc)

    def _host(self, netloc: str) -> _Host:
        if netloc not in self._hosts:
            slots = asyncio.Semaphore(self._site.concurrency)
            self._hosts[netloc] = _Host(self._interval(netloc), slots)
        return self._hosts[netloc]

    def _interval(self, netloc: str) -> float:
        if self._site.min_interval is not None:
            return self._site.min_interval
        is_own = self._site.folder is not None or is_loopback(
            urlsplit(f"//{netloc}").hostname or ""
        )
        return 0.0 if is_own else _INTERVAL_SECONDS


def retry_after(header: str | None, now: datetime) -> float | None:
    """The seconds that a Retry-After header asks for, in seconds or as an HTTP date.

    None when there is no header or it says neither.
    """
    text = (header or "").strip()
    if re.fullmatch(r"\d+", text, re.ASCII):
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - now).total_seconds())

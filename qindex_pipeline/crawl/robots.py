"""robots.txt: what the site allows our user agent, read by Protego."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Protocol
from urllib.parse import urlsplit

from qindex_pipeline.crawl.agent import USER_AGENT
from qindex_pipeline.crawl.outcomes import FetchOutcome, Outcome


class Robots(Protocol):
    """What one host's robots.txt says."""

    def allows(self, url: str) -> bool:
        """Whether our user agent may request `url`."""
        ...

    @property
    def crawl_delay(self) -> float | None:
        """Seconds between requests that the host asks for."""
        ...

    @property
    def sitemaps(self) -> Sequence[str]:
        """The addresses of its sitemaps, as they are written there."""
        ...


@dataclass(frozen=True)
class AllowAll:
    """No rules: a folder on disk, or a host without robots.txt."""

    crawl_delay: float | None = None
    sitemaps: Sequence[str] = ()

    def allows(self, url: str) -> bool:  # noqa: ARG002  the protocol's parameter
        """Always true."""
        return True


class RobotsRules:
    """The rules of a robots.txt that could be read."""

    def __init__(self, text: str) -> None:
        """Parse `text`; lines that mean nothing are ignored."""
        from protego import Protego

        self._rules = Protego.parse(text)

    def allows(self, url: str) -> bool:
        """Whether the longest matching rule for our user agent allows `url`."""
        return bool(self._rules.can_fetch(url, USER_AGENT))

    @property
    def crawl_delay(self) -> float | None:
        """The Crawl-delay for our user agent."""
        return self._rules.crawl_delay(USER_AGENT)

    @property
    def sitemaps(self) -> Sequence[str]:
        """The Sitemap lines."""
        return tuple(self._rules.sitemaps)


@dataclass(frozen=True)
class Unavailable:
    """robots.txt could not be had, so nothing of the host may be asked in this run."""

    fetch: FetchOutcome
    crawl_delay: float | None = None
    sitemaps: Sequence[str] = ()

    def allows(self, url: str) -> bool:  # noqa: ARG002  the protocol's parameter
        """Always false."""
        return False


@dataclass(frozen=True)
class RobotsOfHosts:
    """The robots.txt of each of a site's hosts; a host without an entry has no rules."""

    by_host: Mapping[str, Robots] = field(default_factory=dict[str, Robots])

    def of(self, url: str) -> Robots:
        """The rules of the host of `url`."""
        return self.by_host.get(urlsplit(url).netloc, AllowAll())

    def refused(self, url: str) -> FetchOutcome | None:
        """What becomes of `url` without a request: its rules could not be read, or forbid it.

        None when it may be asked.
        """
        robots = self.of(url)
        if isinstance(robots, Unavailable):
            error = f"robots.txt could not be fetched: {robots.fetch.error}"
            return replace(robots.fetch, final_url=url, requests=0, error=error)
        if robots.allows(url):
            return None
        return FetchOutcome(Outcome.ROBOTS_DISALLOWED, url, datetime.now(UTC))

    def refusal(self, url: str) -> Outcome | None:
        """The outcome of `refused`."""
        fetch = self.refused(url)
        return None if fetch is None else fetch.outcome


def rules_from(fetch: FetchOutcome, text: str) -> Robots:
    """What a fetch of robots.txt means: 2xx rules, 4xx no rules, anything else nothing allowed.

    Redirects that never end count as no rules (RFC 9309, 2.3.1.2); too many requests, and a
    redirect into a private network, as a host that cannot be asked now.
    """
    if fetch.outcome in {Outcome.HTTP_429, Outcome.PRIVATE_ADDRESS}:
        return Unavailable(fetch)
    if fetch.status is not None and 300 <= fetch.status < 500:
        return AllowAll()
    return RobotsRules(text) if fetch.outcome is Outcome.OK else Unavailable(fetch)

"""robots.txt: what the site allows our user agent, read by Protego."""

from dataclasses import dataclass
from typing import Protocol

from qindex_pipeline.crawl.agent import USER_AGENT
from qindex_pipeline.crawl.outcomes import FetchOutcome, Outcome


class Robots(Protocol):
    """Answers whether a URL may be asked."""

    def allows(self, url: str) -> bool:
        """Whether our user agent may request `url`."""
        ...


class AllowAll:
    """No rules: a folder on disk, or a site without robots.txt."""

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


@dataclass(frozen=True)
class Unavailable:
    """robots.txt could not be had, so nothing of the site may be asked in this run."""

    fetch: FetchOutcome

    def allows(self, url: str) -> bool:  # noqa: ARG002  the protocol's parameter
        """Always false."""
        return False


def rules_from(fetch: FetchOutcome, text: str) -> Robots:
    """What a fetch of robots.txt means: 2xx rules, 4xx no rules, anything else nothing allowed.

    Redirects that never end count as no rules.
    """
    if fetch.status is not None and 300 <= fetch.status < 500:
        return AllowAll()
    return RobotsRules(text) if fetch.outcome is Outcome.OK else Unavailable(fetch)

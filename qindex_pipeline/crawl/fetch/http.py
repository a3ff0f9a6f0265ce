"""Fetching over HTTP: which URL is asked when, again, or not at all.

A fetch never raises for what a server or a network does: every way to fail is an outcome.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from aiohttp.abc import AbstractResolver

from qindex_pipeline.crawl.address import Addresses
from qindex_pipeline.crawl.fetch.access import Access
from qindex_pipeline.crawl.fetch.answers import error_text
from qindex_pipeline.crawl.fetch.charset import decode
from qindex_pipeline.crawl.fetch.exchange import Exchange, Got, Wanted
from qindex_pipeline.crawl.fetch.pace import Pace
from qindex_pipeline.crawl.outcomes import RETRYABLE, FetchOutcome, Hop, Outcome
from qindex_pipeline.crawl.result import Validators
from qindex_pipeline.sites import Site

_MAX_REDIRECTS = 5
_MAX_ROBOTS_BYTES = 500 * 1024  # what RFC 9309 asks a crawler to read at least
_MARKUP = frozenset({"text/html", "application/xhtml+xml"})
# How PDF, zip, PNG, GIF, JPEG and gzip files begin, which some servers label as pages.
_FILES = (b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"\x1f\x8b")
_TEXT = frozenset({"text/plain", "text/markdown"})

Gate = Callable[[str], Outcome | None]
"""Says why a redirect must not be followed to this URL, or None when it may."""


@dataclass(frozen=True)
class Response:
    """A fetch and, when it is `ok`, its decoded body."""

    fetch: FetchOutcome
    text: str = ""


@dataclass(frozen=True)
class Document:
    """A fetch and, when it is `ok`, its body without content encoding, undecoded."""

    fetch: FetchOutcome
    body: bytes = b""


class HttpFetcher:
    """One HTTP session for a crawl; public URLs in, public URLs out.

    `pace` and `access` are the crawl's: whoever else fetches for it, shares them.
    """

    def __init__(
        self,
        site: Site,
        addresses: Addresses,
        *,
        resolver: AbstractResolver | None = None,
        pace: Pace | None = None,
    ) -> None:
        """Ask the servers of `site`, at the place that `addresses` names for each public URL.

        Args:
            site: Its limits and credentials hold for the session.
            addresses: Where the loopback server of a folder stands.
            resolver: Looks names up, instead of the system.
            pace: Of the crawl; by default a new one.

        Raises:
            UsageError: A variable or file that the site's options name is missing.
        """
        self.access = Access.of(site, os.environ)
        self.pace = Pace(site) if pace is None else pace
        self._site = site
        self._exchange = Exchange(site, addresses, self.access, resolver)

    async def __aenter__(self) -> Self:
        """Open the session."""
        await self._exchange.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the session."""
        await self._exchange.__aexit__(kind, error, trace)

    async def page(self, url: str, gate: Gate, validators: Validators | None = None) -> Response:
        """Fetch a page, following at most five redirects that `gate` lets through.

        With `validators` of the last time the outcome may be `not_modified`.
        """
        types, accept = _MARKUP, "text/html,application/xhtml+xml"
        if self._site.accept_text:
            types, accept = types | _TEXT, f"{accept},text/markdown;q=0.9,text/plain;q=0.8"
        limit = self._site.max_html_bytes
        wanted = Wanted(types, limit, accept, validators=validators or Validators())
        return _decoded(await self._chain(url, gate, wanted))

    async def robots(self, url: str) -> Response:
        """Fetch robots.txt: any media type, redirects to anywhere public, the first 500 KiB."""
        wanted = Wanted(None, _MAX_ROBOTS_BYTES, cuts=True)
        return _decoded(await self._chain(url, _anywhere, wanted))

    async def document(self, url: str, gate: Gate, max_bytes: int) -> Document:
        """Fetch a sitemap or a text beside the pages: any media type, as bytes."""
        got = await self._chain(url, gate, Wanted(None, max_bytes))
        return Document(got.fetch, got.body)

    async def _chain(self, url: str, gate: Gate, wanted: Wanted) -> Got:
        """Ask for `url` and where it redirects to; the fetch is that of the last answer."""
        hops: list[Hop] = []
        got = await self._asked(url, wanted, self._site.retries)
        while got.target is not None:
            before = got.fetch
            hops.append(Hop(url=before.final_url, status=before.status or 0))
            refusal = self._refusal(got.target, hops, gate)
            if refusal is not None:
                got = Got(replace(before, outcome=refusal, final_url=got.target))
                break
            left = self._site.retries - before.retries
            got = _after(before, await self._asked(got.target, wanted, left))
        self.pace.record(got.fetch)
        return replace(got, fetch=replace(got.fetch, redirects=tuple(hops)))

    def _refusal(self, target: str, hops: list[Hop], gate: Gate) -> Outcome | None:
        if len(hops) > _MAX_REDIRECTS or target in (hop["url"] for hop in hops):
            return Outcome.REDIRECT_LOOP
        return gate(target) if self._exchange.allows(target) else Outcome.PRIVATE_ADDRESS

    async def _asked(self, url: str, wanted: Wanted, retries: int) -> Got:
        """Ask for one URL, again for as long as that may help."""
        got = await self._turn(url, wanted)
        for attempt in range(retries):
            if got.fetch.outcome not in RETRYABLE:
                break
            await self.pace.back_off(url, attempt)
            again = await self._turn(url, wanted)
            if again.fetch.outcome is Outcome.SITE_UNAVAILABLE:  # given up meanwhile
                break
            counted = replace(again.fetch, requests=attempt + 2, retries=attempt + 1)
            got = replace(again, fetch=counted)
        return got

    async def _turn(self, url: str, wanted: Wanted) -> Got:
        """Ask once, when it is this URL's turn, unless its host must not be asked."""
        if not self._exchange.allows(url):
            text = f"{urlsplit(url).hostname} is a private address"
            return _refused(url, Outcome.PRIVATE_ADDRESS, text)
        async with self.pace.turn(url):
            down = self.pace.failure_of(url)
            if down is not None:
                text = f"not asked: the host was given up after {down.error}"
                return _refused(url, Outcome.SITE_UNAVAILABLE, text)
            got = await self._exchange.get(url, wanted)
            if got.retry_after is not None:
                self.pace.pause(url, got.retry_after)
            return got


def _anywhere(url: str) -> Outcome | None:  # noqa: ARG001  the gate's parameter
    return None


def _refused(url: str, outcome: Outcome, error: str) -> Got:
    return Got(FetchOutcome(outcome, url, datetime.now(UTC), error=error_text(error)))


def _after(before: FetchOutcome, got: Got) -> Got:
    """`got` with the requests of the redirects before it counted too."""
    fetch = replace(
        got.fetch,
        requests=before.requests + got.fetch.requests,
        retries=before.retries + got.fetch.retries,
    )
    return replace(got, fetch=fetch)


def _decoded(got: Got) -> Response:
    if got.fetch.outcome is not Outcome.OK:
        return Response(got.fetch)
    if got.body.startswith(_FILES):
        error = f"labelled {got.fetch.content_type}, but the body is a binary file"
        fetch = replace(got.fetch, outcome=Outcome.UNSUPPORTED_CONTENT_TYPE, error=error)
        return Response(fetch)
    is_markup = got.fetch.content_type in _MARKUP
    text, charset, source = decode(got.body, got.header_charset, is_markup=is_markup)
    return Response(replace(got.fetch, charset=charset, charset_source=source), text)

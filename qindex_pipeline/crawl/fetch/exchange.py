"""One request and its answer: the session, its limits, and what is made of each response.

Whether a URL may be asked, when, and what to do with a redirect is the fetcher's.
"""

import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

import aiohttp
from aiohttp.abc import AbstractResolver
from yarl import URL

from qindex_pipeline.crawl.address import Addresses
from qindex_pipeline.crawl.agent import USER_AGENT
from qindex_pipeline.crawl.fetch import answers
from qindex_pipeline.crawl.fetch.access import Access
from qindex_pipeline.crawl.fetch.pace import retry_after
from qindex_pipeline.crawl.fetch.private import GuardedResolver
from qindex_pipeline.crawl.fetch.proxies import proxy_for, proxy_hosts
from qindex_pipeline.crawl.fetch.unpacking import ACCEPTED
from qindex_pipeline.crawl.outcomes import RETRYABLE, FetchOutcome, Outcome
from qindex_pipeline.crawl.result import Validators
from qindex_pipeline.crawl.urls import normalise, resolve
from qindex_pipeline.sites import Site

_CONNECT_SECONDS = 10.0
_READ_SECONDS = 20.0
_MAX_HEADER_BYTES = 32 * 1024  # of one header: policies and preload lists outgrow aiohttp's 8


class BrokenConnectionError(Exception):
    """What aiohttp raised for a connection that broke or never came about."""

    def __init__(self, reason: aiohttp.ClientError) -> None:
        """Keep `reason`."""
        super().__init__(str(reason))
        self.reason = reason


async def _once(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Keep aiohttp from repeating a request over a broken connection at once and uncounted.

    It does so for its own exceptions only.
    """
    try:
        return await handler(request)
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise BrokenConnectionError(error) from error


@dataclass(frozen=True)
class Wanted:
    """What a request asks for: `types` None takes any, `cuts` keeps the head of a long body."""

    types: frozenset[str] | None
    max_bytes: int
    accept: str = "*/*"
    cuts: bool = False
    validators: Validators = field(default_factory=Validators)

    def headers(self) -> dict[str, str]:
        """The request's headers, conditional ones included."""
        etag, date = self.validators.etag, self.validators.last_modified
        given = {"Accept": self.accept, "If-None-Match": etag, "If-Modified-Since": date}
        return {name: value for name, value in given.items() if value}


@dataclass(frozen=True)
class Got:
    """One answer: a body, or the target of a redirect, or neither.

    `retry_after` is the number of seconds for which the host wants to be left alone.
    """

    fetch: FetchOutcome
    body: bytes = b""
    header_charset: str | None = None
    target: str | None = None
    retry_after: float | None = None


class Exchange:
    """The aiohttp session of a crawl. Use as an async context manager."""

    def __init__(
        self,
        site: Site,
        addresses: Addresses,
        access: Access,
        resolver: AbstractResolver | None = None,
    ) -> None:
        """Ask by the limits of `site`; `resolver` looks names up instead of the system."""
        self._site, self._addresses, self._access = site, addresses, access
        self._resolver = resolver

    async def __aenter__(self) -> Self:
        """Open the session and find out whether the site has a private address."""
        start = self._addresses.local(normalise(self._site.public_url) or self._site.public_url)
        inner = self._resolver or aiohttp.ThreadedResolver()
        self._guard = GuardedResolver(inner, start, proxy_hosts())
        if proxy_for(start) is None:  # behind a proxy names need not resolve here
            await self._guard.decide()
        timeout = self._site.timeout
        self._session = aiohttp.ClientSession(
            # The pace limits the requests in flight: a second queue would only eat time-outs.
            connector=aiohttp.TCPConnector(limit=0, resolver=self._guard, ssl=self._access.tls),
            headers={"User-Agent": USER_AGENT, "Accept-Encoding": ACCEPTED},
            auto_decompress=False,
            middlewares=(_once,),
            timeout=aiohttp.ClientTimeout(
                total=timeout,
                connect=min(_CONNECT_SECONDS, timeout),
                sock_read=min(_READ_SECONDS, timeout),
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            max_line_size=_MAX_HEADER_BYTES,
            max_field_size=_MAX_HEADER_BYTES,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the session."""
        await self._session.close()
        await self._guard.close()

    def allows(self, url: str) -> bool:
        """Whether a URL's host is no private IP address, or one that may be asked.

        Names are judged when they resolve: the outcome of their request is `private_address`.
        """
        return self._guard.allows(self._addresses.local(url))

    async def get(self, url: str, wanted: Wanted) -> Got:
        """Ask for one URL, following no redirect."""
        begun = time.monotonic()
        fetch = FetchOutcome(Outcome.OK, url, datetime.now(UTC), requests=1)
        local = self._addresses.local(url)
        try:
            async with self._session.get(
                URL(local, encoded=True),
                allow_redirects=False,
                headers=wanted.headers() | self._access.headers_for(url),
                proxy=proxy_for(local),
                proxy_headers={"User-Agent": USER_AGENT},
            ) as answer:
                conditional = wanted.validators != Validators()
                fetch = answers.described(fetch, answer, is_conditional=conditional)
                got = await self._read(fetch, answer, wanted)
        except BrokenConnectionError as broken:
            got = Got(answers.failed(fetch, broken.reason))
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            got = Got(answers.failed(fetch, error))
        elapsed = round((time.monotonic() - begun) * 1000)
        return replace(got, fetch=replace(got.fetch, elapsed_ms=elapsed))

    async def _read(
        self, fetch: FetchOutcome, answer: aiohttp.ClientResponse, wanted: Wanted
    ) -> Got:
        if answer.status in answers.REDIRECTS:
            return self._redirect(fetch, answer)
        if fetch.outcome is Outcome.NOT_MODIFIED:
            etag = fetch.etag or wanted.validators.etag
            date = fetch.last_modified or wanted.validators.last_modified
            return Got(replace(fetch, etag=etag, last_modified=date))
        if fetch.outcome is not Outcome.OK:
            header = answer.headers.get("Retry-After") if fetch.outcome in RETRYABLE else None
            return Got(fetch, retry_after=retry_after(header, datetime.now(UTC)))
        if wanted.types is not None and fetch.content_type not in wanted.types:
            kind = answers.error_text(f"content type {fetch.content_type}")
            return Got(replace(fetch, outcome=Outcome.UNSUPPORTED_CONTENT_TYPE, error=kind))
        body = await answers.capped(answer, wanted.max_bytes)
        if len(body) > wanted.max_bytes and not wanted.cuts:
            text = f"more than {wanted.max_bytes} bytes"
            return Got(replace(fetch, outcome=Outcome.TOO_LARGE, error=text))
        body = body[: wanted.max_bytes]
        return Got(replace(fetch, response_bytes=len(body)), body, answer.charset)

    def _redirect(self, fetch: FetchOutcome, answer: aiohttp.ClientResponse) -> Got:
        location = answer.headers.get("Location", "")
        if not location:
            text = f"HTTP {answer.status} without a Location header"
            return Got(replace(fetch, outcome=Outcome.HTTP_4XX, error=text))
        local = resolve(self._addresses.local(fetch.final_url), location)
        if local is None:
            text = f"HTTP {answer.status} to {location!r}, which is no web address"
            outcome, error = Outcome.OUT_OF_SCOPE_REDIRECT, answers.error_text(text)
            return Got(replace(fetch, outcome=outcome, error=error))
        target = self._addresses.public(local)
        error = answers.error_text(f"HTTP {answer.status} to {target}")
        return Got(replace(fetch, error=error), target=target)

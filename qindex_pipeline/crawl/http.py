"""Fetching over HTTP: our own redirects, size cap and error names, on aiohttp.

A fetch never raises for what a server or a network does: every way to fail is an outcome.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

import aiohttp
from yarl import URL

from qindex_pipeline.crawl.address import Addresses
from qindex_pipeline.crawl.agent import USER_AGENT
from qindex_pipeline.crawl.charset import decode
from qindex_pipeline.crawl.outcomes import FetchOutcome, Outcome, of_status, one_line
from qindex_pipeline.crawl.urls import resolve

TOTAL_SECONDS = 45.0
_CONNECT_SECONDS = 10.0
_READ_SECONDS = 20.0
_MAX_REDIRECTS = 5
_MAX_BYTES = 5 * 1024 * 1024
_MAX_ROBOTS_BYTES = 500 * 1024  # what RFC 9309 asks a crawler to read at least
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})

# First match wins, so subclasses stand before their bases.
_ERRORS: tuple[tuple[type[BaseException], Outcome], ...] = (
    (aiohttp.ClientConnectorDNSError, Outcome.DNS_ERROR),
    (ValueError, Outcome.DNS_ERROR),  # a host name that cannot be one
    (aiohttp.ClientSSLError, Outcome.TLS_ERROR),
    (aiohttp.ConnectionTimeoutError, Outcome.CONNECT_TIMEOUT),
    (aiohttp.SocketTimeoutError, Outcome.READ_TIMEOUT),
    (TimeoutError, Outcome.TOTAL_TIMEOUT),
    (aiohttp.ClientConnectorError, Outcome.CONNECT_ERROR),
    (aiohttp.ClientPayloadError, Outcome.TRUNCATED),
    (aiohttp.ClientError, Outcome.RESET),
)

Gate = Callable[[str], Outcome | None]
"""Says why a redirect must not be followed to this URL, or None when it may."""


@dataclass(frozen=True)
class Response:
    """A fetch and, when it is `ok`, its decoded body."""

    fetch: FetchOutcome
    text: str = ""


class HttpFetcher:
    """One HTTP session for a crawl; public URLs in, public URLs out."""

    def __init__(self, addresses: Addresses) -> None:
        """Ask the server that `addresses` names for each public URL."""
        self._addresses = addresses

    async def __aenter__(self) -> Self:
        """Open the session."""
        self._session = aiohttp.ClientSession(
            headers={"User-Agent": USER_AGENT, "Accept": "text/html,application/xhtml+xml"},
            timeout=aiohttp.ClientTimeout(
                total=TOTAL_SECONDS, sock_connect=_CONNECT_SECONDS, sock_read=_READ_SECONDS
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
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

    async def page(self, url: str, gate: Gate) -> Response:
        """Fetch an HTML page, following at most five redirects that `gate` lets through."""
        seen: list[str] = [url]
        while True:
            response = await self._get(seen[-1], _HTML_TYPES, _MAX_BYTES)
            target = response.text if response.fetch.status in _REDIRECTS else ""
            if not target:
                return _counted(response, seen)
            refusal = gate(target)
            if target in seen or len(seen) > _MAX_REDIRECTS:
                refusal = Outcome.REDIRECT_LOOP
            if refusal is not None:
                fetch = replace(response.fetch, outcome=refusal, final_url=target)
                return _counted(Response(fetch), seen)
            seen.append(target)

    async def robots(self, url: str) -> Response:
        """Fetch robots.txt: any media type, redirects to anywhere, the first 500 KiB."""
        seen: list[str] = [url]
        while True:
            response = await self._get(seen[-1], None, _MAX_ROBOTS_BYTES)
            target = response.text if response.fetch.status in _REDIRECTS else ""
            if not target or target in seen or len(seen) > _MAX_REDIRECTS:
                return response
            seen.append(target)

    async def _get(self, url: str, types: frozenset[str] | None, max_bytes: int) -> Response:
        begun, fetched_at = time.monotonic(), datetime.now(UTC)
        fetch = FetchOutcome(Outcome.OK, url, fetched_at)
        try:
            async with self._session.get(
                URL(self._addresses.local(url), encoded=True), allow_redirects=False
            ) as answer:
                fetch = _described(fetch, answer)
                response = await self._read(fetch, answer, types, max_bytes)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            failed = replace(fetch, outcome=_named(error), error=one_line(error) or repr(error))
            response = Response(failed)
        elapsed = round((time.monotonic() - begun) * 1000)
        return replace(response, fetch=replace(response.fetch, elapsed_ms=elapsed))

    async def _read(
        self,
        fetch: FetchOutcome,
        answer: aiohttp.ClientResponse,
        types: frozenset[str] | None,
        max_bytes: int,
    ) -> Response:
        if answer.status in _REDIRECTS:
            return self._redirect(fetch, answer)
        if fetch.outcome is not Outcome.OK:
            return Response(replace(fetch, error=f"HTTP {answer.status} {answer.reason or ''}"))
        if types is not None and fetch.content_type not in types:
            kind = f"content type {fetch.content_type}"
            return Response(replace(fetch, outcome=Outcome.UNSUPPORTED_CONTENT_TYPE, error=kind))
        body = await _capped(answer, max_bytes)
        if len(body) > max_bytes and types is not None:
            text = f"more than {max_bytes} bytes"
            return Response(replace(fetch, outcome=Outcome.TOO_LARGE, error=text))
        text, charset = decode(body[:max_bytes], answer.charset)
        return Response(replace(fetch, charset=charset, response_bytes=len(body)), text)

    def _redirect(self, fetch: FetchOutcome, answer: aiohttp.ClientResponse) -> Response:
        location = answer.headers.get("Location", "")
        local = resolve(self._addresses.local(fetch.final_url), location)
        if not location or local is None:
            text = f"HTTP {answer.status} to {location!r}, which is no web address"
            return Response(replace(fetch, outcome=Outcome.OUT_OF_SCOPE_REDIRECT, error=text))
        target = self._addresses.public(local)
        return Response(replace(fetch, error=f"HTTP {answer.status} to {target}"), target)


def _counted(response: Response, seen: list[str]) -> Response:
    return replace(response, fetch=replace(response.fetch, requests=len(seen)))


def _described(fetch: FetchOutcome, answer: aiohttp.ClientResponse) -> FetchOutcome:
    headers = answer.headers
    return replace(
        fetch,
        outcome=of_status(answer.status),
        status=answer.status,
        content_type=answer.content_type if "Content-Type" in headers else "text/html",
        etag=headers.get("ETag"),
        last_modified=headers.get("Last-Modified"),
    )


async def _capped(answer: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    """The decoded body, cut as soon as it is longer than `max_bytes`."""
    body = bytearray()
    async for part in answer.content.iter_chunked(64 * 1024):
        body += part
        if len(body) > max_bytes:
            break
    return bytes(body)


def _named(error: BaseException) -> Outcome:
    return next((name for kind, name in _ERRORS if isinstance(error, kind)), Outcome.RESET)

"""Reading one HTTP response, or the error in its place: facts for a row, and the body.

Nothing here decides whether to ask again or where to go next.
"""

import re
import ssl
from collections.abc import Iterable
from dataclasses import replace

import aiohttp

from qindex_pipeline.crawl.agent import USER_AGENT
from qindex_pipeline.crawl.fetch.private import PrivateAddressError
from qindex_pipeline.crawl.fetch.unpacking import Unpacker, UnpackingError
from qindex_pipeline.crawl.outcomes import FetchOutcome, Outcome, of_status, one_line

REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NOT_MODIFIED = 304
_PART_BYTES = 64 * 1024

# First match wins, so subclasses stand before their bases.
_ERRORS: tuple[tuple[type[BaseException], Outcome], ...] = (
    (PrivateAddressError, Outcome.PRIVATE_ADDRESS),
    (UnpackingError, Outcome.DECODE_ERROR),
    (aiohttp.ClientConnectorDNSError, Outcome.DNS_ERROR),
    (aiohttp.ClientSSLError, Outcome.TLS_ERROR),
    (ssl.SSLError, Outcome.TLS_ERROR),
    # A host name that cannot be one. Behind the TLS errors, some of which are ValueErrors too.
    (ValueError, Outcome.DNS_ERROR),
    (aiohttp.ConnectionTimeoutError, Outcome.CONNECT_TIMEOUT),
    (aiohttp.SocketTimeoutError, Outcome.READ_TIMEOUT),
    (TimeoutError, Outcome.TOTAL_TIMEOUT),
    (aiohttp.ClientConnectorError, Outcome.CONNECT_ERROR),
    (aiohttp.ClientHttpProxyError, Outcome.CONNECT_ERROR),
    (aiohttp.ClientPayloadError, Outcome.TRUNCATED),
    (aiohttp.ClientError, Outcome.RESET),
)

_CREDENTIALS = re.compile(r"//[^/@\s]*@")
_BOT = re.compile(r"[\w*-]+")
_OUR_BOTS = frozenset({"", USER_AGENT.partition("/")[0].lower()})
# Directives of X-Robots-Tag that have a value, which looks like a bot's name before its rules.
_WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)


def described(
    fetch: FetchOutcome, answer: aiohttp.ClientResponse, *, is_conditional: bool
) -> FetchOutcome:
    """`fetch` with what status and headers say; its outcome is `ok` when a body is due."""
    headers = answer.headers
    outcome = _of_answer(answer.status, is_conditional=is_conditional)
    failed = outcome not in {Outcome.OK, Outcome.NOT_MODIFIED}
    error = f"HTTP {answer.status} {answer.reason or ''}".strip()
    return replace(
        fetch,
        outcome=outcome,
        status=answer.status,
        content_type=_storable(answer.content_type) if "Content-Type" in headers else "text/html",
        etag=_storable(headers.get("ETag")),
        last_modified=_storable(headers.get("Last-Modified")),
        robots=robots_directives(headers.getall("X-Robots-Tag", [])),
        error=error_text(error) if failed else None,
    )


def failed(fetch: FetchOutcome, error: BaseException) -> FetchOutcome:
    """`fetch` with the outcome and the text of what was raised in its course."""
    text = str(error) or ("not done in time" if isinstance(error, TimeoutError) else repr(error))
    outcome = next((name for kind, name in _ERRORS if isinstance(error, kind)), Outcome.RESET)
    return replace(fetch, outcome=outcome, error=error_text(text))


async def capped(answer: aiohttp.ClientResponse, max_bytes: int) -> bytes:
    """The body without its content encoding, cut as soon as it is longer than `max_bytes`.

    Raises UnpackingError, and what aiohttp raises for a body that ends too early.
    """
    unpacker = Unpacker(answer.headers.get("Content-Encoding", ""))
    body = bytearray()
    async for part in answer.content.iter_chunked(_PART_BYTES):
        body += unpacker.feed(part, max_bytes + 1 - len(body))
        if len(body) > max_bytes:
            return bytes(body)
    unpacker.finish()
    return bytes(body)


def robots_directives(headers: Iterable[str]) -> str | None:
    """The directives of X-Robots-Tag headers that are meant for us, None without any.

    `name: rules` means the bot of that name, until the end of the header or the next name.
    """
    kept: list[str] = []
    for header in headers:
        bot = ""
        for part in header.lower().split(","):
            name, colon, rule = (text.strip() for text in part.partition(":"))
            directive = part.strip()
            if colon and name not in _WITH_VALUE and _BOT.fullmatch(name):
                bot, directive = name, rule
            if bot in _OUR_BOTS and directive:
                kept.append(directive)
    return _storable(", ".join(kept)) or None


def error_text(error: object) -> str:
    """One line of at most 300 characters, without the credentials that a URL in it may hold."""
    text = str(error).encode("utf-8", "replace").decode("utf-8")
    return one_line(_CREDENTIALS.sub("//", text))


def _of_answer(status: int, *, is_conditional: bool) -> Outcome:
    if status == _NOT_MODIFIED and is_conditional:
        return Outcome.NOT_MODIFIED
    if status in REDIRECTS or 200 <= status < 300:
        return Outcome.OK
    # A 304 that nobody asked for and the like: the server answered, and gave nothing.
    return of_status(status) if status >= 400 else Outcome.HTTP_4XX


def _storable(value: str | None) -> str | None:
    """A header as it stands, None when it is not UTF-8: no table can hold it."""
    try:
        (value or "").encode()
    except UnicodeEncodeError:
        return None
    return value

"""What became of a requested URL: the taxonomy, and the record of one fetch.

Every URL that enters a crawl ends as exactly one `Outcome`; what it means for the page that was
there before is its `State`.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypedDict

EMPTY_WORDS = 5
"""Pages with fewer words have no content. Low on purpose: a short page under its heading
answers questions too, and navigation is gone by then."""
_ERROR_LENGTH = 300


class Outcome(StrEnum):
    """Why a page was stored, or why not."""

    OK = "ok"
    NOT_MODIFIED = "not_modified"
    ROBOTS_DISALLOWED = "robots_disallowed"
    NOINDEX = "noindex"
    OTHER_LANGUAGE = "other_language"
    OUT_OF_SCOPE = "out_of_scope"
    OUT_OF_SCOPE_REDIRECT = "out_of_scope_redirect"
    PRIVATE_ADDRESS = "private_address"
    REDIRECT_LOOP = "redirect_loop"
    UNSUPPORTED_CONTENT_TYPE = "unsupported_content_type"
    TOO_LARGE = "too_large"
    HTTP_401 = "http_401"
    HTTP_403 = "http_403"
    HTTP_404 = "http_404"
    HTTP_410 = "http_410"
    HTTP_429 = "http_429"
    HTTP_4XX = "http_4xx"
    HTTP_5XX = "http_5xx"
    DNS_ERROR = "dns_error"
    CONNECT_ERROR = "connect_error"
    TLS_ERROR = "tls_error"
    CONNECT_TIMEOUT = "connect_timeout"
    READ_TIMEOUT = "read_timeout"
    TOTAL_TIMEOUT = "total_timeout"
    TRUNCATED = "truncated"
    RESET = "reset"
    DECODE_ERROR = "decode_error"
    PARSE_ERROR = "parse_error"
    EMPTY_CONTENT = "empty_content"
    JS_REQUIRED = "js_required"
    SOFT_404 = "soft_404"
    DUPLICATE_URL = "duplicate_url"
    DUPLICATE_CONTENT = "duplicate_content"
    BROWSER_CRASHED = "browser_crashed"
    BROWSER_TIMEOUT = "browser_timeout"
    BUDGET_EXHAUSTED = "budget_exhausted"
    SITE_UNAVAILABLE = "site_unavailable"


READ = frozenset({Outcome.OK, Outcome.NOT_MODIFIED})
"""Outcomes of a page whose content is stored."""

RETRYABLE = frozenset(
    {
        Outcome.HTTP_429,
        Outcome.HTTP_5XX,
        Outcome.DNS_ERROR,
        Outcome.CONNECT_ERROR,
        Outcome.CONNECT_TIMEOUT,
        Outcome.READ_TIMEOUT,
        Outcome.TOTAL_TIMEOUT,
        Outcome.TRUNCATED,
        Outcome.RESET,
    }
)
"""Outcomes that may pass by themselves: the request is repeated."""

GONE = frozenset(
    {
        Outcome.HTTP_404,
        Outcome.HTTP_410,
        Outcome.NOINDEX,
        Outcome.ROBOTS_DISALLOWED,
        Outcome.OUT_OF_SCOPE,
        Outcome.OUT_OF_SCOPE_REDIRECT,
        Outcome.OTHER_LANGUAGE,
        Outcome.SOFT_404,
        Outcome.DUPLICATE_URL,
        Outcome.DUPLICATE_CONTENT,
    }
)
"""Outcomes that are an answer: this page is not, or no longer, one of the site's.

A soft 404 is a 404 of a server that does not say so; a duplicate is stored under another URL.
"""


class State(StrEnum):
    """What is known of a page after a crawl; only `gone` takes it out of the index."""

    PRESENT = "present"
    GONE = "gone"
    UNKNOWN = "unknown"


def state_of(outcome: Outcome) -> State:
    """What one outcome says about the page."""
    if outcome in READ:
        return State.PRESENT
    return State.GONE if outcome in GONE else State.UNKNOWN


class Hop(TypedDict):
    """One redirect on the way: who answered, and with which status."""

    url: str
    status: int


@dataclass(frozen=True)
class FetchOutcome:
    """One fetch as the network gave it, before anyone looked at the content.

    `outcome` is `ok` when a body of a wanted type arrived, `not_modified` when the server said
    that the one of the last run still stands. `final_url` is the public URL of the last response
    (or of the redirect target that was refused), `requests` the number of GETs, repeated ones
    counted, `retries` how many of them were repeated. `robots` holds the directives of an
    X-Robots-Tag header.
    """

    outcome: Outcome
    final_url: str
    fetched_at: datetime
    requests: int = 0
    retries: int = 0
    elapsed_ms: int = 0
    status: int | None = None
    redirects: tuple[Hop, ...] = ()
    content_type: str | None = None
    charset: str | None = None
    charset_source: str | None = None
    robots: str | None = None
    mode: str = "http"
    etag: str | None = None
    last_modified: str | None = None
    response_bytes: int | None = None
    error: str | None = None


def of_status(status: int) -> Outcome:
    """The outcome of an HTTP status that is no redirect."""
    if status < 400:
        return Outcome.OK
    named = {outcome.value for outcome in Outcome}
    if f"http_{status}" in named:
        return Outcome(f"http_{status}")
    return Outcome.HTTP_4XX if status < 500 else Outcome.HTTP_5XX


def one_line(text: object) -> str:
    """An error's text without line breaks, at most 300 characters."""
    return " ".join(str(text).split())[:_ERROR_LENGTH]

"""What became of a requested URL: the taxonomy, and the record of one fetch.

Every URL that enters a crawl ends as exactly one `Outcome`; only `ok` pages carry content.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

EMPTY_WORDS = 5
"""Pages with fewer words have no content. Low on purpose: a short page under its heading
answers questions too, and navigation is gone by then."""
_ERROR_LENGTH = 300


class Outcome(StrEnum):
    """Why a page was stored, or why not."""

    OK = "ok"
    ROBOTS_DISALLOWED = "robots_disallowed"
    NOINDEX = "noindex"
    OUT_OF_SCOPE_REDIRECT = "out_of_scope_redirect"
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
    PARSE_ERROR = "parse_error"
    EMPTY_CONTENT = "empty_content"
    SOFT_404 = "soft_404"
    DUPLICATE_URL = "duplicate_url"
    DUPLICATE_CONTENT = "duplicate_content"


@dataclass(frozen=True)
class FetchOutcome:
    """One fetch as the network gave it, before anyone looked at the content.

    `outcome` is `ok` when an HTML body arrived. `final_url` is the public URL of the last
    response (or of the redirect target that was refused), `requests` the number of GETs.
    """

    outcome: Outcome
    final_url: str
    fetched_at: datetime
    requests: int = 0
    elapsed_ms: int = 0
    status: int | None = None
    content_type: str | None = None
    charset: str | None = None
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

"""Why a crawl gave nothing, in one line for the person who started it."""

from collections.abc import Sequence

from qindex_pipeline.crawl.outcomes import READ, Outcome
from qindex_pipeline.crawl.pages import Page
from qindex_pipeline.sites import Site

_TIMEOUT = "did not answer in time; check the site, then run again"
_SENTENCES: dict[Outcome, str] = {
    Outcome.DNS_ERROR: "has a host name that does not resolve; check the spelling of its address",
    Outcome.CONNECT_ERROR: "refuses the connection; check host and port and that the site runs",
    Outcome.TLS_ERROR: "has a TLS certificate that cannot be verified; renew or trust it",
    Outcome.CONNECT_TIMEOUT: _TIMEOUT,
    Outcome.READ_TIMEOUT: _TIMEOUT,
    Outcome.TOTAL_TIMEOUT: _TIMEOUT,
    Outcome.RESET: "closed the connection without an answer; check that it speaks this protocol",
    Outcome.TRUNCATED: "ended in the middle of the page; run again",
    Outcome.ROBOTS_DISALLOWED: "is forbidden by the site's robots.txt; allow QIndexBot there",
    Outcome.NOINDEX: "asks not to be indexed (meta robots noindex); allow it or start elsewhere",
    Outcome.TOO_LARGE: "is larger than `max_html_bytes`; raise it or start at a smaller page",
    Outcome.REDIRECT_LOOP: "redirects in a circle; start at the page where it should end",
    Outcome.EMPTY_CONTENT: "has no text; start at a page that has",
    Outcome.JS_REQUIRED: (
        "is filled by JavaScript only; render the site in a browser (render: browser in the sites "
        "file, or --render browser)"
    ),
    Outcome.BROWSER_CRASHED: "crashed the browser; start at another page",
    Outcome.BROWSER_TIMEOUT: "did not come to rest in the browser; start at another page",
    Outcome.PRIVATE_ADDRESS: "leads to a private network address; check its address",
    Outcome.OTHER_LANGUAGE: "is in a language that the site's `languages` leave out",
    Outcome.DECODE_ERROR: "has a body that cannot be decoded; check the server's encodings",
    Outcome.SOFT_404: "is a page that says it was not found; check the address",
    Outcome.PARSE_ERROR: "is a page that cannot be read; start at another one",
}


_USABLE_START = frozenset(
    {
        Outcome.OK,
        Outcome.NOT_MODIFIED,
        Outcome.NOINDEX,
        Outcome.EMPTY_CONTENT,
        Outcome.DUPLICATE_URL,
        Outcome.DUPLICATE_CONTENT,
    }
)
"""Outcomes of a start page that is there, if only to lead on."""


def why_unusable(site: Site, pages: Sequence[Page]) -> str | None:
    """The line naming site, URL and remedy when a crawl cannot be used, else None.

    Unusable is a crawl that stored nothing, and one whose start page was not there: pages of
    the last run that still answer would only hide that the address is wrong.
    """
    if not pages:
        return f"site {site.key!r}: no URL was asked; check {site.public_url}"
    start = pages[0]
    stored = any(page.outcome in READ for page in pages)
    if stored and (site.folder is not None or start.outcome in _USABLE_START):
        return None
    return f"site {site.key!r}: {start.url} {_sentence(start)}"


def _sentence(page: Page) -> str:
    if (page.error or "").startswith("robots.txt"):
        return _unavailable(page)
    if page.outcome is Outcome.UNSUPPORTED_CONTENT_TYPE:
        return f"is no HTML page but {page.content_type}; start at an HTML page"
    if page.outcome is Outcome.OUT_OF_SCOPE_REDIRECT:
        return f"redirects out of the site to {page.final_url}; use that as start_url"
    return _SENTENCES.get(page.outcome) or (
        f"answered HTTP {page.status}; check that the address is right and open to everyone"
    )


def _unavailable(page: Page) -> str:
    """robots.txt failed: a status is its own story, a network error is the whole host's."""
    if page.status is not None:
        return (
            f"was not asked because the site's robots.txt answered HTTP {page.status}; "
            "run again when it is back"
        )
    return _SENTENCES.get(page.outcome, _TIMEOUT)

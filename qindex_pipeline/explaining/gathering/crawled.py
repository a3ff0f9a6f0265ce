"""What the crawl knows of a page: its last outcome, or why it was never asked."""

import difflib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from qindex_pipeline.explaining.model.facts import Crawled
from qindex_pipeline.page_names import names_of, page_name

if TYPE_CHECKING:
    from qindex_pipeline.explaining.gathering.records import Row
    from qindex_pipeline.sites import Site

_ADDRESSES = ("url", "final_url", "canonical_url")
"""Columns of raw_pages under which a page is known."""

_NEAR = 0.75
"""Likeness of two addresses, from 0 to 1, from which one may be meant by the other; a file's
suffix alone makes strangers half alike."""


def urls_of(row: "Row") -> list[str]:
    """Every URL under which the page of a row is known."""
    return [row[name] for name in _ADDRESSES if row[name]]


def is_page(asked: str, url: str) -> bool:
    """Whether what a person wrote, a URL or a path, means the page at `url`."""
    return page_name(asked) in names_of(url)


def crawled(asked: str, rows: Sequence["Row"], site: "Site | None") -> Crawled:
    """What the crawl says of a page.

    Args:
        asked: The page as a person wrote it.
        rows: Rows of raw_pages of its site.
        site: Its options; None where the sites file does not have it.
    """
    found = [row for row in rows if any(is_page(asked, url) for url in urls_of(row))]
    if not found:
        return _never_asked(asked, rows, site)
    row = min(found, key=lambda row: ("present", "unknown", "gone").index(row["state"]))
    return Crawled(row["url"], row["outcome"], row["state"], _detail(row, rows))


def nearest(asked: str, urls: Iterable[str]) -> str | None:
    """The known page whose address looks most like what a person wrote."""
    by_name: dict[str, str] = {}
    for url in urls:
        for name in names_of(url):
            by_name.setdefault(name, url)
    close = difflib.get_close_matches(page_name(asked), list(by_name), n=1, cutoff=_NEAR)
    return by_name[close[0]] if close else None


def _detail(row: "Row", rows: Sequence["Row"]) -> str:
    parts = [f"HTTP {row['status']}" if row["status"] else "", row["error"] or ""]
    if row["state"] != "present":
        stored = [
            other["url"]
            for other in rows
            if other["state"] == "present" and other["page_id"] == row["page_id"]
        ]
        parts.append(f"it is stored as {stored[0]}" if stored else "")
        parts.append("the content of an earlier run is kept" if row["has_content"] else "")
    return ", ".join(filter(None, parts))


def _never_asked(asked: str, rows: Sequence["Row"], site: "Site | None") -> Crawled:
    url = _absolute(asked, rows, site)
    detail = "no page that was read links to it"
    if site is not None and (outside := _outside(url, site)):
        return Crawled(url, "out_of_scope", None, outside)
    linking = next((row["url"] for row in rows if url in (row["links"] or ())), None)
    if linking is not None:
        stored = sum(row["state"] == "present" for row in rows)
        limit = f" of at most {site.max_pages}" if site is not None else ""
        detail = f"{linking} links to it, but the crawl ended with {stored} pages{limit}"
    close = nearest(asked, (row["url"] for row in rows))
    return Crawled(url, None, None, detail + (f"; the nearest that was: {close}" if close else ""))


def _absolute(asked: str, rows: Sequence["Row"], site: "Site | None") -> str:
    root: Any = site.public_url if site is not None else next((row["url"] for row in rows), "")
    return urljoin(urljoin(root, "/"), asked.partition("#")[0])


def _outside(url: str, site: "Site") -> str | None:
    """Why the crawl would not ask for a URL, by the options of its site."""
    from qindex_pipeline.crawl.survey import scope_of
    from qindex_pipeline.crawl.urls import looks_like_page, normalise

    scope, address = scope_of(site), normalise(url)
    if address is None or not looks_like_page(address):
        return "its address is none of a page"
    if not scope.has_host(address):
        return f"its host is none of {', '.join(sorted(scope.hosts))}"
    if not scope.contains(address):
        return f"it is not below {', '.join(scope.prefixes)}"
    return None if scope.wants(address) else "the site's options include or exclude leave it out"

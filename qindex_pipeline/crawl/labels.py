"""Titles and H1s that need the whole site to be read right: what repeats is the site's name."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from qindex_pipeline.crawl.pages import Page

if TYPE_CHECKING:
    from qindex_pipeline.crawl.extract.head import Head

_SEPARATOR = re.compile(r"\s+[|–—·:»-]\s+|\s*::\s*")
_SUFFIX_SHARE = 0.5
_H1_SHARE = 0.3
_H1_MIN_PAGES = 5


def title_of(head: "Head") -> str | None:
    """The title of one page: og:title where the title element is that and a suffix.

    Else the title element, and og:title only where there is none: many sites put their own
    name there on every page.
    """
    title, short = head.title_raw, head.og_title
    if title and short and title.startswith(short) and _SEPARATOR.match(title, len(short)):
        return short
    return title or short


def label_pages(pages: Sequence[Page]) -> list[Page]:
    """Take the site's suffix off the titles and the site's name out of the H1s.

    Both are read from what the page says (`title_raw`, `headings`), so that a page which keeps
    the content of an earlier run is labelled as if it had been read now. A suffix is what stands
    behind a separator in at least half of the titles (two or more); an H1 names the site when
    over 30 % of five or more pages have it.
    """
    stored = [page for page in pages if page.markdown is not None]
    suffixes = _shared_suffixes([_title(page) for page in stored])
    names = _site_names([_h1(page) for page in stored])
    return [page if page.markdown is None else _labelled(page, suffixes, names) for page in pages]


def _title(page: Page) -> str:
    return page.title_raw or page.title or ""


def _h1(page: Page) -> str | None:
    headings = page.headings or ()
    return next((heading["text"] for heading in headings if heading["level"] == 1), None)


def _labelled(page: Page, suffixes: frozenset[str], names: frozenset[str]) -> Page:
    h1 = None if _h1(page) in names else _h1(page)
    title = _title(page)
    suffix = max((end for end in _suffixes(title) if end in suffixes), key=len, default="")
    title = title.removesuffix(suffix)
    return replace(page, h1=h1, title=title or h1 or _last_segment(page.url))


def _shared_suffixes(titles: Sequence[str]) -> frozenset[str]:
    counts = Counter(suffix for title in titles for suffix in _suffixes(title))
    needed = max(2, _SUFFIX_SHARE * len(titles))
    return frozenset(text for text, count in counts.items() if count >= needed)


def _suffixes(title: str) -> Iterator[str]:
    return (title[match.start() :] for match in _SEPARATOR.finditer(title) if match.start())


def _site_names(h1s: Sequence[str | None]) -> frozenset[str]:
    if len(h1s) < _H1_MIN_PAGES:
        return frozenset()
    counts = Counter(h1 for h1 in h1s if h1)
    return frozenset(h1 for h1, count in counts.items() if count > _H1_SHARE * len(h1s))


def _last_segment(url: str) -> str:
    parts = urlsplit(url)
    return unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.netloc

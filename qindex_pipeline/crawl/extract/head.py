"""What a page says about itself: language, title, canonical URL, robots, links."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from qindex_pipeline.crawl.extract import dom
from qindex_pipeline.crawl.urls import resolve

_ROBOTS = frozenset({"robots", "qindexbot"})
_NOINDEX = frozenset({"noindex", "none"})
_NOFOLLOW = frozenset({"nofollow", "none"})
_REFRESH = re.compile(r"url\s*=\s*[\"']?([^\"']+)", re.IGNORECASE)


@dataclass(frozen=True)
class Head:
    """Facts from a page's head and its links.

    Attributes:
        base_url: What relative URLs of the page are resolved against.
        title: og:title, else the text of the title element, which `title_raw` is.
        description: The meta description.
        markdown_url: The page's markdown twin (`link rel=alternate type=text/markdown`).
        robots: Directives of the robots metas for every crawler and for ours, in lower case.
        noindex: Whether they forbid to store the page; `nofollow`, to follow its links.
        links: The target of a meta refresh, then of all links without rel=nofollow, in document
            order, normalised and absolute, each once, whatever their host.
        nofollow_links: The targets of links with rel=nofollow only.
    """

    base_url: str
    lang: str | None = None
    title: str | None = None
    title_raw: str | None = None
    og_title: str | None = None
    description: str | None = None
    canonical_url: str | None = None
    markdown_url: str | None = None
    robots: str | None = None
    noindex: bool = False
    nofollow: bool = False
    links: tuple[str, ...] = ()
    nofollow_links: tuple[str, ...] = ()


def read_head(tree: LexborHTMLParser, url: str) -> Head:
    """Read the facts of a page that was fetched from `url`."""
    metas, links = tree.css("meta[content]"), tree.css("link[rel][href]")
    base_url = resolve(url, _attribute(tree, "base[href]", "href")) or url
    og_title = " ".join(_content(metas, "property", "og:title").split())
    title = _title(tree)
    robots = _robots(metas)
    targets, nofollow_targets = _targets(tree, base_url, _refresh(metas))
    return Head(
        base_url=base_url,
        lang=_attribute(tree, "html", "lang") or _attribute(tree, "html", "xml:lang") or None,
        title=og_title or title or None,
        title_raw=title or None,
        og_title=og_title or None,
        description=_content(metas, "name", "description") or None,
        canonical_url=_linked(links, "canonical", None, base_url),
        markdown_url=_linked(links, "alternate", "text/markdown", base_url),
        robots=", ".join(robots) or None,
        noindex=not _NOINDEX.isdisjoint(robots),
        nofollow=not _NOFOLLOW.isdisjoint(robots),
        links=targets,
        nofollow_links=nofollow_targets,
    )


def _title(tree: LexborHTMLParser) -> str:
    title = tree.css_first("head > title") or tree.css_first("title")
    return dom.flat_text(title) if title is not None else ""


def _content(metas: list[LexborNode], key: str, value: str) -> str:
    """The content of the first meta whose attribute `key` is `value`, empty without one."""
    found = (meta for meta in metas if dom.attribute(meta, key).lower() == value)
    return next((dom.attribute(meta, "content") for meta in found), "")


def _robots(metas: list[LexborNode]) -> tuple[str, ...]:
    ours = (meta for meta in metas if dom.attribute(meta, "name").lower() in _ROBOTS)
    directives = ",".join(dom.attribute(meta, "content") for meta in ours).lower().split(",")
    return tuple(dict.fromkeys(part.strip() for part in directives if part.strip()))


def _linked(links: list[LexborNode], rel: str, kind: str | None, base_url: str) -> str | None:
    """The target of the first `link` with a relation, and with a media type where one is asked."""
    for link in links:
        if rel in dom.attribute(link, "rel").lower().split() and (
            kind is None or dom.attribute(link, "type").lower() == kind
        ):
            return resolve(base_url, dom.attribute(link, "href"))
    return None


def _targets(
    tree: LexborHTMLParser, base_url: str, refresh: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The targets of all links: those to follow, and those that are only marked nofollow."""
    followed, others = [refresh], list[str]()
    for link in tree.css("a[href], area[href]"):
        attributes = link.attributes
        is_nofollow = "nofollow" in (attributes.get("rel") or "").lower().split()
        (others if is_nofollow else followed).append(attributes.get("href") or "")
    first = _resolved(followed, base_url)
    return tuple(first), tuple(url for url in _resolved(others, base_url) if url not in first)


def _resolved(hrefs: Iterable[str], base_url: str) -> dict[str, None]:
    pages = dict.fromkeys(href.partition("#")[0].strip() for href in hrefs)
    folder = urljoin(base_url, ".")
    found = (_resolve(base_url if href.startswith("?") else folder, href) for href in pages if href)
    return dict.fromkeys(url for url in found if url)


@lru_cache(maxsize=1 << 14)
def _resolve(base_url: str, href: str) -> str | None:
    """The pages of a folder have most links in common; each is resolved once."""
    return resolve(base_url, href)


def _refresh(metas: list[LexborNode]) -> str:
    """Where a meta refresh leads: the roots of many docs sites forward to their newest version."""
    target = _REFRESH.search(_content(metas, "http-equiv", "refresh"))
    return target[1].strip() if target else ""


def _attribute(tree: LexborHTMLParser, selector: str, name: str) -> str:
    node = tree.css_first(selector)
    return dom.attribute(node, name) if node is not None else ""

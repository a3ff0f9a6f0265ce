"""What a page says about itself: language, title, canonical URL, robots, links."""

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from qindex_pipeline.crawl import dom
from qindex_pipeline.crawl.urls import resolve


@dataclass(frozen=True)
class Head:
    """Facts from a page's head and its links.

    `links` are normalised absolute URLs in document order, each once, whatever their host;
    `base_url` is what relative URLs of the page are resolved against.
    """

    lang: str | None
    title: str | None
    description: str | None
    canonical_url: str | None
    base_url: str
    noindex: bool
    links: tuple[str, ...]


def read_head(tree: LexborHTMLParser, url: str) -> Head:
    """Read the facts of a page that was fetched from `url`."""
    base_url = resolve(url, _attribute(tree, "base[href]", "href")) or url
    robots = _robots(tree)
    canonical = _attribute(tree, 'link[rel="canonical"][href]', "href")
    return Head(
        lang=_attribute(tree, "html", "lang") or _attribute(tree, "html", "xml:lang") or None,
        title=_title(tree) or None,
        description=_attribute(tree, 'meta[name="description" i]', "content") or None,
        canonical_url=resolve(base_url, canonical) if canonical else None,
        base_url=base_url,
        noindex=not robots.isdisjoint({"noindex", "none"}),
        links=() if robots & {"nofollow", "none"} else _links(tree, base_url),
    )


def _title(tree: LexborHTMLParser) -> str:
    title = tree.css_first("head > title") or tree.css_first("title")
    return dom.flat_text(title) if title is not None else ""


def _robots(tree: LexborHTMLParser) -> frozenset[str]:
    metas = tree.css('meta[name="robots" i], meta[name="qindexbot" i]')
    directives = ",".join(dom.attribute(meta, "content") for meta in metas)
    return frozenset(part.strip().lower() for part in directives.split(","))


def _links(tree: LexborHTMLParser, base_url: str) -> tuple[str, ...]:
    links = filter(_is_followed, tree.css("a[href], area[href]"))
    hrefs = dict.fromkeys(dom.attribute(link, "href").partition("#")[0] for link in links)
    found = (resolve(base_url, href) for href in hrefs if href)
    return tuple(dict.fromkeys(url for url in found if url))


def _is_followed(link: LexborNode) -> bool:
    return "nofollow" not in dom.attribute(link, "rel").lower().split()


def _attribute(tree: LexborHTMLParser, selector: str, name: str) -> str:
    node = tree.css_first(selector)
    return dom.attribute(node, name) if node is not None else ""

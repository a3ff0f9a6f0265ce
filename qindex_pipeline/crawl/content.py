"""What of a page is its content: the noise that goes, and the container that stays.

Selectors come from a field test on the sites of a dozen documentation generators.
"""

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from qindex_pipeline.crawl import dom

_INVISIBLE = "script, style, template, noscript, iframe, object, canvas, svg, link, meta"
_CONTROLS = (
    "button, [role=button], .sr-only, .visually-hidden, .screen-reader-text, .skip-link, "
    ".edit-this-page, .edit-link, .theme-edit-this-page, .copybtn, .copy-button, clipboard-copy"
)
_LANDMARKS = "nav, footer, aside, [role=navigation], [role=search], [role=contentinfo]"
# Removed unless they hold an H1 or most of the page: names like these also sit on whole pages.
_BY_NAME = (
    "header, form, .sphinxsidebar, .navheader, .navfooter, .related, .breadcrumbs, .breadcrumb, "
    ".toc, .table-of-contents, .theme-doc-toc-mobile, .theme-doc-footer, .pagination-nav, "
    ".pagination, .pager, .prev-next, .prev-next-area, .prev-next-footer, .rst-footer-buttons, "
    ".cookie-banner, #cookie-banner, [rel=prev], [rel=next]"
)
_CALLOUT = re.compile(
    r"\b(admonition|callout|footnotes?|note|alert|topic|tip|warning|caution|starlight-aside)\b"
)
_CASCADE = (
    "main article",
    "[role=main]",
    "main",
    "article",
    "#main-content",
    "#content",
    "#docs-content",
    "div.document div.body",
    "div.body",
    "#apicontent",
    "#page-content",
    ".markdown-body",
    ".content",
)
_MIN_WORDS = 30
_MIN_SHARE = 0.2  # of the page; not asked of the landmark for main content
_MAIN = frozenset({"[role=main]", "main"})
_MIN_WORDS_WITH_H1 = 5
_MAX_HEADER_WORDS = 60


@dataclass(frozen=True)
class Container:
    """The node that holds the main content, and the selector that found it (None: the body)."""

    node: LexborNode
    selector: str | None


def drop_invisible(tree: LexborHTMLParser) -> None:
    """Remove what no reader sees: scripts, styles, templates, vector drawings."""
    dom.drop(dom.body(tree).css(_INVISIBLE))


def drop_noise(tree: LexborHTMLParser) -> None:
    """Remove navigation, footers and controls around and inside the content."""
    page = dom.body(tree)
    dom.drop(page.css(_CONTROLS))
    dom.drop(node for node in page.css(_LANDMARKS) if not _is_callout(node))
    half = dom.words(page) / 2
    dom.drop(node for node in page.css(_BY_NAME) if not _is_protected(node, half))


def find_container(tree: LexborHTMLParser) -> Container:
    """The main content by the first selector of the cascade whose largest match convinces.

    Small pages get a second round in which five words under an H1 are enough. Without any,
    the body. The page's H1 is moved in front when it stands outside (asciidoc, blog headers).
    """
    page = dom.body(tree)
    needed = _MIN_SHARE * dom.words(page)
    found = [(selector, matches) for selector in _CASCADE if (matches := page.css(selector))]
    for selector, matches in found:
        if _is_content(page, matches, 0 if selector in _MAIN else needed):
            return _container(page, matches, selector)
    for selector, matches in found:
        if _is_small_page(_largest(matches)):
            return _container(page, matches, selector)
    return Container(page, None)


def _container(page: LexborNode, matches: list[LexborNode], selector: str) -> Container:
    node = _largest(matches)
    _rescue_title(page, node)
    return Container(node, selector)


def _largest(matches: list[LexborNode]) -> LexborNode:
    return max(matches, key=dom.words)


def _is_protected(node: LexborNode, half: float) -> bool:
    return node.css_first("h1") is not None or dom.words(node) > half


def _is_callout(node: LexborNode) -> bool:
    """Whether an aside is part of the text (a note, footnotes), not a side bar."""
    if node.tag != "aside":
        return False
    role = dom.attribute(node, "role")
    return role in {"note", "doc-footnote"} or bool(_CALLOUT.search(dom.attribute(node, "class")))


def _is_content(page: LexborNode, matches: list[LexborNode], needed: float) -> bool:
    """Whether the largest match is the content: enough text, no rival, no code outside."""
    node = _largest(matches)
    size = dom.words(node)
    rivals = sum(map(dom.words, dom.outermost(matches)))
    is_large = size >= max(_MIN_WORDS, needed) and size * 2 >= rivals
    return is_large and len(node.css("pre")) == len(page.css("pre"))


def _is_small_page(node: LexborNode) -> bool:
    return node.css_first("h1") is not None and dom.words(node) >= _MIN_WORDS_WITH_H1


def _rescue_title(page: LexborNode, node: LexborNode) -> None:
    title = page.css_first("h1")
    first = node.child
    if title is None or first is None or node.css_first("h1") is not None:
        return
    for part in _title_block(title, node):
        first.insert_before(part)


def _title_block(title: LexborNode, node: LexborNode) -> list[LexborNode]:
    """The H1 with what follows it in a header of its own (a manual page's NAME section)."""
    header = title.parent
    if header is None or header.tag == "body" or dom.words(header) > _MAX_HEADER_WORDS:
        return [title]
    if any(above.mem_id == header.mem_id for above in dom.ancestors(node)):
        return [title]
    parts = [child for child in header.iter() if child.is_element_node]
    index = next(i for i, part in enumerate(parts) if part.mem_id == title.mem_id)
    return parts[index:]

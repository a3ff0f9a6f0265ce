"""Headings with the fragment that leads to each, and without their permalinks.

Anchors must be read before the permalinks go, and the headings must be listed from the tree
that becomes markdown: `mark_headings` writes what it found onto the elements, `list_headings`
reads it back.
"""

import re

from selectolax.lexbor import LexborNode

from qindex_pipeline.crawl.extract import dom
from qindex_pipeline.crawl.pages import Heading

_MARK = "data-qindex-anchor"
_PERMALINKS = (
    "a.headerlink, a.hash-link, a.header-anchor, a.heading-anchor, a.anchor-link, a.anchorjs-link, "
    "a.permalink, a.direct-link, .sl-anchor-link, .mw-editsection, a.octicon-link, "
    ".viewcode-link, .viewcode-back"  # to the source code, beside a definition's term
)
_SYMBOLS = re.compile(r"[\s#¶§🔗\u200b\u200c\u2060\ufeff]*")
_SECTION_CLASS = re.compile(
    r"section|sect\d|chapter|refsect\d|refsection|refnamediv|refsynopsisdiv|appendix|article|simplesect"
)


def mark_headings(tree: LexborNode) -> None:
    """Note each heading's anchor on its element, then remove permalinks and links from it."""
    for heading in tree.css(dom.HEADINGS):
        anchor = _anchor(heading)
        if anchor:
            heading.attrs[_MARK] = anchor
    dom.drop(tree.css(_PERMALINKS))
    for heading in tree.css(dom.HEADINGS):
        dom.drop(link for link in heading.css("a") if _SYMBOLS.fullmatch(link.text()))
        for link in heading.css("a, button"):
            link.unwrap()


def list_headings(node: LexborNode) -> tuple[Heading, ...]:
    """The headings below a node in document order, those without text left out."""
    return tuple(
        Heading(
            level=int((heading.tag or "h6")[1]),
            text=text,
            anchor=dom.attribute(heading, _MARK) or None,
        )
        for heading in node.css(dom.HEADINGS)
        if (text := dom.flat_text(heading))
    )


def _anchor(heading: LexborNode) -> str:
    return (
        dom.attribute(heading, "id")
        or _anchor_inside(heading)
        or _anchor_before(heading)
        or _section_anchor(heading)
    )


def _anchor_inside(heading: LexborNode) -> str:
    """An `<a id|name>`, a `<span id>`, or the `#fragment` that a permalink leads to."""
    for node in heading.css("a, span"):
        href = dom.attribute(node, "href")
        named = dom.attribute(node, "id") or dom.attribute(node, "name")
        if named or (href.startswith("#") and len(href) > 1):
            return named or href[1:]
    return ""


def _anchor_before(heading: LexborNode) -> str:
    """An empty `<a id|name>` that stands directly before the heading."""
    before = dom.previous_element(heading)
    if before is None or before.tag not in {"a", "span"} or before.text().strip():
        return ""
    return dom.attribute(before, "id") or dom.attribute(before, "name")


def _section_anchor(heading: LexborNode) -> str:
    """The id of the section that the heading opens; of a page's outer containers, none."""
    for above in dom.ancestors(heading):
        if above.tag in {"body", "main", "article"}:
            return ""
        first = above.css_first(dom.HEADINGS)
        if first is None or first.mem_id != heading.mem_id:
            return ""
        if _is_section(above) and dom.attribute(above, "id"):
            return dom.attribute(above, "id")
    return ""


def _is_section(node: LexborNode) -> bool:
    return node.tag == "section" or (
        node.tag == "div" and any(_SECTION_CLASS.fullmatch(name) for name in dom.classes(node))
    )

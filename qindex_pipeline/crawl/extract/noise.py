"""What of a page is no content: navigation, footers, controls, and what no reader sees.

Names come from a field test on the sites of a dozen documentation generators.
"""

import re
from collections.abc import Callable

from selectolax.lexbor import LexborNode

from qindex_pipeline.crawl.extract import dom

_INVISIBLE = "script, style, template, noscript, iframe, object, canvas, svg, link, meta"
_CONTROLS = (
    "button, [role=button], .sr-only, .visually-hidden, .screen-reader-text, .skip-link, "
    "[class*=skipToContent], .md-skip, .VPSkipLink, "
    ".edit-this-page, .edit-link, .theme-edit-this-page, .copybtn, .copy-button, clipboard-copy"
)
_LANDMARKS = "nav, footer, aside, [role=navigation], [role=search], [role=contentinfo]"
# Bars around the content, as generators name them.
_BARS = (
    ".sphinxsidebar, .navheader, .navfooter, div.related, .breadcrumbs, .breadcrumb, "
    ".theme-doc-toc-mobile, .theme-doc-footer, .pagination-nav, .pagination, .pager, .prev-next, "
    ".prev-next-area, .prev-next-footer, .rst-footer-buttons, .cookie-banner, #cookie-banner, "
    "[rel=prev], [rel=next]"
)
# Names that other things have too: these go where half of their words are links.
_MENUS = ".nav, .navbar, .menu, .menubar, .navigation, .nosearch:not(:has([class*=title]))"
# Removed unless they hold most of the page: names like these also sit on whole pages.
_BY_NAME = (
    "header, form, #page-header, #footer, #page-footer, .footer, .toc, .table-of-contents, "
    "[data-pagefind-ignore], "
    # The page in other languages.
    "p:has(> a[hreflang][rel~=alternate]), ul:has(> li > a[hreflang][rel~=alternate])"
)
_CALLOUT = re.compile(
    r"\b(admonition|callout|footnotes?|note|alert|topic|tip|warning|caution|starlight-aside)\b"
)


def drop_invisible(page: LexborNode) -> None:
    """Remove what no reader sees: scripts, styles, templates, vector drawings."""
    dom.drop(page.css(_INVISIBLE))


def drop_noise(page: LexborNode, keep: LexborNode | None = None) -> int:
    """Remove navigation, footers and controls around and inside the content.

    What holds a code block is no noise, nor is `keep` with what it stands in. Returns the
    words of the page without its navigation, but with its header and table of contents.
    """
    above = [keep, *dom.ancestors(keep)] if keep is not None else []
    kept = {page.mem_id, *(node.mem_id for node in above)}

    def drop(selector: str, is_content: Callable[[LexborNode], bool]) -> None:
        dom.drop(
            node
            for node in page.css(selector)
            if node.mem_id not in kept and node.css_first("pre") is None and not is_content(node)
        )

    links = [
        node
        for control in page.css(_CONTROLS)
        for node in dom.ancestors(control)
        if node.tag == "a"
    ]
    drop(_CONTROLS, lambda _: False)
    dom.drop({link.mem_id: link for link in links if not dom.shows_anything(link)}.values())
    drop(_LANDMARKS, _is_callout)
    drop(_BARS, dom.has_title)
    drop(_MENUS, lambda node: dom.has_title(node) or dom.link_words(node) * 2 < dom.words(node))
    words = dom.words(page)
    drop(_BY_NAME, lambda node: dom.has_title(node) or dom.words(node) * 2 > words)
    return words


def _is_callout(node: LexborNode) -> bool:
    """Whether an aside is part of the text (a note, footnotes), not a side bar."""
    if node.tag != "aside":
        return False
    is_note = dom.attribute(node, "role") in {"note", "doc-footnote"}
    # docutils' sidebar directive is a callout beside the text.
    return (
        is_note
        or bool(_CALLOUT.search(dom.attribute(node, "class")))
        or node.css_first(".sidebar-title") is not None
    )

"""The main content of a page: the container that stays, with the title of the page in it.

Selectors come from a field test on the sites of a dozen documentation generators.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from qindex_pipeline.crawl.extract import dom

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
    "#yui-main",
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
    """The node that holds the main content, the selector that found it, the code outside it."""

    node: LexborNode
    selector: str
    code_lost: int = 0


@dataclass(frozen=True)
class _Match:
    """The largest match of a selector; `total` is the words of all its matches."""

    selector: str
    node: LexborNode
    words: int
    total: int
    code: int


def select_container(page: LexborNode, selector: str) -> Container | None:
    """The largest match of a selector that the site's owner chose, None when it has no text."""
    match = _measure(selector, page.css(selector))
    if match is None or match.words == 0:
        return None
    _rescue_title(page, match.node)
    return Container(match.node, selector)


def find_container(page: LexborNode, n_code: int) -> Container | None:
    """The main content by the first selector of the cascade whose largest match convinces.

    Small pages get a second round in which five words under an H1 are enough. Where no match
    has all `n_code` code blocks of the page, the first is returned with what it lacks. The
    page's H1 is moved in front when it stands outside (asciidoc, blog headers).
    """
    first = None
    for match in _candidates(page):
        if match.code == n_code:
            _rescue_title(page, match.node)
            return Container(match.node, match.selector)
        first = first or match
    return Container(first.node, first.selector, n_code - first.code) if first else None


def _candidates(page: LexborNode) -> Iterator[_Match]:
    """The matches of the cascade that convince, found one by one: mostly the first will do."""
    small: list[_Match] = []
    for selector in _CASCADE:
        match = _measure(selector, page.css(selector))
        if match is not None and _is_content(page, match):
            yield match
        elif match is not None and _is_small_page(match):
            small.append(match)
    yield from small


def _measure(selector: str, matches: list[LexborNode]) -> _Match | None:
    if not matches:
        return None
    sizes = {node.mem_id: dom.words(node) for node in matches}
    largest = max(matches, key=lambda node: sizes[node.mem_id])
    total = sum(sizes[node.mem_id] for node in dom.outermost(matches))
    return _Match(selector, largest, sizes[largest.mem_id], total, len(largest.css("pre")))


def _is_content(page: LexborNode, match: _Match) -> bool:
    """Whether a match is the content: enough text, no rival."""
    if match.words < _MIN_WORDS or match.words * 2 < match.total:
        return False
    return match.selector in _MAIN or match.words >= _MIN_SHARE * dom.words(page)


def _is_small_page(match: _Match) -> bool:
    return dom.has_title(match.node) and match.words >= _MIN_WORDS_WITH_H1


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

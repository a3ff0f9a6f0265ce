"""Small operations on selectolax trees that the extraction modules share.

A removed node takes its descendants' memory with it, so `drop` and `unwrap` never touch a
node below one that they removed.
"""

from collections.abc import Iterable, Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

HEADINGS = "h1, h2, h3, h4, h5, h6"
BLOCKS = frozenset(
    "address article aside blockquote dd details div dl dt fieldset figure footer form h1 h2 h3 "
    "h4 h5 h6 header hr li main nav ol p pre section table tbody td tfoot th thead tr ul".split()
)


def attribute(node: LexborNode, name: str) -> str:
    """The attribute's value, empty when it is absent or has none."""
    return (node.attributes.get(name) or "").strip()


def classes(node: LexborNode) -> list[str]:
    """The class names of an element."""
    return attribute(node, "class").split()


def words(node: LexborNode) -> int:
    """Number of whitespace-separated words of the text below a node."""
    return len(node.text(separator=" ").split())


def link_words(node: LexborNode) -> int:
    """Number of words of the text below a node that stand in links."""
    return sum(map(words, node.css("a[href]")))


def flat_text(node: LexborNode) -> str:
    """The text below a node on one line."""
    return " ".join(node.text().split())


def shows_anything(link: LexborNode) -> bool:
    """Whether a link has text or a picture to be clicked."""
    return bool(link.text().strip()) or link.css_first("img") is not None


def has_title(node: LexborNode) -> bool:
    """Whether an H1 stands below a node."""
    return node.css_first("h1") is not None


def ancestors(node: LexborNode) -> Iterator[LexborNode]:
    """The elements above a node, innermost first."""
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def is_inside(node: LexborNode, tags: Iterable[str]) -> bool:
    """Whether an element with one of these tags is above the node."""
    wanted = frozenset(tags)
    return any(above.tag in wanted for above in ancestors(node))


def outermost(nodes: Iterable[LexborNode]) -> list[LexborNode]:
    """The nodes that have none of the others above them."""
    found = list(nodes)
    if len(found) < 2:
        return found
    ids = {node.mem_id for node in found}
    return [node for node in found if not _is_below(node, ids)]


def _is_below(node: LexborNode, ids: set[int]) -> bool:
    above = node.parent
    while above is not None:
        if above.mem_id in ids:
            return True
        above = above.parent
    return False


def drop(nodes: Iterable[LexborNode]) -> None:
    """Remove the nodes with everything below them."""
    for node in outermost(nodes):
        node.decompose()


def fragment(html: str) -> LexborNode:
    """The first element of an HTML fragment, to be inserted elsewhere."""
    node = body(LexborHTMLParser(html)).child
    assert node is not None, "fragments begin with an element"
    return node


def element(tag: str, text: str) -> LexborNode:
    """A new element that holds one text."""
    node = fragment(f"<{tag}></{tag}>")
    node.insert_child(text)
    return node


def bold(text: str) -> LexborNode:
    """A new paragraph that holds one text in bold."""
    paragraph = fragment("<p><strong></strong></p>")
    strong = paragraph.css_first("strong")
    assert strong is not None, "the fragment holds it"
    strong.insert_child(text)
    return paragraph


def body(tree: LexborHTMLParser) -> LexborNode:
    """The body, which the parser creates where the page has none (a frameset keeps its own)."""
    node = tree.body or tree.root
    assert node is not None, "a parsed document has a root"
    return node


def previous_element(node: LexborNode) -> LexborNode | None:
    """The previous sibling that is an element, None when text stands between."""
    before = node.prev
    while before is not None and not before.is_element_node:
        if before.is_text_node and before.text().strip():
            return None
        before = before.prev
    return before

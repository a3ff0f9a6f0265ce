"""The text of an answer as elements of the page: markdown, with its citations as links.

Documentation is written in markdown, and so do models answer. What has no place in an answer
(HTML, images, headings that would break the page's outline) is shown as text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from qindex_pipeline.retrieval.result import Citation
from qindex_pipeline.serving.nodes import Element, Node, element, is_web_address, text_of

# A reference definition in a page's text would turn the citation [1] into a link of its own.
_PARSER = (
    MarkdownIt("commonmark", {"html": False})
    .enable("table")
    .disable(["html_block", "html_inline", "image", "reference"])
)

_CITATION = re.compile(r"\[(\d{1,2})\]")
_LEAVES = frozenset({"text", "softbreak", "code_inline", "fence", "code_block"})
_TAGS = frozenset("p ul ol li blockquote hr br strong em table thead tbody tr th td".split())


def answer_nodes(text: str, citations: Sequence[Citation]) -> list[Node]:
    """The answer's text; its `[n]` leads to the n-th citation."""
    return list(_Rendering(citations).nodes(SyntaxTreeNode(_PARSER.parse(text)).children))


def link(url: str, *children: Node, **attributes: str) -> Node:
    """A link to a web address; what is none is not linked."""
    if not is_web_address(url):
        return element("span", *children)
    return element("a", *children, href=url, **attributes)


class _Rendering:
    def __init__(self, citations: Sequence[Citation]) -> None:
        self._citations = citations

    def nodes(self, tree: Iterable[SyntaxTreeNode]) -> Iterator[Node]:
        for node in tree:
            yield from self._node(node)

    def _node(self, node: SyntaxTreeNode) -> Iterator[Node]:
        if node.type in _LEAVES:
            yield from self._leaf(node)
        elif node.type == "link":
            # Its text alone: a citation inside it would be a link in a link.
            address = str(node.attrs.get("href", ""))
            yield link(address, text_of(self.nodes(node.children)))
        elif node.type == "heading":
            yield element("p", element("strong", *self.nodes(node.children)))
        elif node.type == "table":
            table = Element("table", {}, tuple(self.nodes(node.children)))
            yield element(
                "div", table, class_="table", tabindex="0", role="group", aria_label="Table"
            )
        elif node.tag in _TAGS:
            yield Element(node.tag, _kept(node), tuple(self.nodes(node.children)))
        else:
            yield from self.nodes(node.children)

    def _leaf(self, node: SyntaxTreeNode) -> Iterator[Node]:
        if node.type == "text":
            yield from self._cited(node.content)
        elif node.type == "softbreak":
            yield "\n"
        elif node.type == "code_inline":
            yield element("code", node.content)
        else:
            # Whatever scrolls must be reachable by keyboard.
            code = element("code", node.content.rstrip("\n"))
            yield element("pre", code, tabindex="0", role="group", aria_label="Code")

    def _cited(self, text: str) -> Iterator[Node]:
        end = 0
        for match in _CITATION.finditer(text):
            number = int(match[1])
            if not 1 <= number <= len(self._citations):
                continue
            yield text[end : match.start()]
            source = self._citations[number - 1]
            yield link(
                source.url,
                f"[{number}]",
                class_="cite",
                aria_label=f"Source {number}: {source.title}",
            )
            end = match.end()
        yield text[end:]


def _kept(node: SyntaxTreeNode) -> dict[str, str]:
    """The only attribute that a text of its own gives: where a list begins to count."""
    return {"start": str(node.attrs["start"])} if "start" in node.attrs else {}

"""How close a page's markdown is to what its HTML shows a reader: words and code blocks."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from crawl_sites import DocsSite
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser, LexborNode

_WORD = re.compile(r"\w+")
_INVISIBLE_CHARACTERS = re.compile("[\u00ad\u200b\u2060\ufeff]")
_LINE_BREAK_TAG = re.compile(r"<br\s*/?>")
_CHARSET = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?([\w-]+)")
_UNSEEN = "script, style, template, noscript, svg, button, select, textarea"
_BLOCKS = frozenset(
    "address article aside blockquote body br caption center dd details div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr input label li main nav ol option p "
    "pre section summary table tbody td tfoot th thead tr ul".split()
)
# Line numbers and labels beside a block's code, as Pygments and VitePress write them.
_NOT_CODE = ".linenos, .lineno, .linenodiv, .line-numbers-wrapper, span.lang, .copy"
_ENOUGH_WORDS = 5
"""A container with fewer words is no page that a reader would miss."""


@dataclass(frozen=True)
class Truth:
    """What a page holds: its words, those it may leave out, and its code blocks."""

    words: Counter[str]
    optional: Counter[str]
    code: Counter[str]
    size: int  # bytes of HTML

    @property
    def is_a_page(self) -> bool:
        """Whether there is anything to read."""
        return self.words.total() + self.optional.total() >= _ENOUGH_WORDS


@dataclass(frozen=True)
class Score:
    """One page's markdown against its truth; the lists name what differs, most frequent first."""

    recall: float
    precision: float
    blocks: int
    verbatim: int
    lost: Counter[str]
    added: Counter[str]
    broken_code: tuple[str, ...]
    size: int


def truth(site: DocsSite, html: bytes) -> Truth:
    """Read a page with the site's own selectors; words of pages without container are none."""
    tree = LexborHTMLParser(_decoded(html))
    roots = _outermost(next((found for found in map(tree.css, site.containers) if found), []))
    noise = {node.mem_id for node in tree.css(f"{_UNSEEN}, {_NOT_CODE}, {site.noise}")}
    optional = {node.mem_id for node in tree.css(site.optional)} if site.optional else set()
    text: list[str] = []
    aside: list[str] = []
    code = Counter[str]()
    for root in roots:
        text += [*_pieces(root, noise | optional), "\n"]
        code += Counter(_blocks(root, noise))
    for node in tree.css(site.optional) if site.optional else ():
        aside += [*_pieces(node, noise), "\n"]
    return Truth(_words("".join(text)), _words("".join(aside)), code, len(html))


def score(page: Truth, markdown: str) -> Score:
    """Hold a page's markdown against its truth."""
    text, code = _markdown_text(markdown)
    stored = _words(text)
    wanted = page.words.total()
    added = stored - page.words - page.optional
    lost = page.words - stored
    missing = page.code - code
    return Score(
        recall=1 - lost.total() / wanted if wanted else 1.0,
        precision=1 - added.total() / stored.total() if stored else 1.0,
        blocks=page.code.total(),
        verbatim=page.code.total() - missing.total(),
        lost=lost,
        added=added,
        broken_code=tuple(missing),
        size=page.size,
    )


def _outermost(nodes: list[LexborNode]) -> list[LexborNode]:
    matches = {node.mem_id for node in nodes}
    return [node for node in nodes if not any(up.mem_id in matches for up in _above(node))]


def _above(node: LexborNode) -> Iterator[LexborNode]:
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def _decoded(html: bytes) -> str:
    named = _CHARSET.search(html[:2048])
    return html.decode(named[1].decode() if named else "utf-8", errors="replace")


def _pieces(node: LexborNode, skipped: set[int]) -> Iterator[str]:
    """The texts below a node with a line break around every block."""
    for child in node.iter(include_text=True):
        if child.is_text_node:
            yield child.text()
        elif child.is_element_node and child.mem_id not in skipped:
            edge = "\n" if child.tag in _BLOCKS else ""
            yield edge
            yield from _pieces(child, skipped)
            yield edge


def _blocks(root: LexborNode, skipped: set[int]) -> Iterator[str]:
    """The code blocks below a node, outermost ones: the text that a reader would copy."""
    for pre in root.css("pre"):
        code = _same_blanks("".join(_code_pieces(pre, skipped)))
        around = [pre, *_above(pre)]
        is_seen = all(node.mem_id not in skipped for node in around)
        if code and is_seen and all(node.tag != "pre" for node in around[1:]):
            yield code


def _code_pieces(node: LexborNode, skipped: set[int]) -> Iterator[str]:
    for child in node.iter(include_text=True):
        if child.is_text_node:
            yield child.text()
        elif child.tag == "br":
            yield "\n"
        elif child.is_element_node and child.mem_id not in skipped:
            yield from _code_pieces(child, skipped)


def _same_blanks(code: str) -> str:
    """Code without what no reader sees: blanks at line ends, empty first and last lines.

    A no-break space looks like a space and is one in every programming language.
    """
    code = _INVISIBLE_CHARACTERS.sub("", code).replace("\xa0", " ")
    return "\n".join(line.rstrip() for line in code.split("\n")).strip("\n")


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(_INVISIBLE_CHARACTERS.sub("", text).lower()))


@cache
def _parser() -> MarkdownIt:
    # Without HTML a tag that was not escaped counts as the words that it would be for an index.
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _markdown_text(markdown: str) -> tuple[str, Counter[str]]:
    """What markdown says without its markup, link targets and images, and its code blocks."""
    text: list[str] = []
    code = Counter[str]()
    for token in _parser().parse(markdown):
        if token.type in {"fence", "code_block"}:
            text.append(token.content)
            code[_same_blanks(token.content)] += 1
        for part in token.children or ():
            if part.type in {"softbreak", "hardbreak"}:
                text.append("\n")
            elif part.type == "code_inline":
                text.append(part.content)
            elif part.type == "text":
                text.append(_LINE_BREAK_TAG.sub("\n", part.content))
        text.append("\n")
    return "".join(text), code

"""The text of an answer as elements: markdown is shown, nothing of it becomes the page's own."""

from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.retrieval.result import Citation
from qindex_pipeline.serving.answer_text import answer_nodes
from qindex_pipeline.serving.nodes import Element, Node, to_html

SOURCES = [Citation("https://docs.example.com/a#b", 'A "title" <b>')]
CITE = (
    '<a href="https://docs.example.com/a#b" class="cite" '
    'aria-label="Source 1: A &quot;title&quot; &lt;b&gt;">[1]</a>'
)

CODE = '<pre tabindex="0" role="group" aria-label="Code"><code>'

SHOWN = {
    "a citation": ("Trim it [1].", f"<p>Trim it {CITE}.</p>"),
    "a number that cites nothing": ("Trim it [2][0].", "<p>Trim it [2][0].</p>"),
    "a citation that the text redefines": (
        "Trim it [1].\n\n[1]: https://evil.example",
        f"<p>Trim it {CITE}.</p><p>{CITE}: https://evil.example</p>",
    ),
    "code": ("Run `a < b`", "<p>Run <code>a &lt; b</code></p>"),
    "a block of code": (
        "```\n<b>[1]\n```\n[1]",
        f"{CODE}&lt;b&gt;[1]</code></pre><p>{CITE}</p>",
    ),
    "HTML": ("<img src=x onerror=alert(1)>", "<p>&lt;img src=x onerror=alert(1)&gt;</p>"),
    "an image": ("![x](https://evil.example/x.png)", "<p>!"),
    "a link": ("[a [1]](https://b.example)", '<p><a href="https://b.example">a [1]</a></p>'),
    "a link that is a script": ("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>"),
    "a link to a file": ("[a](ftp://b.example)", "<p><span>a</span></p>"),
    "a list": ("3. a\n4. b", '<ol start="3"><li><p>a</p></li><li><p>b</p></li></ol>'),
    "a heading": ("# A", "<p><strong>A</strong></p>"),
}


@pytest.mark.parametrize("name", SHOWN)
def test_an_answer_shows(name: str) -> None:
    text, html = SHOWN[name]
    shown = to_html(answer_nodes(text, SOURCES))
    assert shown.startswith(html)
    assert "<img" not in shown


HARMLESS = set(
    "p ul ol li blockquote hr br strong em table thead tbody tr th td pre code a span div".split()
)


def elements(nodes: Iterable[Node]) -> Iterator[Element]:
    for node in nodes:
        if isinstance(node, Element):
            yield node
            yield from elements(node.children)


@given(st.text(alphabet=st.sampled_from("<>&\"'`[]()!#*_-|:/ \n\t1ascript=on"), max_size=200))
def test_whatever_an_answer_says_only_harmless_elements_come_of_it(text: str) -> None:
    for made in elements(answer_nodes(text, SOURCES)):
        assert made.tag in HARMLESS
        assert set(made.attributes) <= {"href", "class", "aria-label", "tabindex", "role", "start"}
        assert made.attributes.get("href", "https://").startswith(("http://", "https://"))

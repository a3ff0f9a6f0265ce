"""HTML to markdown as a person would quote it: clean-up of the tree, then conversion.

The clean-up gives constructs that markdown lacks (admonitions, definition lists, cards) a
form that reads well; html-to-markdown does the rest.
"""

import re
from functools import cache

from html_to_markdown import ConversionOptions, PreprocessingOptions, convert
from selectolax.lexbor import LexborHTMLParser, LexborNode

from qindex_pipeline.crawl import dom

_ADMONITION_TITLES = (
    ".admonition-title, .custom-block-title, .markdown-alert-title, .starlight-aside__title, "
    "[class*=admonitionHeading], "
    ".note > h3.title, .tip > h3.title, .warning > h3.title, .caution > h3.title, "
    ".important > h3.title"
)
_INVISIBLE_CHARACTERS = re.compile("[\u200b\u2060\ufeff]")


def tidy(tree: LexborHTMLParser) -> None:
    """Rewrite what the converter cannot render well. Code blocks must be normalised before."""
    for table in dom.outermost(tree.css(".admonitionblock > table")):
        _unfold_admonition(table)
    for title in dom.outermost(tree.css(_ADMONITION_TITLES)):
        if text := dom.flat_text(title):
            title.replace_with(_bold(text))
    for term in dom.outermost(tree.css("dt")):
        _embolden_term(term)


def tidy_links(tree: LexborHTMLParser) -> None:
    """Remove decorative images and links that show nothing; open the links around cards."""
    dom.drop(image for image in tree.css("img") if not dom.attribute(image, "alt"))
    dom.drop(link for link in tree.css("a") if not _shows_anything(link))
    for node in tree.css("a[title], img[title]"):
        del node.attrs["title"]  # a tooltip, not the page's text
    for link in tree.css("a"):
        if any(node.tag in dom.BLOCKS for node in link.traverse()):
            link.unwrap()


def to_markdown(html: str, base_url: str) -> str:
    """Convert an HTML fragment; relative links are resolved against `base_url`.

    Raises html_to_markdown.ConversionError for input that the converter refuses.
    """
    content = convert(html, _options(base_url)).content or ""
    return _INVISIBLE_CHARACTERS.sub("", content).strip()


@cache
def _options(base_url: str) -> ConversionOptions:
    return ConversionOptions(
        extract_metadata=False,
        # Its own clean-up would drop every <header> with the H1 in it.
        preprocessing=PreprocessingOptions(enabled=False),
        compact_tables=True,
        autolinks=False,
        # Inactive tab panels are content; a reader reaches them with a click.
        hidden_content="reachable",
        inline_data_media="alt_text_only",
        base_url=base_url,
    )


def _bold(text: str) -> LexborNode:
    paragraph = dom.fragment("<p><strong></strong></p>")
    strong = paragraph.css_first("strong")
    assert strong is not None, "the fragment holds it"
    strong.insert_child(text)
    return paragraph


def _unfold_admonition(table: LexborNode) -> None:
    """Asciidoc lays a note out as a table of an icon cell and a content cell."""
    title, content = table.css_first("td.icon"), table.css_first("td.content")
    if content is None:
        return
    label = dom.flat_text(title) if title is not None else ""
    if label:
        table.insert_before(_bold(label))
    table.replace_with(dom.fragment(f"<div>{content.inner_html or ''}</div>"))


def _embolden_term(term: LexborNode) -> None:
    """A definition term stands on its own bold line, whatever markup it had."""
    if any(node.tag in dom.BLOCKS for node in term.traverse() if node.mem_id != term.mem_id):
        return
    text = dom.flat_text(term)
    for child in list(term.iter(include_text=True)):
        child.decompose()
    if text:
        term.insert_child(dom.element("strong", text))


def _shows_anything(link: LexborNode) -> bool:
    return bool(link.text().strip()) or link.css_first("img") is not None

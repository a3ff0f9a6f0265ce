"""HTML to markdown as a person would quote it: clean-up of the tree, then conversion.

The clean-up gives constructs that markdown lacks (admonitions, definition lists, cards) a
form that reads well; html-to-markdown does the rest.
"""

import re
from functools import lru_cache

from html_to_markdown import ConversionOptions, PreprocessingOptions, convert
from selectolax.lexbor import LexborNode

from qindex_pipeline.crawl.extract import dom
from qindex_pipeline.crawl.extract.tabs import TAB_LISTS, unfold_tabs

_ADMONITION_TITLES = (
    ".admonition-title, .custom-block-title, .markdown-alert-title, .starlight-aside__title, "
    "[class*=admonitionHeading], "
    ".note > h3.title, .tip > h3.title, .warning > h3.title, .caution > h3.title, "
    ".important > h3.title"
)
_OPENED_LINKS = f'a:has({", ".join(sorted(dom.BLOCKS))}), a[href^="javascript:" i]'
_BLOCK = re.compile(r"(<pre\b.*?</pre>)", re.DOTALL)
_CODE = re.compile(r"(<code\b.*?</code>)", re.DOTALL)
_BACKQUOTE = "\ufdd0"  # Unicode keeps it for such use; the converter would escape an escape
_LINE_BREAK = re.compile(r"[ \t\r\f]*\n\s*")
_INVISIBLE_CHARACTERS = re.compile("[\u200b\u2060\ufeff]")


def tidy(tree: LexborNode) -> None:
    """Rewrite what the converter cannot render well. Code blocks must be normalised before."""
    for line_break in tree.css("br"):
        line_break.insert_before("\n")  # or the words beside it are one where it is ignored
    for tabs in dom.outermost(tree.css(TAB_LISTS)):
        unfold_tabs(tabs)
    for table in dom.outermost(tree.css("table:has(pre)")):
        _unfold_table(table)
    for table in dom.outermost(tree.css(".admonitionblock > table")):
        _unfold_admonition(table)
    for title in dom.outermost(tree.css(_ADMONITION_TITLES)):
        if text := dom.flat_text(title):
            title.replace_with(dom.bold(text))
    for term in dom.outermost(tree.css("dt")):
        _embolden_term(term)


def tidy_links(tree: LexborNode) -> None:
    """Remove decorative images and links that show nothing; open links that lead nowhere else.

    Those are the links around whole cards, which markdown cannot write, and scripts' handles.
    """
    dom.drop(image for image in tree.css("img") if not dom.attribute(image, "alt"))
    for node in tree.css("a[title], img[title]"):
        del node.attrs["title"]  # a tooltip, not the page's text
    dom.drop(link for link in tree.css("a") if not dom.shows_anything(link))
    for link in tree.css(_OPENED_LINKS):
        link.unwrap()


def to_markdown(html: str, base_url: str) -> str:
    """Convert an HTML fragment; relative links are resolved against `base_url`.

    Raises html_to_markdown.ConversionError for input that the converter refuses.
    """
    content = convert(_flowing(html), _options(base_url)).content or ""
    return _INVISIBLE_CHARACTERS.sub("", content).replace(_BACKQUOTE, r"\`").strip()


def _flowing(html: str) -> str:
    """HTML without line breaks outside code blocks: the converter takes some of them for nothing.

    A backquote in running text is marked to be escaped, for it would begin a code span.
    """
    parts = _BLOCK.split(html)
    for index in range(0, len(parts), 2):
        parts[index] = _escape_backquotes(_LINE_BREAK.sub(" ", parts[index]))
    return "".join(parts)


def _escape_backquotes(html: str) -> str:
    if "`" not in html:
        return html
    parts = _CODE.split(html)
    parts[::2] = [part.replace("`", _BACKQUOTE) for part in parts[::2]]
    return "".join(parts)


@lru_cache(maxsize=16)
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


def _unfold_admonition(table: LexborNode) -> None:
    """Asciidoc lays a note out as a table of an icon cell and a content cell."""
    title, content = table.css_first("td.icon"), table.css_first("td.content")
    if content is None:
        return
    label = dom.flat_text(title) if title is not None else ""
    if label:
        table.insert_before(dom.bold(label))
    table.replace_with(dom.fragment(f"<div>{content.inner_html or ''}</div>"))


def _unfold_table(table: LexborNode) -> None:
    """A cell of a markdown table holds no code block: the cells become blocks one by one."""
    cells = dom.outermost(table.css("caption, th, td"))
    blocks = "".join(f"<div>{cell.inner_html or ''}</div>" for cell in cells)
    table.replace_with(dom.fragment(f"<div>{blocks}</div>"))


def _embolden_term(term: LexborNode) -> None:
    """A definition term stands on its own bold line, whatever markup it had."""
    if any(node.tag in dom.BLOCKS for node in term.traverse() if node.mem_id != term.mem_id):
        return
    text = dom.flat_text(term)
    for child in list(term.iter(include_text=True)):
        child.decompose()
    if text:
        term.insert_child(dom.element("strong", text))

"""Pages that are text already: markdown and plain text are their own content.

Only sites that accept such pages have them.
"""

from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from qindex_pipeline.crawl.extract.extraction import Extraction
from qindex_pipeline.crawl.extract.head import Head
from qindex_pipeline.crawl.pages import Heading
from qindex_pipeline.crawl.urls import resolve

TEXT_TYPES = frozenset({"text/markdown", "text/plain"})
"""Media types whose body is stored as it stands."""

_PARSER = MarkdownIt("commonmark")


def read_text(body: str, url: str, media_type: str) -> Extraction:
    """Make an extraction of a text page that was fetched from `url`; nothing is converted.

    Its title is its first level-1 heading. Headings of markdown have no anchors, because none
    are known without the software that would show the page.
    """
    text = body.removeprefix("\ufeff").strip()
    tokens = _PARSER.parse(text)
    headings = _headings(tokens)
    h1 = next((heading["text"] for heading in headings if heading["level"] == 1), None)
    links = _links(tokens, url) if media_type == "text/markdown" else ()
    words = len(text.split())
    return Extraction(
        head=Head(base_url=url, title=h1, title_raw=h1, links=links),
        markdown=text,
        raw_markdown=text,
        chosen="raw",
        chosen_reason=media_type,
        selector=None,
        raw_words=words,
        main_words=words,
        nav_ratio=None,
        headings=headings,
        h1=h1,
        summary=None,
        code_blocks=sum(token.type in {"fence", "code_block"} for token in tokens),
    )


def _headings(tokens: list[Token]) -> tuple[Heading, ...]:
    """Top-level headings in document order; the inline token follows the opening one."""
    return tuple(
        Heading(level=int(token.tag[1]), text=text, anchor=None)
        for token, inline in pairwise(tokens)
        if token.type == "heading_open" and token.level == 0 and (text := _flat(inline))
    )


def _flat(inline: Token) -> str:
    """The text of inline markdown without its markup."""
    parts = (child.content or " " for child in inline.children or () if not child.nesting)
    return " ".join("".join(parts).split())


def _links(tokens: list[Token], url: str) -> tuple[str, ...]:
    inline = (child for token in tokens for child in token.children or ())
    hrefs = (str(child.attrs["href"]) for child in inline if child.type == "link_open")
    found = (resolve(url, href.partition("#")[0]) for href in hrefs if href.partition("#")[0])
    return tuple(dict.fromkeys(link for link in found if link))

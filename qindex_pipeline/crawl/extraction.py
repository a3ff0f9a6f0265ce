"""From the HTML of a page to its content as markdown: the recipe, step by step.

Pure: the same HTML and URL give the same result, and nothing is fetched.
"""

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from qindex_pipeline.crawl import dom
from qindex_pipeline.crawl.code_blocks import normalise_code
from qindex_pipeline.crawl.content import drop_invisible, drop_noise, find_container
from qindex_pipeline.crawl.head import Head, read_head
from qindex_pipeline.crawl.headings import list_headings, mark_headings
from qindex_pipeline.crawl.markdown import tidy, tidy_links, to_markdown
from qindex_pipeline.crawl.nav_rule import Fit, fit
from qindex_pipeline.crawl.outcomes import EMPTY_WORDS
from qindex_pipeline.crawl.pages import Heading
from qindex_pipeline.crawl.summary import summarise


@dataclass(frozen=True)
class Extraction:
    """Everything that a page's HTML says; `markdown` is the content that was chosen.

    `main_words` counts the chosen content, `raw_words` the whole page, link targets in neither.
    `nav_ratio` is computed only where the nav-heavy rule is asked: without a container.
    """

    head: Head
    markdown: str
    raw_markdown: str
    chosen: str
    chosen_reason: str
    selector: str | None
    raw_words: int
    main_words: int
    nav_ratio: float | None
    headings: tuple[Heading, ...]
    h1: str | None
    summary: str | None


@dataclass(frozen=True)
class _Choice:
    node: LexborNode
    chosen: str
    reason: str
    selector: str | None
    nav_ratio: float | None = None


def extract(html: str, url: str) -> Extraction:
    """Extract the main content of a page that was fetched from `url`.

    Raises html_to_markdown.ConversionError for input that the converter refuses.
    """
    tree = LexborHTMLParser(html)
    head = read_head(tree, url)
    drop_invisible(tree)
    normalise_code(tree)
    mark_headings(tree)
    tidy(tree)
    whole = LexborHTMLParser(tree.html or "")
    tidy_links(whole)
    raw_words = dom.words(dom.body(whole))
    drop_noise(tree)
    tidy_links(tree)  # a dropped button may have been all that a link showed
    choice = _choose(tree, whole, raw_words)
    headings = list_headings(choice.node)
    return Extraction(
        head=head,
        markdown=to_markdown(choice.node.html or "", head.base_url),
        raw_markdown=to_markdown(dom.body(whole).html or "", head.base_url),
        chosen=choice.chosen,
        chosen_reason=choice.reason,
        selector=choice.selector,
        raw_words=raw_words,
        main_words=dom.words(choice.node),
        nav_ratio=choice.nav_ratio,
        headings=headings,
        h1=next((heading["text"] for heading in headings if heading["level"] == 1), None),
        summary=summarise(choice.node) or head.description,
    )


def _choose(tree: LexborHTMLParser, whole: LexborHTMLParser, raw_words: int) -> _Choice:
    container = find_container(tree)
    if container.selector is not None:
        return _Choice(container.node, "main", "container found", container.selector)
    pruned = fit(dom.body(whole), raw_words)
    if pruned.is_better:
        return _Choice(pruned.node, "fit", pruned.reason, None, pruned.nav_ratio)
    return _without_container(container.node, dom.body(whole), pruned)


def _without_container(page: LexborNode, whole: LexborNode, pruned: Fit) -> _Choice:
    """The body without its navigation, or the whole of it where that would lose the text."""
    complete = len(page.css("pre")) == len(whole.css("pre"))
    if complete and dom.words(page) >= EMPTY_WORDS:
        return _Choice(page, "main", pruned.reason, "body", pruned.nav_ratio)
    return _Choice(whole, "raw", pruned.reason, None, pruned.nav_ratio)

"""From the HTML of a page to its content as markdown: the recipe, step by step.

Pure: the same HTML, URL and options give the same result, and nothing is fetched.
"""

from collections import Counter
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from qindex_pipeline.crawl.extract import dom
from qindex_pipeline.crawl.extract.choice import Choice, ExtractionOptions, Whole, choose
from qindex_pipeline.crawl.extract.code_blocks import code_texts, normalise_code
from qindex_pipeline.crawl.extract.head import Head, read_head
from qindex_pipeline.crawl.extract.headings import list_headings, mark_headings
from qindex_pipeline.crawl.extract.markdown import tidy, tidy_links, to_markdown
from qindex_pipeline.crawl.extract.noise import drop_invisible
from qindex_pipeline.crawl.extract.parsing import parse
from qindex_pipeline.crawl.extract.summary import summarise
from qindex_pipeline.crawl.pages import Heading
from qindex_pipeline.ids import content_hash

__all__ = ["Extraction", "ExtractionOptions", "check_selector", "extract", "extractor_version"]

_DEFAULT = ExtractionOptions()
_VERSION = "3"
"""Raised whenever the same page gives another result than before."""
_PLACEHOLDER = "\ufdd1"  # Unicode keeps it for such use


def extractor_version(options: ExtractionOptions) -> str:
    """The name of what code and options make of a page: equal names give equal results."""
    if options == _DEFAULT:
        return _VERSION
    return f"{_VERSION}-{content_hash(options.content_selector or '', *options.drop_selectors)[:8]}"


def check_selector(text: str) -> str | None:
    """Why a text is no CSS selector that the extraction understands, None when it is one."""
    try:
        LexborHTMLParser("").css(text)
    except SelectolaxError:
        return f"{text!r} is not a CSS selector"
    return None


@dataclass(frozen=True)
class Extraction:
    """Everything that a page's HTML says; `markdown` is the content that was `chosen`.

    Attributes:
        chosen: main (the page's main content), fit (the pruned page) or raw (the whole page).
        selector: What found the main content; `body` for the page without its navigation.
        raw_words: Words of the whole page; link targets count neither here nor below.
        main_words: Words of the chosen content.
        nav_ratio: Raw words per fit word, like all of `fit` only for pages without a container.
        headings: Those of the chosen content; `h1` is the text of the first H1 among them.
        main_markdown: Of the main content that was found and not chosen.
        fit_markdown: Of the pruned page where it was computed and not chosen.
        link_density: Share of the chosen content's words that stand in links.
        code_blocks: Code blocks of the chosen content.
        code_blocks_lost: Code blocks of the whole page that are not in it.
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
    main_markdown: str | None = None
    fit_markdown: str | None = None
    fit_words: int | None = None
    link_density: float = 0.0
    code_blocks: int = 0
    code_blocks_lost: int = 0


def extract(html: str, url: str, options: ExtractionOptions = _DEFAULT) -> Extraction:
    """Extract the main content of a page that was fetched from `url`.

    Raises html_to_markdown.ConversionError for markup that cannot be read within limits. The
    selectors of `options` must have passed `check_selector`.
    """
    tree = parse(html)
    head = read_head(tree, url)
    page = dom.body(tree)
    drop_invisible(page)
    normalise_code(tree)
    mark_headings(page)
    tidy(page)
    tidy_links(page)
    whole = Whole.of(page)
    return _extraction(head, whole, choose(page, whole, options))


def _extraction(head: Head, whole: Whole, choice: Choice) -> Extraction:
    node, pruned = choice.node, choice.fit
    headings = list_headings(node)
    code = Counter(code_texts(node))
    words = dom.words(node)
    html = node.html or ""
    markdown = to_markdown(html, head.base_url)
    return Extraction(
        head=head,
        markdown=markdown,
        raw_markdown=_raw_markdown(whole, html, markdown, head.base_url),
        chosen=choice.chosen,
        chosen_reason=choice.reason,
        selector=choice.selector,
        raw_words=whole.words,
        main_words=words,
        nav_ratio=pruned.nav_ratio if pruned else None,
        headings=headings,
        h1=next((heading["text"] for heading in headings if heading["level"] == 1), None),
        summary=summarise(node) or head.description,
        main_markdown=_markdown(choice.rejected, head) if choice.rejected else None,
        fit_markdown=_markdown(pruned.node, head) if pruned and choice.chosen != "fit" else None,
        fit_words=pruned.words if pruned else None,
        link_density=dom.link_words(node) / max(1, words),
        code_blocks=code.total(),
        code_blocks_lost=(whole.code - code).total(),
    )


def _markdown(node: LexborNode, head: Head) -> str:
    return to_markdown(node.html or "", head.base_url)


def _raw_markdown(whole: Whole, html: str, markdown: str, base_url: str) -> str:
    """The markdown of the whole page, around that of the content where this is a part of it.

    The content is most of a page, and to convert it twice would be a third of the work.
    """
    before, found, after = whole.html.partition(html)
    if found:
        rest = to_markdown(f"{before}<p>{_PLACEHOLDER}</p>{after}", base_url)
        is_on_its_own = f"\n{_PLACEHOLDER}\n" in f"\n{rest}\n"
        if is_on_its_own and rest.count(_PLACEHOLDER) == 1:
            return rest.replace(_PLACEHOLDER, markdown).strip()
    return to_markdown(whole.html, base_url)

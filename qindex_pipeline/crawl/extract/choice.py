"""Which part of a page becomes its text: main content, the pruned page, or the whole of it."""

from collections import Counter
from dataclasses import dataclass, replace

from selectolax.lexbor import LexborHTMLParser, LexborNode

from qindex_pipeline.crawl.extract import dom
from qindex_pipeline.crawl.extract.code_blocks import code_lines, code_texts
from qindex_pipeline.crawl.extract.content import find_container, select_container
from qindex_pipeline.crawl.extract.nav_rule import Fit, fit
from qindex_pipeline.crawl.extract.noise import drop_noise
from qindex_pipeline.crawl.outcomes import EMPTY_WORDS

_ORDINARY_BARS = 60
"""Words of a header and a footer, which on a short page are more than its text."""
_NAVIGATION = 5
"""Words of links, from which on what was dropped counts as the navigation of the page."""


@dataclass(frozen=True)
class ExtractionOptions:
    """What a site's owner knows better than the rules, as CSS selectors.

    Attributes:
        content_selector: The main content is the largest element that it matches.
        drop_selectors: What is no content, wherever it stands.
    """

    content_selector: str | None = None
    drop_selectors: tuple[str, ...] = ()


@dataclass(frozen=True)
class Whole:
    """The whole page, its code normalised, before anything of it was taken for noise."""

    html: str
    words: int
    code: Counter[str]
    code_lines: frozenset[str]

    @classmethod
    def of(cls, page: LexborNode) -> "Whole":
        """Take down what is below a body."""
        code = code_texts(page)
        return cls(
            page.html or "", dom.words(page), Counter(code), frozenset(code_lines("\n".join(code)))
        )


@dataclass(frozen=True)
class Choice:
    """The node that was chosen and why; `rejected` is a container that would have lost code.

    `fit` is there when the pruned page had to be computed, whatever was chosen.
    """

    node: LexborNode
    chosen: str
    reason: str
    selector: str | None = None
    rejected: LexborNode | None = None
    fit: Fit | None = None


def choose(page: LexborNode, whole: Whole, options: ExtractionOptions) -> Choice:
    """Choose the content of a body, which loses its noise on the way."""
    dropped = (node for selector in options.drop_selectors for node in page.css(selector))
    dom.drop({node.mem_id: node for node in dropped if node.mem_id != page.mem_id}.values())
    selector = options.content_selector
    if selector is None:
        return _by_rules(page, whole)
    selected = select_container(page, selector)
    if selected is None:
        choice = _by_rules(page, whole)
        return replace(choice, reason=f"content_selector matches nothing; {choice.reason}")
    drop_noise(page, keep=selected.node)
    return Choice(selected.node, "main", "content_selector", selector)


def _by_rules(page: LexborNode, whole: Whole) -> Choice:
    n_words, n_code = dom.words(page), len(page.css("pre"))
    n_left = drop_noise(page)
    container = find_container(page, n_code)
    if container is not None and container.code_lost == 0:
        return Choice(container.node, "main", "container found", container.selector)
    is_main = n_words - n_left <= max(n_left, _ORDINARY_BARS)
    choice = _without_container(page, whole, is_main=is_main)
    if container is None:
        return choice
    lost = f"{container.selector} loses {container.code_lost} code blocks"
    return replace(choice, rejected=container.node, reason=f"{lost}; {choice.reason}")


def _without_container(page: LexborNode, whole: Whole, *, is_main: bool) -> Choice:
    """The seed's rule, else the page without its landmarks, else the whole page.

    What stays is main content (`is_main`) unless that was most of the page: then nobody knows
    what is what, and all of it is kept. The rule is not asked where navigation was among what
    went.
    """
    original = dom.body(LexborHTMLParser(whole.html))
    is_main = is_main and EMPTY_WORDS <= dom.words(page) < whole.words
    if is_main and dom.link_words(original) - dom.link_words(page) >= _NAVIGATION:
        return Choice(page, "main", "no container, navigation dropped", "body")
    pruned = fit(whole.html, whole.words, whole.code_lines)
    if pruned.is_better:
        return Choice(pruned.node, "fit", pruned.reason, fit=pruned)
    if is_main:
        return Choice(page, "main", f"{pruned.reason}, landmarks dropped", "body", fit=pruned)
    return Choice(original, "raw", pruned.reason, fit=pruned)

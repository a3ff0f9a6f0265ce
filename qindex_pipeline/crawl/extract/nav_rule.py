"""The nav-heavy rule of the seed: whole pages with over 4 times the words of their fit text.

It is the last resort for a page without a recognisable container, and guarded, because on
short pages the fit text is near empty and on others it loses code.
"""

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from qindex_pipeline.crawl.extract import dom
from qindex_pipeline.crawl.extract.code_blocks import code_lines, code_texts

NAV_RATIO = 4.0  # the seed's constant
_MIN_FIT_WORDS = 50


@dataclass(frozen=True)
class Fit:
    """The page as crawl4ai's pruning filter leaves it, and how it compares to the whole."""

    node: LexborNode
    words: int
    nav_ratio: float
    keeps_code: bool

    @property
    def is_better(self) -> bool:
        """Whether the rule fires: nav-heavy, enough text left, no line of code lost."""
        return self.nav_ratio > NAV_RATIO and self.words >= _MIN_FIT_WORDS and self.keeps_code

    @property
    def reason(self) -> str:
        """Why the rule fired or did not, in a few words."""
        if self.nav_ratio <= NAV_RATIO:
            return f"no container, nav ratio {self.nav_ratio:.1f}"
        if self.words < _MIN_FIT_WORDS:
            return f"no container, nav-heavy {self.nav_ratio:.1f} but fit has {self.words} words"
        if not self.keeps_code:
            return f"no container, nav-heavy {self.nav_ratio:.1f} but fit loses code"
        return f"no container, nav-heavy {self.nav_ratio:.1f}"


def fit(page: str, raw_words: int, raw_code_lines: frozenset[str]) -> Fit:
    """Prune the HTML of a whole body (its code normalised) with `raw_words` words."""
    from crawl4ai.content_filter_strategy_lxml import PruningContentFilterLXML

    blocks = PruningContentFilterLXML().filter_content(f"<html>{page}</html>")
    node = dom.body(LexborHTMLParser("\n".join(blocks)))
    count = dom.words(node)
    kept = set(code_lines("\n".join(code_texts(node))))
    return Fit(node, count, raw_words / max(1, count), kept >= raw_code_lines)

"""Which pages are empty until JavaScript has run.

Documentation generators write finished pages nearly always (Docusaurus, VitePress, MkDocs), so
a page is read over HTTP until it looks like the empty shell of an application.
"""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from qindex_pipeline.crawl.extract import dom
from qindex_pipeline.crawl.extract.extraction import Extraction

_ENOUGH_WORDS = 20  # a page with as many in its main content is worth reading as it is
_SHELL_WORDS = 5  # "Loading, please wait" is no content
_ROOTS = (
    "#root, #app, #__next, #__nuxt, #___gatsby, #svelte, #main-app, app-root, [data-reactroot], "
    "[ng-app], [data-v-app]"
)
"""Where the common frameworks put what they render."""
_SCRIPT_TYPES = frozenset({"", "module", "text/javascript", "application/javascript"})
_ASKS_FOR_IT = re.compile(
    r"(enable|enabled|turn on|requires?|needs?|without|activate|allow)\b.{0,60}\bjavascript"
    r"|\bjavascript\b.{0,60}\b(enabled?|required|needed|disabled|turned on|activated|to run)\b",
    re.IGNORECASE | re.DOTALL,
)


def needs_javascript(html: str, extraction: Extraction) -> bool:
    """Whether a page has next to no text because scripts that did not run would write it.

    A short page alone is no reason: scripts must be there, and a sign of a shell - an empty
    application root, a request to enable JavaScript, or a body without text that loads scripts.
    """
    if extraction.main_words >= _ENOUGH_WORDS:
        return False
    tree = LexborHTMLParser(html)
    scripts = [node for node in tree.css("script") if _is_program(node)]
    if not scripts:
        return False
    asks = any(_ASKS_FOR_IT.search(node.text()) for node in tree.css("noscript"))
    dom.drop(tree.css("script, style, noscript, template"))
    if asks or any(dom.words(root) < _SHELL_WORDS for root in tree.css(_ROOTS)):
        return True
    loads = any(dom.attribute(node, "src") for node in scripts)
    return loads and dom.words(dom.body(tree)) < _SHELL_WORDS


def _is_program(script: LexborNode) -> bool:
    return dom.attribute(script, "type").strip().lower() in _SCRIPT_TYPES

"""From the text of a page to its tree, within the limits of what a page can be.

The parser takes time in the square of the depth of a tree and of the attributes of an element,
so that a few hundred kilobytes of broken markup would keep it busy for minutes.
"""

import re
from collections import Counter

from html_to_markdown import ConversionError
from selectolax.lexbor import LexborHTMLParser

_MAX_DEPTH = 500  # browsers stop near 512 too
_TOO_DEEP = "* > " * _MAX_DEPTH + "*"
_TOO_DEEP_TEXT = f"elements are nested more than {_MAX_DEPTH} deep"
_MAX_ATTRIBUTES = 1000
_LONG_TAG = re.compile(r"<[A-Za-z][^<>]{10000,}")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_MANY_TAGS = 40_000  # however they nest, fewer keep the parser busy for 3 seconds at most
_TAG = re.compile(r"<(/?)([A-Za-z][^\s/>]*)([^<>]*)>?")
# Elements that are empty, or that the next one of their kind ends.
_NEVER_DEEP = frozenset(
    "area base br col embed hr img input link meta param source track wbr "
    "html head body p li dt dd tr td th thead tbody tfoot colgroup option optgroup rp rt a".split()
)
_FOREIGN = ("svg", "math")  # where <x/> has an end


def parse(html: str) -> LexborHTMLParser:
    """Parse a page; characters that no encoding has are replaced.

    Raises html_to_markdown.ConversionError for markup that is nested too deeply, or for an
    element with too many attributes.
    """
    for tag in _LONG_TAG.findall(html):
        if len(_QUOTED.sub("", tag).split()) > _MAX_ATTRIBUTES:
            raise ConversionError(f"an element has more than {_MAX_ATTRIBUTES} attributes")
    if html.count("<") - html.count("</") > _MANY_TAGS and _nests_too_deep(html):
        raise ConversionError(_TOO_DEEP_TEXT)
    tree = LexborHTMLParser(html.encode("utf-8", "replace").decode())
    if tree.css_first(_TOO_DEEP) is not None:
        raise ConversionError(_TOO_DEEP_TEXT)
    return tree


def _nests_too_deep(html: str) -> bool:
    """Whether the tags of a text look deeper than the limit, in time linear in its length."""
    open_tags: list[str] = []
    counts = Counter[str]()
    for closing, tag, rest in _TAG.findall(html):
        name = tag.lower()
        if closing:
            _close(name, open_tags, counts)
        elif name not in _NEVER_DEEP and not (rest.endswith("/") and _is_foreign(counts)):
            open_tags.append(name)
            counts[name] += 1
            if len(open_tags) > _MAX_DEPTH:
                return True
    return False


def _close(name: str, open_tags: list[str], counts: Counter[str]) -> None:
    """End the innermost open element of that name with all that is open in it."""
    while counts[name] and (ended := open_tags.pop()):
        counts[ended] -= 1
        if ended == name:
            return


def _is_foreign(counts: Counter[str]) -> bool:
    return any(counts[name] for name in _FOREIGN)

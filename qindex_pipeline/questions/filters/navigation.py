"""Which chunks only lead elsewhere: menus, tables of contents, indexes, lists of links.

Nobody is asked about them, because a model answers all the same, with questions that they do
not answer.
"""

import re
from collections.abc import Mapping
from typing import Any

from qindex_pipeline.chunking.words import count_words

MIN_LINKS = 3
"""Fewer links are a reference within a text, not a list of them."""

LINK_SHARE = 0.7
"""Share of the words that stand in links, from which a chunk counts as a list of links.

On 14,600 chunks of eleven docs sites what lies above are indexes, menus, "see also" and tables
of contents; lists that say something of each entry ("git-add: add file contents to the index")
lie below.
"""

STATEMENT_WORDS = 6
"""So many words in a row beside the links state something, unless they announce the list."""

# A term on a line of its own, as definition lists have them: what follows says what it is.
_TERM = re.compile(r"^\*\*[^*\n]+\*\*[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
# What only names what follows: a heading, and the header of a table with its rule.
_HEADING = re.compile(r"^ {0,3}#{1,6}(?:\s.*)?$|^\|.*\n\|[ :|-]+$", re.MULTILINE)
_ANNOUNCES = (":", "：")
# A link or image, with at most one more pair of brackets in its text and in its address, or an
# autolink. Possessive quantifiers keep the search linear on brackets that never close.
_LINK = re.compile(
    r"!?\[(?P<shown>(?:[^\[\]]|\[[^\[\]]*+\])*+)\]\((?:[^()]|\([^()]*+\))*+\)|<https?://[^<>\s]++>"
)


def is_navigation(chunk: Mapping[str, Any]) -> bool:
    """Whether a chunk is a list of links that says nothing about where they lead.

    Args:
        chunk: Row of the chunks table.
    """
    text = str(chunk["text"])
    if _FENCE.search(text):
        return False
    text = _HEADING.sub("", text)
    links = list(_LINK.finditer(text))
    if len(links) < MIN_LINKS:
        return False
    beside = [
        line
        for line in _LINK.sub("\n", text).splitlines()
        if not line.rstrip().endswith(_ANNOUNCES)
    ]
    if len(_TERM.findall(text)) >= MIN_LINKS or any(
        count_words(line) >= STATEMENT_WORDS for line in beside
    ):
        return False
    # An address or an image without a text counts as one word.
    linked = sum(count_words(link["shown"] or "") or 1 for link in links)
    return linked >= LINK_SHARE * (linked + sum(count_words(line) for line in beside))

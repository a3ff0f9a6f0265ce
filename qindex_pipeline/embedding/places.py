"""Where a chunk stands in its site: the words before every text of it that is embedded.

A page says its own name and seldom the name of what it is a part of: `Buttons` below the page
`STL Syntax` is about buttons in that syntax, and users ask so. Its URL tells the page above it.
"""

import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from qindex_pipeline.embedding.windows import place

Row = Mapping[str, Any]

_INDEX = re.compile(r"/(?:index|default)\.\w+$")
_WORD = re.compile(r"\w+")
_SUFFIX = re.compile(r"\.(?:html?|md|php|aspx?)$")

_NAME_CHARACTERS = 4
"""Shorter words of a title are mostly `the`, `and`, `for`."""


def places(chunks: Sequence[Row]) -> dict[str, str]:
    """`Parent page > Page > Section` of each chunk, by its id.

    The parent is the page directly above by URL path. It is left out where the page's own title
    names it already, as `React Renderer` below `Renderers` does, and where it is above all
    others: then it names the site rather than a place in it.

    Args:
        chunks: Rows of the chunks table, all of one site.
    """
    paths = {chunk["url"]: _path(chunk["url"]) for chunk in chunks}
    top = posixpath.commonpath(paths.values()) if paths else "/"
    titles: dict[str, str] = {}
    for chunk in chunks:
        titles.setdefault(paths[chunk["url"]], chunk["title"].strip())
    titles.pop(top, None)
    return {chunk["chunk_id"]: _place(chunk, paths[chunk["url"]], titles) for chunk in chunks}


def _place(chunk: Row, path: str, titles: Mapping[str, str]) -> str:
    own = place(chunk["title"], chunk["heading_path"])
    above = titles.get(posixpath.dirname(path), "")
    is_named = above in own or not _words(above).isdisjoint(_words(chunk["title"]))
    return own if is_named else place(above, [own])


def _words(title: str) -> set[str]:
    """Words that can name a thing, without their plural."""
    found = _WORD.findall(title.casefold())
    return {word.removesuffix("s") for word in found if len(word) >= _NAME_CHARACTERS}


def _path(url: str) -> str:
    """`/guide` for `/guide/`, `/guide/index.html` and `/guide.html`: one place in the tree."""
    path = _INDEX.sub("/", urlsplit(url).path)
    return "/" + _SUFFIX.sub("", path).strip("/")

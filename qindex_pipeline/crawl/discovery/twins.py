"""Markdown twins: the text that a site offers for a page beside its HTML.

A site names a twin in the head of the page, or lists it in /llms.txt (https://llmstxt.org).
Nothing here guesses with a request: what nobody named is not asked for.
"""

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from qindex_pipeline.crawl.discovery.markdown_links import absolute_links
from qindex_pipeline.crawl.fetch.charset import decode
from qindex_pipeline.crawl.outcomes import EMPTY_WORDS, Outcome
from qindex_pipeline.crawl.urls import resolve

if TYPE_CHECKING:
    from qindex_pipeline.crawl.discovery.sitemap import Documents
    from qindex_pipeline.crawl.fetch.http import Gate

MAX_BYTES = 5 * 1024 * 1024
"""Of a twin or of an llms.txt: as much as a page may have by default."""

_TEXT_FILE = re.compile(r"\.(md|mdx|markdown|txt)$", re.IGNORECASE)
_HTML_FILE = re.compile(r"\.html?$", re.IGNORECASE)
_COMMENTS = re.compile(r"(\s*<!--.*?-->)+", re.DOTALL)
_DOCUMENT = re.compile(r"\s*<(!doctype|html|head|body|\?xml)\b", re.IGNORECASE)
# Three dashes may be a rule too: it is front matter only when a key follows.
_FRONT_MATTER = re.compile(
    r"---[ \t]*\n\s*[\w\"'-]+[ \t]*:.*?^(---|\.\.\.)[ \t]*(\n|\Z)", re.DOTALL | re.MULTILINE
)
_ERROR = re.compile(
    r"\W*(error\W+)?([45]\d\d\b|(page |file )?(was |could )?not (be )?f(ou|i)nd|access denied"
    r"|forbidden|unauthori[sz]ed|internal server error|bad gateway|service unavailable)",
    re.IGNORECASE,
)
_ERROR_WORDS = 80
"""An error text is short; a page that explains the status 404 is not."""


def parse_llms_txt(text: str, url: str) -> tuple[str, ...]:
    """The files that an llms.txt lists, normalised, in its order, each once.

    They are the first links of the list items in the sections (level-2 headings and below,
    "Optional" too). A text that does not begin with a level-1 heading is no llms.txt.

    Args:
        text: The decoded file.
        url: Where it was read; relative links are resolved against it.
    """
    tokens = MarkdownIt("commonmark").parse(_behind_comments(text.removeprefix("\ufeff")))
    if not tokens or (tokens[0].type, tokens[0].tag) != ("heading_open", "h1"):
        return ()
    found = (resolve(url, href) for href in _first_links(tokens))
    return tuple(dict.fromkeys(link for link in found if link))


def _first_links(tokens: list[Token]) -> Iterator[str]:
    lists, in_section = 0, False
    for token in tokens:
        if token.type in {"bullet_list_open", "ordered_list_open"}:
            lists += 1
        elif token.type in {"bullet_list_close", "ordered_list_close"}:
            lists -= 1
        elif token.type == "heading_open" and not lists:
            in_section = token.tag != "h1"
        elif token.type == "inline" and lists and in_section:
            links = (child for child in token.children or () if child.type == "link_open")
            yield from (str(link.attrGet("href")) for link in [*links][:1])


@dataclass(frozen=True)
class TwinFinder:
    """Which twin a page has, by what the site itself says.

    `links` are those of its llms.txt, see `parse_llms_txt`; `accept_text` is the site's option.
    """

    links: tuple[str, ...] = ()
    accept_text: bool = False

    @cached_property
    def _listed(self) -> frozenset[str]:
        return frozenset(self.links)

    def twin_of(self, page_url: str, announced: str | None = None) -> str | None:
        """The URL of the page's twin, or None when the site names none.

        Args:
            page_url: The normalised URL of the page.
            announced: What the page's head names as its markdown.
        """
        if announced is not None:
            return announced if announced != page_url else None
        return next((url for url in _conventional_twins(page_url) if url in self._listed), None)

    def pages(self) -> tuple[str, ...]:
        """The listed URLs with which a crawl may begin, the surest first; scope is not checked.

        A link to a page stands for itself, and `x.html.md` for `x.html`: the name of its page
        with `.md` behind it, which is the rule of llmstxt.org. Whether `/a.md` belongs to `/a`,
        `/a/` or `/a.html` only requests could tell, so its page is left to links and sitemap.
        With `accept_text` it is a page itself, unless it is the twin of a listed one.
        """
        pages = dict.fromkeys(page for page in map(_page_of, self.links) if page)
        twins = {self.twin_of(page) for page in pages}
        texts = (url for url in self.links if _is_text_file(url) and url not in twins)
        return (*pages, *texts) if self.accept_text else tuple(pages)


def _is_text_file(url: str) -> bool:
    return _TEXT_FILE.search(urlsplit(url).path) is not None


def _page_of(link: str) -> str | None:
    if not _is_text_file(link):
        return link
    page = link.removesuffix(".md")
    return page if page != link and _HTML_FILE.search(urlsplit(page).path) else None


def _conventional_twins(page_url: str) -> tuple[str, ...]:
    """Under which names sites publish the markdown of a page."""
    parts = urlsplit(page_url)
    if parts.query or _is_text_file(page_url):
        return ()
    if not parts.path.endswith("/"):
        stem = _HTML_FILE.sub("", page_url)
        return f"{stem}.md", f"{stem}.html.md"
    folder = (f"{page_url.rstrip('/')}.md",) if parts.path != "/" else ()
    return f"{page_url}index.md", f"{page_url}index.html.md", *folder


def is_markdown(text: str) -> bool:
    """Whether a text may stand for a page: no HTML document, data, error text, or next to nothing.

    Servers answer an unknown path with their application's HTML, or say in plain words that
    there is nothing, both with status 200.
    """
    words = text.split(maxsplit=_ERROR_WORDS)
    if len(words) < EMPTY_WORDS or "\0" in text:
        return False
    if _DOCUMENT.match(_behind_comments(text)) or _is_json(text):
        return False
    return len(words) > _ERROR_WORDS or not _ERROR.match(text)


def _behind_comments(text: str) -> str:
    comments = _COMMENTS.match(text)
    return text[comments.end() :] if comments else text


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in {"{", "["}:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def without_front_matter(text: str) -> str:
    """The text behind the YAML block with which a generator's source may begin."""
    match = _FRONT_MATTER.match(text)
    return text[match.end() :].lstrip("\n") if match else text


async def fetch_twin(fetcher: "Documents", url: str, gate: "Gate") -> str | None:
    """The markdown at `url` without front matter, its links absolute.

    None when `gate` refuses the URL, when it cannot be read or is larger than 5 MiB, and when
    it is no markdown: the page's HTML is read then.
    """
    read = await _text_of(fetcher, url, gate)
    if read is None:
        return None
    text, final_url = read
    markdown = without_front_matter(text)
    if not is_markdown(markdown):
        return None
    # A long text takes seconds to parse, and pages are being fetched meanwhile.
    return await asyncio.to_thread(absolute_links, markdown, final_url)


async def read_llms_txt(fetcher: "Documents", root: str, gate: "Gate") -> tuple[str, ...]:
    """The links of the site's llms.txt, () when it has none.

    Args:
        fetcher: Fetches the file.
        root: The site's start URL. The file stands beside it, for a site that is published below
            a path, or at the root of its host.
        gate: Why a URL must not be asked; None when it may.
    """
    for url in dict.fromkeys((urljoin(root, "llms.txt"), urljoin(root, "/llms.txt"))):
        read = await _text_of(fetcher, url, gate)
        links = await asyncio.to_thread(parse_llms_txt, *read) if read else ()
        if links:
            return links
    return ()


async def _text_of(fetcher: "Documents", url: str, gate: "Gate") -> tuple[str, str] | None:
    """The text of a file and the URL where redirects found it."""
    if gate(url) is not None:
        return None
    document = await fetcher.document(url, gate, MAX_BYTES)
    if document.fetch.outcome is not Outcome.OK:
        return None
    text = decode(document.body, document.fetch.charset, is_markup=False).text
    return text.replace("\r\n", "\n"), document.fetch.final_url

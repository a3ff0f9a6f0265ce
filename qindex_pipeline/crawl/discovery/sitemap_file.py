"""One sitemap file: from its bytes to the pages, or the further files, that it lists.

Pure. A file is what its content says, whatever its name and media type: a server that answers
every path with its single-page application has no sitemap.
"""

import gzip
import re
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO, StringIO
from itertools import islice

from qindex_pipeline.crawl.fetch.charset import decode
from qindex_pipeline.crawl.outcomes import one_line
from qindex_pipeline.crawl.urls import resolve

MAX_BYTES = 50 * 1024 * 1024
"""Of one file, packed and unpacked; like the number of URLs the limit of sitemaps.org."""
MAX_URLS = 50_000

_READ_BYTES = 64 * 1024  # at a time: libxml2 refuses buffers of more than 10 MB
_MAX_TEXT = 10_000  # characters of an element that are kept: no URL is that long
_GZIP_MAGIC = b"\x1f\x8b"
_ITEM_OF = {"urlset": "url", "sitemapindex": "sitemap"}
_URL_LINE = re.compile(r"https?://\S+", re.IGNORECASE)
# The forms of https://www.w3.org/TR/NOTE-datetime; files in the wild write a blank for the T,
# leave the colon out of the offset, or the offset out altogether.
_TIME = r"[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?"
_DATE = re.compile(rf"\d{{4}}(-\d\d(-\d\d({_TIME})?)?)?", re.ASCII)


@dataclass(frozen=True)
class SitemapEntry:
    """A listed page: its normalised URL and when it changed, in UTC, if the site says so.

    A year, a month or a day stands for its first moment.
    """

    url: str
    lastmod: datetime | None = None


@dataclass(frozen=True)
class Sitemap:
    """What one file lists: pages or, when it is an index, further files.

    `problem` is None for a sitemap, also for one that lists nothing; else it says, as the rest
    of a sentence, why the file is none.
    """

    entries: tuple[SitemapEntry, ...] = ()
    files: tuple[str, ...] = ()
    problem: str | None = None


def parse_sitemap(body: bytes, now: datetime | None = None) -> Sitemap:
    """Read one file: XML in any namespace, or plain text with a URL a line, gzipped or not.

    XML must be well-formed to its end or to the 50,000th URL, where reading stops; entities are
    not expanded and nothing is loaded. Text is a sitemap only when every line is a URL.

    Args:
        body: The file as it arrived.
        now: What a date must not lie after; default the present.
    """
    if body.startswith(_GZIP_MAGIC):
        unpacked = _unpacked(body)
        if unpacked is None:
            return Sitemap(problem=f"is broken gzip, or unpacks to more than {MAX_BYTES} bytes")
        body = unpacked
    body = body.lstrip()  # a blank line before the XML declaration is a common slip
    xml = _read_xml(body, now or datetime.now(UTC))
    return xml if xml.problem is None else _read_text(body) or xml


def parse_lastmod(text: str, now: datetime) -> datetime | None:
    """A W3C date or time in UTC; None for anything else and for what lies after `now`.

    A time without an offset is one in UTC.
    """
    text = text.strip()
    if not _DATE.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text if len(text) >= 10 else f"{text}-01-01"[:10])
        moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):  # 30 February; the first hour of the year 1, in Berlin
        return None
    return moment if moment <= now else None


def _unpacked(body: bytes) -> bytes | None:
    try:
        with gzip.GzipFile(fileobj=BytesIO(body)) as packed:
            unpacked = packed.read(MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        return None
    return unpacked if len(unpacked) <= MAX_BYTES else None


def _read_xml(body: bytes, now: datetime) -> Sitemap:
    from lxml.etree import XMLParser, XMLSyntaxError

    listing = _Listing(now)
    parser = XMLParser(
        target=listing, resolve_entities=False, no_network=True, huge_tree=False, recover=False
    )
    try:
        for start in range(0, len(body), _READ_BYTES):
            parser.feed(body[start : start + _READ_BYTES])
        parser.close()
    except _Enough:
        pass
    except _NoSitemapError as error:
        return Sitemap(problem=f"is no sitemap: {one_line(error)}")
    except XMLSyntaxError as error:
        return Sitemap(problem=f"is no sitemap: {one_line(error)}")
    if listing.root == "urlset":
        return Sitemap(entries=tuple(listing.entries))
    return Sitemap(files=tuple(entry.url for entry in listing.entries))


class _NoSitemapError(Exception):
    """The file is XML of another kind."""


class _Enough(Exception):  # noqa: N818  no error: it ends the reading
    """The limit of URLs is reached."""


class _Listing:
    """Hears of each element as lxml reads it, so that no file becomes a tree in memory.

    What it raises ends the reading. Only a loc and a lastmod directly in an item count: the loc
    of an image stands deeper.
    """

    def __init__(self, now: datetime) -> None:
        self.root = ""
        self.entries: list[SitemapEntry] = []
        self._now = now
        self._path: list[str] = []
        self._item: dict[str, str] = {}

    def doctype(self, name: str, *_: object) -> None:
        # No sitemap needs one, and only through one can entities blow a text up.
        raise _NoSitemapError(f"it declares the document type {name}")

    def start(self, tag: str, _: object) -> None:
        self._path.append(tag.rpartition("}")[2])
        self.root = self._path[0]
        if self.root not in _ITEM_OF:
            raise _NoSitemapError(f"its root element is {self.root}")

    def data(self, text: str) -> None:
        if len(self._path) == 3 and self._path[1] == _ITEM_OF[self.root]:
            so_far = self._item.get(self._path[2], "")
            if len(so_far) <= _MAX_TEXT:
                self._item[self._path[2]] = so_far + text

    def end(self, _: object) -> None:
        name = self._path.pop()
        if len(self._path) == 1 and name == _ITEM_OF[self.root]:
            self._add(self._item.get("loc", ""), self._item.get("lastmod", ""))
            self._item.clear()

    def close(self) -> None:
        """Nothing is left to do at the end; lxml asks for the method."""

    def _add(self, loc: str, lastmod: str) -> None:
        url = resolve("", loc)
        if url is not None:
            self.entries.append(SitemapEntry(url, parse_lastmod(lastmod, self._now)))
        if len(self.entries) >= MAX_URLS:
            raise _Enough


def _read_text(body: bytes) -> Sitemap | None:
    lines = (line.strip() for line in StringIO(decode(body, None, is_markup=False).text))
    entries: list[SitemapEntry] = []
    for line in islice(filter(None, lines), MAX_URLS):
        url = resolve("", line) if _URL_LINE.fullmatch(line) else None
        if url is None:
            return None
        entries.append(SitemapEntry(url))
    return Sitemap(entries=tuple(entries)) if entries else None

"""The sitemaps of a site: where they are, and everything that they list together.

A sitemap is a hint. A site whose files cannot be read is crawled through its links, and a note
says why; nothing here raises for what a server does.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urljoin

from qindex_pipeline.crawl.discovery.sitemap_file import (
    MAX_BYTES,
    MAX_URLS,
    Sitemap,
    SitemapEntry,
    parse_sitemap,
)
from qindex_pipeline.crawl.outcomes import FetchOutcome, Outcome
from qindex_pipeline.crawl.urls import resolve

if TYPE_CHECKING:
    from qindex_pipeline.crawl.fetch.http import Gate

MAX_FILES = 50
"""Files that are looked at for one site, those that `gate` refuses included."""
MAX_DEPTH = 2
"""Steps down from a start file. sitemaps.org allows one, from an index to its files; sites that
list indexes in an index exist."""

_WELL_KNOWN = ("/sitemap.xml", "/sitemap_index.xml", "sitemap.xml")
_ABSENT = frozenset({Outcome.HTTP_404, Outcome.HTTP_410})


class Document(Protocol):
    """A fetch and, when it is `ok`, its body."""

    @property
    def fetch(self) -> FetchOutcome:
        """What became of the request."""
        ...

    @property
    def body(self) -> bytes:
        """The body, not decoded to text."""
        ...


class Documents(Protocol):
    """Fetches files of any media type; `http.HttpFetcher` does."""

    async def document(self, url: str, gate: "Gate", max_bytes: int) -> Document:
        """Fetch a file, following redirects that `gate` lets through; every failure is an outcome.

        `gate` is not asked about `url` itself.
        """
        ...


@dataclass(frozen=True)
class SitemapAddresses:
    """Where sitemaps are: `named` by robots.txt; `well_known` ones may be there or not."""

    named: tuple[str, ...] = ()
    well_known: tuple[str, ...] = ()


@dataclass(frozen=True)
class SitemapReport:
    """What the sitemaps of a site list.

    `entries` are in scope, in the order of the files, each URL once; `files` the addresses of
    the files that were read; `notes` the problems, one line each, that name the file.
    """

    entries: tuple[SitemapEntry, ...] = ()
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def sitemap_addresses(root: str, from_robots: Sequence[str] = ()) -> SitemapAddresses:
    """Where to look for the sitemaps of a site.

    Args:
        root: The site's start URL. The well-known paths are its host's, and `sitemap.xml` beside
            it: generators put the file into the folder below which a site is published.
        from_robots: The values of the `Sitemap:` lines of robots.txt; relative ones count too.
    """
    named = (resolve(root, value) for value in from_robots)
    return SitemapAddresses(
        named=tuple(dict.fromkeys(url for url in named if url)),
        well_known=tuple(dict.fromkeys(urljoin(root, path) for path in _WELL_KNOWN)),
    )


async def read_sitemaps(
    fetcher: Documents,
    addresses: SitemapAddresses,
    gate: "Gate",
    contains: Callable[[str], bool],
) -> SitemapReport:
    """Read the sitemaps of a site, one after the other, no file twice.

    The well-known addresses are asked only when none of the named files could be read.

    Args:
        fetcher: Fetches the files.
        addresses: Where to begin; see `sitemap_addresses`.
        gate: Why a file, or the target of its redirect, must not be asked; None when it may.
        contains: Whether a listed page, a normalised URL, is in scope.
    """
    reading = _Reading(fetcher, gate, contains)
    await reading.read(addresses.named)
    if not reading.files:
        await reading.read(addresses.well_known, are_named=False)
    return reading.report()


class _Reading:
    """What was asked and what was found so far."""

    def __init__(self, fetcher: Documents, gate: "Gate", contains: Callable[[str], bool]) -> None:
        self._fetcher, self._gate, self._contains = fetcher, gate, contains
        self._seen: set[str] = set()
        self._n_files = 0
        self._entries: dict[str, SitemapEntry] = {}
        self._notes: list[str] = []
        self.files: list[str] = []

    def report(self) -> SitemapReport:
        return SitemapReport(tuple(self._entries.values()), tuple(self.files), tuple(self._notes))

    async def read(self, starts: Sequence[str], *, are_named: bool = True) -> None:
        """Read `starts` and the files that they list; a start that nobody named may be absent."""
        queue = deque((url, 0) for url in starts)
        while queue:
            url, depth = queue.popleft()
            if url in self._seen:
                continue
            if self._n_files >= MAX_FILES or len(self._entries) >= MAX_URLS:
                self._note(url, f"is not read: the limit is {MAX_FILES} files or {MAX_URLS} pages")
                return
            self._seen.add(url)
            sitemap = await self._file(url, may_be_absent=depth == 0 and not are_named)
            self._keep(sitemap.entries)
            if sitemap.files and depth == MAX_DEPTH:
                self._note(url, f"is an index {MAX_DEPTH} steps below the first; not followed")
                continue
            queue.extend((file, depth + 1) for file in sitemap.files)

    async def _file(self, url: str, *, may_be_absent: bool) -> Sitemap:
        """What the file at `url` lists: nothing when it may not or cannot be read."""
        self._n_files += 1
        refusal = self._gate(url)
        if refusal is not None:
            return self._note(url, f"is not asked: {refusal}")
        document = await self._fetcher.document(url, self._gate, MAX_BYTES)
        fetch = document.fetch
        if fetch.outcome is not Outcome.OK:
            if not (may_be_absent and fetch.outcome in _ABSENT):
                self._note(url, f"cannot be read: {fetch.outcome}, {fetch.error or 'no reason'}")
            return Sitemap()
        if fetch.final_url != url and fetch.final_url in self._seen:
            return Sitemap()  # two addresses of one file
        self._seen.add(fetch.final_url)
        # 50 MiB take seconds to parse, and pages are being fetched meanwhile.
        sitemap = await asyncio.to_thread(parse_sitemap, document.body)
        if sitemap.problem is not None:
            return self._note(url, sitemap.problem)
        self.files.append(fetch.final_url)
        return sitemap

    def _keep(self, entries: Sequence[SitemapEntry]) -> None:
        for entry in entries:
            if len(self._entries) >= MAX_URLS:
                return
            if self._contains(entry.url):
                self._entries.setdefault(entry.url, entry)

    def _note(self, url: str, problem: str) -> Sitemap:
        self._notes.append(f"sitemap {url} {problem}")
        return Sitemap()

"""What can be known of a site before its first page: scope, robots.txt, sitemaps, llms.txt.

A crawl begins with it, and `qindex plan` shows it.
"""

from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from qindex_pipeline.crawl.address import Addresses
from qindex_pipeline.crawl.discovery.twin_reader import TwinReader
from qindex_pipeline.crawl.discovery.twins import TwinFinder, read_llms_txt
from qindex_pipeline.crawl.folder import seeds, served
from qindex_pipeline.crawl.frontier import Frontier
from qindex_pipeline.crawl.last_run import LastRun, Row
from qindex_pipeline.crawl.outcomes import Outcome
from qindex_pipeline.crawl.pages import Candidate
from qindex_pipeline.crawl.robots import Robots, RobotsOfHosts, Unavailable, rules_from
from qindex_pipeline.crawl.urls import Scope, normalise
from qindex_pipeline.errors import UsageError
from qindex_pipeline.sites import Site

if TYPE_CHECKING:
    from qindex_pipeline.crawl.fetch.http import HttpFetcher


@dataclass(frozen=True)
class Source:
    """Where a crawl begins, what belongs to it, and where it is really asked."""

    starts: Sequence[str]
    root: str
    scope: Scope
    addresses: Addresses


@dataclass(frozen=True)
class Survey:
    """What the site says of itself.

    `sitemap` maps the in-scope URLs of the sitemaps to their lastmod, `listed` are the pages of
    llms.txt, `twins` reads markdown twins where the site's options prefer them, `notes` are
    problems in one line each.
    """

    source: Source
    robots: RobotsOfHosts
    sitemap: dict[str, datetime | None] = field(default_factory=dict[str, datetime | None])
    listed: Sequence[str] = ()
    twins: TwinReader | None = None
    notes: Sequence[str] = ()

    def frontier(self, site: Site, last: LastRun) -> Frontier:
        """The queue of a crawl that begins: start pages, then the pages of the last run.

        Known pages are asked before new ones, so that the page limit never hides a deletion;
        those first that the sitemap says have changed, so that a budget that runs out does not
        hide a change.
        """
        queue = Frontier(self.source.scope, site.max_depth, follows_links=site.sitemap != "only")
        queue.add_starts(self._candidate(url, 0, "start") for url in self.source.starts)
        rows = sorted(last.rows, key=lambda row: not self._has_changed(row))
        queue.add(self._candidate(row["url"], row["depth"], "known") for row in rows)
        return queue

    @property
    def seeds(self) -> list[Candidate]:
        """The pages that sitemaps and llms.txt name; they come behind the start page's links."""
        from_sitemap = [self._candidate(url, 1, "sitemap") for url in self.sitemap]
        return from_sitemap + [self._candidate(url, 1, "llms.txt") for url in self.listed]

    def _candidate(self, url: str, depth: int, found: str) -> Candidate:
        return Candidate(url, None, depth, found, self.sitemap.get(url))

    def _has_changed(self, row: Row) -> bool:
        lastmod, stored = self.sitemap.get(row["url"]), row["sitemap_lastmod"]
        return lastmod is not None and (stored is None or lastmod > stored)


@contextmanager
def opened(site: Site) -> Generator[Source]:
    """Where the site is; a folder is served while the source is open.

    Raises:
        UsageError: The folder does not exist, the address is none, or a selector is no CSS.
        WorkError: The folder holds no HTML page.
    """
    _check_selectors(site)
    start, scope = _start(site), scope_of(site)
    if site.folder is None:
        yield Source([start], urljoin(start, "/"), scope, Addresses())
        return
    starts = [urljoin(start, path) for path in seeds(site.folder, site.key)]
    with served(site.folder) as local:
        yield Source(starts, start, scope, Addresses(start, local))


def scope_of(site: Site) -> Scope:
    """What belongs to a site: of a folder, what lies below its base URL."""
    start = _start(site)
    prefixes = site.path_prefixes or ((urlsplit(start).path,) if site.folder else ())
    hosts = frozenset({urlsplit(start).netloc, *(host.lower() for host in site.allowed_hosts)})
    return Scope(hosts, prefixes, site.include, site.exclude)


def _start(site: Site) -> str:
    start = normalise(site.public_url)
    if start is None:
        raise UsageError(f"site {site.key!r}: {site.public_url!r} is not an http(s) address")
    return start


def _check_selectors(site: Site) -> None:
    given = {"content_selector": [site.content_selector], "drop_selectors": site.drop_selectors}
    for option, selectors in given.items():
        for selector in filter(None, selectors):
            from qindex_pipeline.crawl.extract.extraction import check_selector

            problem = check_selector(selector)
            if problem is not None:
                raise UsageError(f"site {site.key!r}: {option}: {problem}")


@asynccontextmanager
async def surveyed(site: Site) -> AsyncGenerator[tuple[Survey, "HttpFetcher"]]:
    """Open a site and read what it says of itself; the fetcher serves the crawl after it."""
    from qindex_pipeline.crawl.fetch.http import HttpFetcher

    with opened(site) as source:
        async with HttpFetcher(site, source.addresses) as fetcher:
            yield await _read(site, source, fetcher), fetcher


async def _read(site: Site, source: Source, fetcher: "HttpFetcher") -> Survey:
    from qindex_pipeline.crawl.discovery.sitemap import read_sitemaps, sitemap_addresses

    robots = await _robots(site, source, fetcher)
    own = robots.of(source.root)
    if isinstance(own, Unavailable):
        return Survey(source, robots)

    def gate(url: str) -> Outcome | None:
        return _document_refusal(site, source, robots, url)

    found, notes = {}, ()
    if site.sitemap != "off":
        addresses = sitemap_addresses(source.starts[0], own.sitemaps)
        report = await read_sitemaps(fetcher, addresses, gate, source.scope.wants)
        found = {entry.url: entry.lastmod for entry in report.entries}
        notes = report.notes
    if not site.prefer_markdown:
        return Survey(source, robots, found, notes=notes)
    finder = TwinFinder(await read_llms_txt(fetcher, source.starts[0], gate), site.accept_text)
    return Survey(source, robots, found, finder.pages(), TwinReader(fetcher, finder, gate), notes)


def _document_refusal(
    site: Site, source: Source, robots: RobotsOfHosts, url: str
) -> Outcome | None:
    """Why a sitemap, an llms.txt or a twin is not asked; of a folder nothing above its root is."""
    is_inside = source.scope.has_host(url) and (site.folder is None or url.startswith(source.root))
    if not is_inside:
        return Outcome.OUT_OF_SCOPE_REDIRECT
    return robots.refusal(url)


async def _robots(site: Site, source: Source, fetcher: "HttpFetcher") -> RobotsOfHosts:
    if site.folder is not None:
        return RobotsOfHosts()
    scheme = urlsplit(source.root).scheme
    rules: dict[str, Robots] = {}
    for host in sorted(source.scope.hosts):
        response = await fetcher.robots(f"{scheme}://{host}/robots.txt")
        rules[host] = rules_from(response.fetch, response.text)
        fetcher.pace.slow_down(host, rules[host].crawl_delay or 0.0)
    return RobotsOfHosts(rules)

"""What the pages in the browser load beside themselves, fetched like everything else.

robots.txt, redirects, private addresses, credentials, pace and size limits are those of every
other fetch.
"""

import asyncio
from urllib.parse import urlsplit

from qindex_pipeline.crawl.fetch.http import Document, Gate, HttpFetcher
from qindex_pipeline.crawl.outcomes import Outcome
from qindex_pipeline.crawl.urls import normalise
from qindex_pipeline.sites import Site

_KEPT = frozenset({"script", "stylesheet"})
"""Kinds that the pages of a site share; data may differ from page to page."""
_MAX_KEPT_BYTES = 64 * 1024 * 1024
_MAX_BYTES = 10 * 1024 * 1024  # of one script: the bundles of large sites have 2 to 5 MiB


class Resources:
    """Scripts, styles and data of a site's pages; what pages share is fetched once a crawl."""

    def __init__(self, fetcher: HttpFetcher, gate: Gate, site: Site) -> None:
        """Load through `fetcher` from the hosts of `site` and its resource hosts."""
        self._fetcher, self._gate = fetcher, gate
        start = urlsplit(normalise(site.public_url) or site.public_url).netloc
        self._hosts = frozenset(
            host.lower() for host in (start, *site.allowed_hosts, *site.resource_hosts)
        )
        self._kept: dict[str, asyncio.Task[Document]] = {}
        self._kept_bytes = 0

    async def load(self, url: str, kind: str) -> Document | None:
        """The resource at `url`, or None when it may not be asked."""
        if self.refusal(url) is not None:
            return None
        if kind not in _KEPT:
            return await self._fetched(url)
        if url not in self._kept:
            self._kept[url] = asyncio.create_task(self._shared(url))
        # Shielded: a page that is closed must not take it from the pages beside.
        return await asyncio.shield(self._kept[url])

    async def _shared(self, url: str) -> Document:
        document = await self._fetched(url)
        size = len(document.body)
        if document.fetch.outcome is Outcome.OK and self._kept_bytes + size <= _MAX_KEPT_BYTES:
            self._kept_bytes += size
        else:
            del self._kept[url]
        return document

    async def _fetched(self, url: str) -> Document:
        return await self._fetcher.document(url, self.refusal, _MAX_BYTES)

    def refusal(self, url: str) -> Outcome | None:
        """Why a page may not load `url` (redirect targets too), None when it may.

        The site's scope is about pages and says nothing here, but its robots.txt does.
        """
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or parts.netloc.lower() not in self._hosts:
            return Outcome.OUT_OF_SCOPE_REDIRECT
        is_disallowed = self._gate(url) is Outcome.ROBOTS_DISALLOWED
        return Outcome.ROBOTS_DISALLOWED if is_disallowed else None

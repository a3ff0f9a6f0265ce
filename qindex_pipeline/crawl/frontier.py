"""The breadth-first queue of one crawl: what is asked next, each URL once."""

from collections import Counter, deque
from collections.abc import Iterable
from urllib.parse import urlsplit

from qindex_pipeline.crawl.pages import Candidate
from qindex_pipeline.crawl.urls import Scope

_MAX_QUERY_VARIANTS = 50  # of one path: calendars and filters that never end


class Frontier:
    """Start URLs, then the pages of the last run, then links in document order."""

    def __init__(self, scope: Scope, max_depth: int, *, follows_links: bool = True) -> None:
        """Begin empty; links deeper than `max_depth` clicks are not queued."""
        self._scope, self._max_depth, self._follows_links = scope, max_depth, follows_links
        self._seen: set[str] = set()
        self._closed: set[str] = set()
        self._variants: Counter[str] = Counter()
        self._queue: deque[Candidate] = deque()

    def __len__(self) -> int:
        """Number of URLs that wait."""
        return len(self._queue)

    def add_starts(self, candidates: Iterable[Candidate]) -> None:
        """Queue what is asked in any case, whatever the site's filters say of links."""
        for candidate in candidates:
            if candidate.url not in self._seen:
                self._push(candidate)

    def add(self, candidates: Iterable[Candidate]) -> None:
        """Queue the candidates that are new and wanted."""
        for candidate in candidates:
            if self._is_wanted(candidate.url):
                self._push(candidate)

    def add_links(self, parent: Candidate, parent_url: str, links: Iterable[str]) -> None:
        """Queue the normalised links of a page that are new and wanted."""
        depth = parent.depth + 1
        if self._follows_links and depth <= self._max_depth:
            self.add(Candidate(url, parent_url, depth, "link") for url in links)

    def take(self, count: int) -> list[Candidate]:
        """Remove and return the next `count` candidates, fewer when the queue runs dry."""
        taken: list[Candidate] = []
        while self._queue and len(taken) < count:
            candidate = self._queue.popleft()
            if candidate.url not in self._closed:
                taken.append(candidate)
        return taken

    def close(self, urls: Iterable[str]) -> None:
        """Take note that `urls` need no request any more: their page is stored."""
        self._closed.update(urls)
        self._seen.update(urls)

    def _is_wanted(self, url: str) -> bool:
        return (
            url not in self._seen
            and self._scope.wants(url)
            and self._variants[_path(url)] < _MAX_QUERY_VARIANTS
        )

    def _push(self, candidate: Candidate) -> None:
        self._seen.add(candidate.url)
        self._variants[_path(candidate.url)] += 1
        self._queue.append(candidate)


def _path(url: str) -> str:
    parts = urlsplit(url)
    return parts.netloc + parts.path

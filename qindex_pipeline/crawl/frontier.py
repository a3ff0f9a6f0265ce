"""The breadth-first queue of one crawl: what is asked next, each URL once."""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from qindex_pipeline.crawl.pages import Candidate
from qindex_pipeline.crawl.urls import Scope, looks_like_page, normalise

MAX_DEPTH = 10
_MAX_QUERY_VARIANTS = 50  # of one path: calendars and filters that never end


class Frontier:
    """Start URLs, then the pages of the last run, then links in document order."""

    def __init__(self, scope: Scope, starts: Sequence[str], known: Iterable[str] = ()) -> None:
        """Queue normalised `starts` as they are, and of `known` what is in scope."""
        self._scope = scope
        self._seen: set[str] = set()
        self._variants: Counter[str] = Counter()
        self._queue: deque[Candidate] = deque()
        for url in starts:
            self._push(Candidate(url, None, 0, "start"))
        for url in known:
            normal = normalise(url)
            if normal is not None and self._is_wanted(normal):
                self._push(Candidate(normal, None, 1, "known"))

    def take(self, count: int) -> list[Candidate]:
        """Remove and return the next `count` candidates, fewer when the queue runs dry."""
        return [self._queue.popleft() for _ in range(min(count, len(self._queue)))]

    def add_links(self, parent: Candidate, parent_url: str, links: Iterable[str]) -> None:
        """Queue the normalised links of a page that are new and wanted."""
        if parent.depth >= MAX_DEPTH:
            return
        for url in links:
            if self._is_wanted(url):
                self._push(Candidate(url, parent_url, parent.depth + 1, "link"))

    def close(self, urls: Iterable[str]) -> None:
        """Take note that `urls` need no request any more: their page is stored."""
        done = set(urls)
        self._seen |= done
        self._queue = deque(item for item in self._queue if item.url not in done)

    def _is_wanted(self, url: str) -> bool:
        return (
            url not in self._seen
            and self._scope.contains(url)
            and looks_like_page(url)
            and self._variants[_path(url)] < _MAX_QUERY_VARIANTS
        )

    def _push(self, candidate: Candidate) -> None:
        if candidate.url not in self._seen:
            self._seen.add(candidate.url)
            self._variants[_path(candidate.url)] += 1
            self._queue.append(candidate)


def _path(url: str) -> str:
    parts = urlsplit(url)
    return parts.netloc + parts.path

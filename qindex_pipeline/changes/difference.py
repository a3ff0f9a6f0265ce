"""What differs between the pages of the last report and those of now."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from qindex_pipeline.changes.pages import PublishedPage, Row
from qindex_pipeline.crawl.outcomes import READ, Outcome


@dataclass(frozen=True)
class PageName:
    """A page that was added, or that can be read again."""

    url: str
    title: str


@dataclass(frozen=True)
class ChangedPage:
    """A page with another content, title or address; `old_…` is None where that is the same.

    The chunks of a page that moved have other ids, so theirs are counted only when its content
    changed too. `sections` names the headings above the chunks that came or went.
    """

    url: str
    title: str
    old_url: str | None
    old_title: str | None
    chunks_added: int
    chunks_removed: int
    sections: Sequence[str]


@dataclass(frozen=True)
class GonePage:
    """A page that is no more; without an outcome where no row says why."""

    url: str
    title: str
    outcome: str | None
    status: int | None


@dataclass(frozen=True)
class UnknownPage:
    """A page that could not be read, with the content of an earlier run.

    `since` is the first request that failed, `read_at` the time of the content where it is
    known. `is_new` says that the last report could still read it, or did not have it.
    """

    url: str
    title: str
    outcome: str
    status: int | None
    since: datetime | None
    read_at: datetime | None
    is_new: bool


@dataclass(frozen=True)
class Count:
    """How many there are, and how many came and went."""

    total: int
    added: int
    removed: int


@dataclass(frozen=True)
class Difference:
    """Everything that differs; the lists are in the order of the pages' URLs."""

    added: Sequence[PageName]
    changed: Sequence[ChangedPage]
    gone: Sequence[GonePage]
    unknown: Sequence[UnknownPage]
    recovered: Sequence[PageName]
    chunks: Count
    proposed: Count
    accepted: Count

    @property
    def is_any(self) -> bool:
        """Whether there is anything to tell: a page that fails once more is nothing new."""
        counts = (self.chunks, self.proposed, self.accepted)
        return bool(
            self.added
            or self.changed
            or self.gone
            or self.recovered
            or any(page.is_new for page in self.unknown)
            or any(count.added or count.removed for count in counts)
        )


def compare(
    before: Sequence[PublishedPage], now: Sequence[PublishedPage], raw_pages: Sequence[Row]
) -> Difference:
    """Compare the pages of the last report with those of now.

    Args:
        before: The pages of the last report.
        now: The pages of now.
        raw_pages: Rows of the raw_pages table of now, which say what became of the others.
    """
    asked = {row["url"]: row for row in raw_pages}
    old, new = ({page.page_id: page for page in pages} for pages in (before, now))
    left = [page for page in before if page.page_id not in new]
    moved = _moved(left, [page for page in now if page.page_id not in old], asked)
    taken = {page.page_id for page in moved.values()}
    pairs = [(old.get(page.page_id) or moved.get(page.page_id), page) for page in now]
    known = [(earlier, page) for earlier, page in pairs if earlier is not None]
    return Difference(
        added=[PageName(page.url, page.title) for earlier, page in pairs if earlier is None],
        changed=[change for pair in known if (change := _change(*pair)) is not None],
        gone=[_gone(page, asked.get(page.asked_url)) for page in left if page.page_id not in taken],
        unknown=[_unknown(*pair, asked[pair[1].asked_url]) for pair in pairs if pair[1].is_unknown],
        recovered=[
            PageName(page.url, page.title)
            for earlier, page in known
            if earlier.is_unknown and not page.is_unknown
        ],
        chunks=_count(before, now, lambda page: page.chunks),
        proposed=_count(before, now, lambda page: page.proposed),
        accepted=_count(before, now, lambda page: page.accepted),
    )


def _moved(
    left: Sequence[PublishedPage], come: Sequence[PublishedPage], asked: Mapping[str, Row]
) -> dict[str, PublishedPage]:
    """The page that each new one was before, by the new one's id, where that can be told.

    The old address leads to the new one, or both have the same content.
    """
    by_id = {page.page_id: page for page in come}
    by_hash = {page.content_hash: page for page in come}
    found: dict[str, PublishedPage] = {}
    for page in left:
        row = asked.get(page.asked_url)
        target = by_id.get(row["page_id"]) if row else None
        if target is None and page.content_hash is not None:
            target = by_hash.get(page.content_hash)
        if target is not None:
            found.setdefault(target.page_id, page)
    return found


def _change(before: PublishedPage, now: PublishedPage) -> ChangedPage | None:
    """What changed of a page; another content whose chunks are the same is none."""
    has_moved = before.page_id != now.page_id
    has_content = before.content_hash != now.content_hash
    added = [key for key in now.chunks if key not in before.chunks] if has_content else []
    removed = [key for key in before.chunks if key not in now.chunks] if has_content else []
    old_title = before.title if before.title != now.title else None
    if not (has_moved or added or removed or old_title is not None):
        return None
    names = [now.chunks[key] for key in added] + [before.chunks[key] for key in removed]
    return ChangedPage(
        url=now.url,
        title=now.title,
        old_url=before.url if has_moved else None,
        old_title=old_title,
        chunks_added=len(added),
        chunks_removed=len(removed),
        sections=[name for name in dict.fromkeys(names) if name],
    )


def _gone(page: PublishedPage, row: Row | None) -> GonePage:
    if row is None:
        return GonePage(page.url, page.title, None, None)
    # What was read there is a page that was known already, under its own address.
    outcome = Outcome.DUPLICATE_URL if row["outcome"] in READ else Outcome(row["outcome"])
    return GonePage(page.url, page.title, str(outcome), row["status"])


def _unknown(before: PublishedPage | None, page: PublishedPage, row: Row) -> UnknownPage:
    return UnknownPage(
        url=page.url,
        title=page.title,
        outcome=row["outcome"],
        status=row["status"],
        since=page.unknown_since,
        read_at=page.read_at,
        is_new=before is None or not before.is_unknown,
    )


def _count(
    before: Sequence[PublishedPage],
    now: Sequence[PublishedPage],
    ids: Callable[[PublishedPage], Iterable[str]],
) -> Count:
    old = {key for page in before for key in ids(page)}
    new = {key for page in now for key in ids(page)}
    return Count(len(new), len(new - old), len(old - new))

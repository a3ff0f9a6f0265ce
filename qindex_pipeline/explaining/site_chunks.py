"""A site's pages with all that is known of their chunks, by the tables or by the collection."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from qindex_pipeline.explaining.gathering.crawled import crawled
from qindex_pipeline.explaining.gathering.known import asked_rows, chunk_rows
from qindex_pipeline.explaining.gathering.records import Records, Row, made_of
from qindex_pipeline.explaining.gathering.searched import section_of
from qindex_pipeline.explaining.model.facts import Asked, Crawled, Section
from qindex_pipeline.ids import point_id
from qindex_pipeline.index.engine import Collection

if TYPE_CHECKING:
    from qindex_pipeline.sites import Site


@dataclass(frozen=True)
class ShownChunk:
    """A chunk; kind, words and what it repeats are None where only the collection is there."""

    section: Section
    kind: str | None
    n_words: int | None
    duplicate_of: str | None
    duplicate_reason: str | None
    text: str
    questions: Sequence[Asked]


@dataclass(frozen=True)
class ShownPage:
    """A page of a site, or one chunk of it.

    Attributes:
        site: Key of its site.
        asked: As a person wrote it; the URL of the page, where a chunk was asked for.
        crawled: What the crawl says of it; None where that is not at hand, or not asked for.
        chunks: In their order.
        by_id: Whether a chunk was asked for, by its id.
        note: What could not be shown of the site.
    """

    site: str
    asked: str
    crawled: Crawled | None
    chunks: Sequence[ShownChunk]
    by_id: bool
    note: str | None

    def to_json(self) -> dict[str, Any]:
        """A page of `qindex show --json`."""
        return asdict(self)


@dataclass(frozen=True)
class SiteChunks:
    """The chunks of one site."""

    key: str
    records: Records
    collection: Collection | None

    @cached_property
    def rows(self) -> Sequence[Row]:
        """All chunks, in the order of the pages where the tables know it."""
        return chunk_rows(self.records, self.collection, self.key)

    def chunk(self, row: Row) -> ShownPage:
        """One chunk of a page, as if the page had no other."""
        crawl = self._crawled(row["url"], None)
        return ShownPage(self.key, row["url"], crawl, [self._shown(row)], True, self.records.note)

    def page(self, asked: str, options: "Site | None", rows: Sequence[Row]) -> ShownPage:
        """A page with these chunks.

        Args:
            asked: As a person wrote it.
            options: The site's options; None where the sites file does not have it.
            rows: Its chunks.
        """
        crawl = self._crawled(asked, options)
        chunks = [self._shown(row) for row in rows]
        return ShownPage(self.key, asked, crawl, chunks, False, self.records.note)

    def _crawled(self, asked: str, options: "Site | None") -> Crawled | None:
        pages = self.records.pages
        return None if pages is None else crawled(asked, pages, options)

    def _shown(self, row: Row) -> ShownChunk:
        asked = asked_rows(self.records, self.collection, row["chunk_id"])
        return ShownChunk(
            section=section_of(row),
            kind=row.get("kind"),
            n_words=row.get("n_words"),
            duplicate_of=row.get("duplicate_of"),
            duplicate_reason=row.get("duplicate_reason"),
            text=row["text"] if "text" in row else self._text(row["chunk_id"]),
            questions=[_asked(question) for question in asked],
        )

    def _text(self, chunk: str) -> str:
        assert self.collection is not None, "the chunk was found in it"
        return next(iter(self.collection.retrieve([point_id(chunk)]).values()))["text"]


def _asked(row: Row) -> Asked:
    return Asked(
        question=row["question"],
        evidence=row["evidence"],
        made=made_of(row) if "origin" in row else None,
        accepted=row.get("accepted", True),
        objections=list(row.get("objections", ())),
        cosine=None,
        rank=None,
    )

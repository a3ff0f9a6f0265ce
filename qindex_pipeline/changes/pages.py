"""The pages of a site as they are published: what two reports compare."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Self

from qindex_pipeline.crawl.outcomes import State

Row = Mapping[str, Any]


@dataclass(frozen=True)
class PublishedPage:
    """A page with content; the fields are columns of `tables.PUBLISHED_PAGES`.

    `chunks` gives the innermost heading above each chunk by the chunk's id, in document order.
    """

    page_id: str
    url: str
    asked_url: str
    title: str
    content_hash: str | None
    is_unknown: bool
    unknown_since: datetime | None
    read_at: datetime | None
    chunks: Mapping[str, str]
    accepted: frozenset[str]
    rejected: frozenset[str]

    @classmethod
    def from_row(cls, row: Row) -> Self:
        """The page of a row of the table."""
        values: dict[str, Any] = {column.name: row[column.name] for column in fields(cls)}
        values["chunks"] = {chunk["chunk_id"]: chunk["section"] for chunk in row["chunks"]}
        for name in ("accepted", "rejected"):
            values[name] = frozenset(row[name])
        return cls(**values)

    def to_row(self, site: str, report_id: str) -> dict[str, Any]:
        """The row of the table; the same page always gives the same row."""
        values: dict[str, Any] = {name.name: getattr(self, name.name) for name in fields(self)}
        chunks = [{"chunk_id": key, "section": name} for key, name in self.chunks.items()]
        questions = {name: sorted(values[name]) for name in ("accepted", "rejected")}
        return {"site": site, "report_id": report_id, **values, **questions, "chunks": chunks}

    @property
    def proposed(self) -> frozenset[str]:
        """All questions that were proposed for it."""
        return self.accepted | self.rejected


def published_pages(
    raw_pages: Sequence[Row],
    chunks: Sequence[Row],
    questions: Sequence[Row],
    before: Sequence[PublishedPage],
) -> list[PublishedPage]:
    """The pages with content, by URL.

    Args:
        raw_pages: Rows of the raw_pages table, with `has_content` for their markdown.
        chunks: Rows of the chunks table.
        questions: Rows of the grounded_questions table. Those that people want for a page which
            the site does not have belong to no page, and are left out.
        before: The pages of the last report: they know when a page was first read, and first
            not read, which an unchanged run must not date anew.
    """
    of_page: defaultdict[str, list[Row]] = defaultdict(list)
    for chunk in chunks:
        of_page[chunk["page_id"]].append(chunk)
    of_chunk: defaultdict[str, list[Row]] = defaultdict(list)
    for question in questions:
        of_chunk[question["chunk_id"]].append(question)
    known = {page.page_id: page for page in before}
    found: dict[str, PublishedPage] = {}
    for row in raw_pages:
        page_id = row["page_id"]
        if row["has_content"] and page_id not in found:
            own = of_page[page_id]
            asked = [question for chunk in own for question in of_chunk[chunk["chunk_id"]]]
            found[page_id] = _page(row, own, asked, known.get(page_id))
    return sorted(found.values(), key=lambda page: page.url)


def _page(
    row: Row, chunks: Sequence[Row], questions: Sequence[Row], before: PublishedPage | None
) -> PublishedPage:
    is_unknown = row["state"] == State.UNKNOWN
    accepted = frozenset(item["question_id"] for item in questions if item["accepted"])
    url = row["canonical_url"] or row["final_url"] or row["url"]
    return PublishedPage(
        page_id=row["page_id"],
        url=url,
        asked_url=row["url"],
        title=row["h1"] or row["title"] or url,
        content_hash=row["content_hash"],
        is_unknown=is_unknown,
        unknown_since=_unknown_since(row, before) if is_unknown else None,
        read_at=_read_at(row, before, is_unknown=is_unknown),
        chunks={chunk["chunk_id"]: (chunk["heading_path"] or [""])[-1] for chunk in chunks},
        accepted=accepted,
        rejected=frozenset(item["question_id"] for item in questions) - accepted,
    )


def _unknown_since(row: Row, before: PublishedPage | None) -> datetime:
    earlier = before.unknown_since if before else None
    return earlier or row["fetched_at"]


def _read_at(row: Row, before: PublishedPage | None, *, is_unknown: bool) -> datetime | None:
    """When the content was first read; of a page that is not read now only the last report knows.

    None where a run in between read it and was never published.
    """
    if before is not None and before.content_hash == row["content_hash"] and before.read_at:
        return before.read_at
    return None if is_unknown else row["fetched_at"]

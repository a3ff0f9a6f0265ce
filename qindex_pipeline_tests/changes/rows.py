"""Rows and pages of a site of small pages, for the tests of its reports."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from qindex_pipeline.changes.pages import PublishedPage
from qindex_pipeline.changes.reports import Calls, Memory, Reported, Tables, report_changes
from qindex_pipeline.ids import content_hash
from qindex_pipeline_tests.conftest import NOON, Row, chunk_row, question_row

SITE = "docs"
DAY = timedelta(days=1)
FREE = Calls(runs=1, llm_calls=0, tokens_in=0, tokens_out=0, cost_usd=0.0)


def url_of(name: str) -> str:
    return f"https://docs.example.com/{name}"


def page_row(name: str, content: str | None = "", **values: Any) -> Row:
    """A row of the raw_pages table, as a report reads it; `content` None: it has none."""
    row: Row = {
        "url": url_of(name),
        "final_url": url_of(name),
        "canonical_url": None,
        "page_id": content_hash(SITE, url_of(name)),
        "outcome": "ok",
        "state": "present",
        "status": 200,
        "fetched_at": NOON,
        "content_hash": None if content is None else content_hash(content or name),
        "title": name.title(),
        "h1": None,
        "has_content": content is not None,
    }
    return row | values


def gone_row(name: str, outcome: str = "http_404", **values: Any) -> Row:
    """A page that was taken away."""
    return page_row(name, None, **{"outcome": outcome, "state": "gone", "status": 404} | values)


def unknown_row(name: str, content: str = "", **values: Any) -> Row:
    """A page that could not be read and keeps its content."""
    values = {"outcome": "http_5xx", "state": "unknown", "status": 503} | values
    return page_row(name, content, **values)


def chunks_of(row: Row, *sections: str) -> list[Row]:
    """A chunk for each section of a page: `Heading=text`, or a text without a heading."""
    chunks = []
    for section in sections:
        heading, _, text = section.rpartition("=")
        chunk_id = content_hash(row["page_id"], heading, text)
        path = [row["title"], heading] if heading else []
        chunks.append(chunk_row(text, chunk_id=chunk_id, page_id=row["page_id"], heading_path=path))
    return chunks


def tables(
    pages: Sequence[Row],
    chunks: Sequence[Row] = (),
    questions: Sequence[Row] | None = None,
    **figures: list[Row],
) -> Tables:
    """The tables of a site; without `questions` each chunk has an accepted one."""
    if questions is None:
        questions = [question_row(chunk, f"What of {chunk['text']}?") for chunk in chunks]
    return Tables(pages, chunks, questions, **{"calibrations": [], "evaluation": []} | figures)


def site(*names: str, **contents: str) -> Tables:
    """The tables of pages with one chunk each, whose text is the page's name or as given."""
    texts = {name: name for name in names} | contents
    rows = [page_row(name, text) for name, text in texts.items()]
    chunks = [
        chunk for row, text in zip(rows, texts.values(), strict=True)
        for chunk in chunks_of(row, text)
    ]  # fmt: skip
    return tables(rows, chunks)


class Nights:
    """What stands in the tables of a site, night after night."""

    def __init__(self) -> None:
        self.reports: Sequence[Row] = ()
        self.pages: Sequence[Row] = ()
        self.now: datetime = NOON

    def memory(self) -> Memory:
        return Memory.from_rows(self.reports, self.pages)

    def night(self, found: Tables, calls: Calls | None = FREE, *, dies: bool = False) -> Reported:
        """Report; a run that dies has written its report and not the pages."""
        self.now += DAY
        reported = report_changes(SITE, found, self.memory(), calls, self.now)
        self.reports = reported.reports
        if not dies:
            self.pages = reported.pages
        return reported

    def published(self) -> list[PublishedPage]:
        return [PublishedPage.from_row(row) for row in self.pages]

"""What the tables know of a site's pages, chunks and questions, where they are at hand.

A chatbot's machine has the collection alone: then there are no records, and a note says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from qindex_pipeline.explaining.model.facts import Made
from qindex_pipeline.extras import install_command

if TYPE_CHECKING:
    from qindex_pipeline.settings import Settings
    from qindex_pipeline.sites import Site

Row = Mapping[str, Any]

_PAGE_COLUMNS = (
    "url", "final_url", "canonical_url", "page_id", "outcome", "state", "status", "error", "links"
)  # fmt: skip
"""Of raw_pages: its texts would fill the memory, and nobody shows them."""


@dataclass(frozen=True)
class Records:
    """The tables of one site.

    Attributes:
        pages: Rows of raw_pages, with `has_content` in the place of their texts; None where the
            table is not at hand.
        chunks: Rows of chunks, in the order of the pages; likewise.
        questions: Rows of grounded_questions by chunk; likewise.
        note: What is missing and why, in one line; None where nothing is.
    """

    pages: Sequence[Row] | None = None
    chunks: Sequence[Row] | None = None
    questions: Mapping[str, Sequence[Row]] | None = None
    note: str | None = None

    def made(self, chunk_id: str, question: str) -> Made | None:
        """How a question of a chunk came to be."""
        rows = (self.questions or {}).get(chunk_id, ())
        return next((made_of(row) for row in rows if row["question"] == question), None)


@dataclass
class RecordsOfSites:
    """Records by site, each read once."""

    settings: "Settings"
    _read: dict[str, Records] = field(default_factory=dict[str, Records])

    def of(self, site: str) -> Records:
        """The records of a site. Raises WorkError for a table that is broken."""
        if site not in self._read:
            self._read[site] = _records(self.settings, site)
        return self._read[site]

    @cached_property
    def options(self) -> "Mapping[str, Site]":
        """The sites of the sites file; none where what reads it is not installed."""
        try:
            from qindex_pipeline.sites import load_sites
        except ModuleNotFoundError:
            return {}
        return load_sites(self.settings.sites)

    @property
    def notes(self) -> list[str]:
        """What could not be shown of the sites that were looked up."""
        return [records.note for records in self._read.values() if records.note]


def made_of(row: Row) -> Made:
    """How the question of a row came to be."""
    return Made(row["origin"], row["generator"], row["prompt_version"])


def _records(settings: "Settings", site: str) -> Records:
    try:
        from qindex_pipeline.store import ParquetStore
        from qindex_pipeline.tables import CHUNKS, GROUNDED_QUESTIONS, RAW_PAGES, rows_without_texts
    except ModuleNotFoundError as error:
        return Records(
            note=f"{site}: crawl, rejected questions and origins are not shown, since "
            f"{error.name} is not installed, which reads the tables: {install_command('pipeline')}"
        )
    store = ParquetStore(settings.data)
    tables = (RAW_PAGES, CHUNKS, GROUNDED_QUESTIONS)
    missing = [table.name for table in tables if not store.exists(table, site)]

    pages, chunks, questions = (
        None if table.name in missing else store.read(table, site) for table in tables
    )
    note = (
        f"{site}: no table {', '.join(missing)} under {settings.data}, what is in it is not shown"
        if missing
        else None
    )
    return Records(
        pages=None if pages is None else rows_without_texts(pages, _PAGE_COLUMNS),
        chunks=None if chunks is None else chunks.to_pylist(),
        questions=None if questions is None else _by_chunk(questions.to_pylist()),
        note=note,
    )


def _by_chunk(questions: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in questions:
        found.setdefault(row["chunk_id"], []).append(row)
    return found

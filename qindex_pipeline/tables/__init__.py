"""One declared schema per table: column, type, and what the column means.

What a stage writes and the next one reads is held against these schemas. Rows travel as
dataclasses inside a stage, as pandas DataFrames with Arrow dtypes between assets, and as
Parquet on disk. Raise a table's `version` with every change of its columns.
"""

from qindex_pipeline.tables.changes import CHANGE_REPORT, PUBLISHED_PAGES
from qindex_pipeline.tables.chunks import CHUNKS
from qindex_pipeline.tables.gaps import DOCUMENTATION_GAPS
from qindex_pipeline.tables.index import CALIBRATIONS, EMBEDDINGS, EVALUATION
from qindex_pipeline.tables.pages import PAGE_BODIES, RAW_PAGES, rows_without_texts
from qindex_pipeline.tables.questions import CANDIDATE_QUESTIONS, GROUNDED_QUESTIONS
from qindex_pipeline.tables.table import SchemaError, Table, to_arrow, to_frame, to_rows
from qindex_pipeline.tables.upgrades import upgraded

__all__ = [
    "CALIBRATIONS",
    "CANDIDATE_QUESTIONS",
    "CHANGE_REPORT",
    "CHUNKS",
    "DOCUMENTATION_GAPS",
    "EMBEDDINGS",
    "EVALUATION",
    "GROUNDED_QUESTIONS",
    "PAGE_BODIES",
    "PUBLISHED_PAGES",
    "RAW_PAGES",
    "TABLES",
    "SchemaError",
    "Table",
    "rows_without_texts",
    "to_arrow",
    "to_frame",
    "to_rows",
    "upgraded",
]

TABLES = {
    table.name: table
    for table in (
        RAW_PAGES,
        PAGE_BODIES,
        CHUNKS,
        CANDIDATE_QUESTIONS,
        GROUNDED_QUESTIONS,
        EMBEDDINGS,
        CALIBRATIONS,
        EVALUATION,
        PUBLISHED_PAGES,
        CHANGE_REPORT,
        DOCUMENTATION_GAPS,
    )
}
"""Every table by its name, in the order in which data flows."""

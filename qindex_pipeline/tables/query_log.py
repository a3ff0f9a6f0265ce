"""What was asked: a row an ask, in segments that any number of processes write."""

import pyarrow as pa

from qindex_pipeline.tables.fields import TEXTS, TIME, column, optional
from qindex_pipeline.tables.table import Table

QUERY_LOG = Table(
    "query_log",
    1,
    pa.schema(
        [
            column("ask_id", pa.string(), "UUID of the ask: one that stands twice counts once"),
            column("asked_at", TIME, "when it was asked"),
            optional("site", pa.string(), "site that was asked, else that of the best result"),
            column("question", pa.string(), "what was asked, masked and cut to a length"),
            optional("confidence", pa.float64(), "best confidence of a result; null without one"),
            column("threshold", pa.float64(), "confidence that a result needed"),
            column("refused", pa.bool_(), "whether it was not answered"),
            column("pages", TEXTS, "URLs of the pages cited; of all that passed without a text"),
            optional("nearest", pa.string(), "URL of the first result's page, passing or not"),
        ]
    ),
)
"""Not among `TABLES`: it belongs to no site, and lies where QINDEX_QUERY_LOG says."""

"""What the docs do not answer: a row a gap."""

import pyarrow as pa

from qindex_pipeline.tables.fields import TEXTS, column, optional
from qindex_pipeline.tables.table import Table

DOCUMENTATION_GAPS = Table(
    "documentation_gaps",
    1,
    pa.schema(
        [
            column("site", pa.string(), "site key"),
            column("gap_id", pa.string(), "hash of site and question"),
            column("rank", pa.int32(), "position in its part of the report, from 1"),
            column("off_topic", pa.bool_(), "about another subject than the docs"),
            column("question", pa.string(), "the most central question, which names the gap"),
            column("words", TEXTS, "what the questions say that the docs hardly know"),
            column("asks", pa.int32(), "how often they were asked"),
            column("questions", pa.int32(), "different questions"),
            column("others", TEXTS, "all but the first, the most central first"),
            optional("nearest_url", pa.string(), "page that most asks came nearest to"),
            optional("nearest_title", pa.string(), "its title"),
            column("confidence", pa.float64(), "mean of the asks' best confidences"),
            column("refused", pa.int32(), "asks that were refused"),
            column("low", pa.int32(), "asks answered with a confidence that says little"),
            column("unknown", pa.int32(), "asks about what the pages found do not name"),
            column("weeks", pa.list_(pa.int32()), "asks of each week, the last ends the window"),
            column("before", pa.int32(), "asks of the window's first half"),
            column("since", pa.int32(), "asks of its second half"),
            column("first_day", pa.date32(), "first day of the window"),
            column("last_day", pa.date32(), "its last day"),
        ]
    ),
)

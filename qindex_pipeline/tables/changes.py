"""What was last reported of a site, and the reports of what changed."""

import pyarrow as pa

from qindex_pipeline.tables.fields import TEXTS, TIME, column, optional
from qindex_pipeline.tables.table import Table

_CHUNKS = pa.list_(pa.struct([("chunk_id", pa.string()), ("section", pa.string())]))

PUBLISHED_PAGES = Table(
    "published_pages",
    1,
    pa.schema(
        [
            column("site", pa.string(), "site key"),
            column("report_id", pa.string(), "the report that brought the pages to this state"),
            column("page_id", pa.string(), "hash of site and canonical URL"),
            column("url", pa.string(), "URL that answers cite"),
            column("asked_url", pa.string(), "URL that was requested for it"),
            column("title", pa.string(), "page label: H1, else title"),
            optional("content_hash", pa.string(), "hash of the chosen markdown"),
            column("is_unknown", pa.bool_(), "could not be read; its content is of an earlier run"),
            optional("unknown_since", TIME, "first failed request since it was last read"),
            optional("read_at", TIME, "when this content was first read, where that is known"),
            column("chunks", _CHUNKS, "its chunks and the innermost heading above each"),
            column("accepted", TEXTS, "question_ids of its accepted questions"),
            column("rejected", TEXTS, "question_ids of its rejected questions"),
        ]
    ),
)
"""The pages as the last report found them, a row a page: what the next one is held against."""

_PAGE: list[tuple[str, pa.DataType]] = [("url", pa.string()), ("title", pa.string())]
_OUTCOME: list[tuple[str, pa.DataType]] = [("outcome", pa.string()), ("status", pa.int16())]
_CHANGED = pa.struct(
    [
        *_PAGE,
        ("old_url", pa.string()),
        ("old_title", pa.string()),
        ("chunks_added", pa.int32()),
        ("chunks_removed", pa.int32()),
        ("sections", TEXTS),
    ]
)
_UNKNOWN = pa.struct(
    [*_PAGE, *_OUTCOME, ("since", TIME), ("read_at", TIME), ("is_new", pa.bool_())]
)
_WORST = pa.struct(
    [
        *_PAGE,
        ("chunks", pa.int32()),
        ("proposed", pa.int32()),
        ("accepted", pa.int32()),
        ("reason", pa.string()),
    ]
)
_CONFIDENCE = pa.struct(
    [
        ("fingerprint", pa.string()),
        ("threshold", pa.float64()),
        ("auroc", pa.float64()),
        ("false_accept", pa.float64()),
        ("false_refuse", pa.float64()),
    ]
)
_EVALUATION = pa.struct(
    [("questions_hash", pa.string()), ("n", pa.int32()), ("mrr_at_10", pa.float64())]
)

CHANGE_REPORT = Table(
    "change_report",
    1,
    pa.schema(
        [
            column("site", pa.string(), "site key"),
            column("report_id", pa.string(), "hash of the report before and of what was found"),
            column("is_first", pa.bool_(), "nothing was reported before: no page counts as added"),
            optional("since", TIME, "when the report before was made"),
            column("started_at", TIME, "when the crawl began"),
            column("reported_at", TIME, "when the report was made, after the publication"),
            column("pages", pa.int32(), "pages with content"),
            column("added", pa.list_(pa.struct(_PAGE)), "pages that were not there before"),
            column("changed", pa.list_(_CHANGED), "pages with another content, title or address"),
            column("gone", pa.list_(pa.struct([*_PAGE, *_OUTCOME])), "pages that were taken away"),
            column("unknown", pa.list_(_UNKNOWN), "pages that cannot be read, their content kept"),
            column("recovered", pa.list_(pa.struct(_PAGE)), "pages that can be read again"),
            column("chunks", pa.int32(), "chunks of the pages, those that repeat others included"),
            column("chunks_added", pa.int32(), "chunks that are new"),
            column("chunks_removed", pa.int32(), "chunks that are no more"),
            column("proposed", pa.int32(), "proposed questions of the pages"),
            column("proposed_added", pa.int32(), "proposed questions that are new"),
            column("proposed_removed", pa.int32(), "proposed questions that are no more"),
            column("accepted", pa.int32(), "accepted questions of the pages"),
            column("accepted_added", pa.int32(), "questions that are accepted now and were not"),
            column("accepted_removed", pa.int32(), "questions that were accepted and are not now"),
            optional("runs", pa.int32(), "runs since the report before, null where not known"),
            optional("llm_calls", pa.int32(), "calls of the runs, null where not known"),
            optional("tokens_in", pa.int64(), "prompt tokens of the calls"),
            optional("tokens_out", pa.int64(), "answer tokens of the calls"),
            optional("cost_usd", pa.float64(), "price of the calls, null where not known"),
            optional("confidence", _CONFIDENCE, "calibration now, null for a site without one"),
            optional("confidence_before", _CONFIDENCE, "calibration of the report before"),
            optional("evaluation", _EVALUATION, "fused arm of the site's evaluation now"),
            optional("evaluation_before", _EVALUATION, "the same of the report before"),
            column("worst", pa.list_(_WORST), "pages with the fewest accepted questions a chunk"),
        ]
    ),
)
"""The last reports of a site in which something changed, a row a report, oldest first."""

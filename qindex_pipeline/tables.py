"""One declared schema per table: column, type, and what the column means.

What a stage writes and the next one reads is held against these schemas. Rows travel as
dataclasses inside a stage, as pandas DataFrames with Arrow dtypes between assets, and as
Parquet on disk. Raise a table's `version` with every change of its columns.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from qindex_pipeline.errors import WorkError

if TYPE_CHECKING:
    import pandas as pd

_VERSION_KEY = b"qindex.schema_version"
_TIME = pa.timestamp("us", tz="UTC")


class SchemaError(WorkError):
    """Rows that do not have their table's shape; the text names table and column."""


@dataclass(frozen=True)
class Table:
    """A table's name, the version of its schema, and the schema."""

    name: str
    version: int
    schema: pa.Schema

    @property
    def stamped_schema(self) -> pa.Schema:
        """The schema with the version in its metadata, as it is written to disk."""
        return self.schema.with_metadata({_VERSION_KEY: str(self.version).encode()})


def _column(name: str, kind: pa.DataType, doc: str, *, nullable: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable=nullable, metadata={"doc": doc})


def _optional(name: str, kind: pa.DataType, doc: str) -> pa.Field:
    return _column(name, kind, doc, nullable=True)


_TEXTS = pa.list_(pa.string())
_HEADINGS = pa.list_(
    pa.struct([("level", pa.int8()), ("text", pa.string()), ("anchor", pa.string())])
)
_REDIRECTS = pa.list_(pa.struct([("url", pa.string()), ("status", pa.int16())]))

RAW_PAGES = Table(
    "raw_pages",
    2,
    pa.schema(
        [
            _column("site", pa.string(), "site key"),
            _column("url", pa.string(), "normalised URL that was requested"),
            _optional("final_url", pa.string(), "where the redirects ended"),
            _optional("canonical_url", pa.string(), "in-scope rel=canonical, else final_url"),
            _column("page_id", pa.string(), "hash of site and canonical URL"),
            _optional("parent_url", pa.string(), "the page whose link led here"),
            _column("depth", pa.int16(), "links from the start page"),
            _column("discovered_by", pa.string(), "start, known, sitemap, llms.txt or link"),
            _column("outcome", pa.string(), "ok, not_modified, or why the page was not stored"),
            _column("state", pa.string(), "present, gone or unknown"),
            _optional("retries", pa.int8(), "requests that were repeated"),
            _optional("status", pa.int16(), "HTTP status of the last response"),
            _optional("redirect_chain", _REDIRECTS, "redirects on the way, in order"),
            _optional("content_type", pa.string(), "media type"),
            _optional("charset", pa.string(), "encoding that was used"),
            _optional("charset_source", pa.string(), "bom, header, meta, xml, utf8 or fallback"),
            _optional("etag", pa.string(), "validator for the next conditional request"),
            _optional("last_modified", pa.string(), "validator for the next conditional request"),
            _optional("sitemap_lastmod", _TIME, "lastmod of the page in the sitemap"),
            _optional("response_bytes", pa.int64(), "size of the body"),
            _column("elapsed_ms", pa.int32(), "from request to the whole body, in ms"),
            _column("fetched_at", _TIME, "when the page was requested"),
            _optional("fetch_mode", pa.string(), "http or browser"),
            _optional("raw_html_hash", pa.string(), "hash of the decoded HTML; key of page_bodies"),
            _optional("content_hash", pa.string(), "hash of the chosen markdown"),
            _optional("lang", pa.string(), "html lang attribute"),
            _optional("title", pa.string(), "page title without the site's suffix"),
            _optional("title_raw", pa.string(), "page title as the page has it"),
            _optional("h1", pa.string(), "first H1 of the main content, unless the site's name"),
            _optional("meta_description", pa.string(), "what the page's head says it is about"),
            _optional("meta_robots", pa.string(), "directives of meta robots and X-Robots-Tag"),
            _optional("page_summary", pa.string(), "first real paragraph, at most 300 chars"),
            _optional("markdown", pa.large_string(), "the chosen markdown"),
            _optional("raw_markdown", pa.large_string(), "markdown of the whole page"),
            _optional("main_markdown", pa.large_string(), "of the main content, unless chosen"),
            _optional("fit_markdown", pa.large_string(), "of the pruned page, unless chosen"),
            _optional("chosen", pa.string(), "main, fit, raw or twin"),
            _optional("chosen_reason", pa.string(), "why that markdown was chosen"),
            _optional("selector", pa.string(), "selector that found the main content"),
            _optional("raw_words", pa.int32(), "words of the whole page"),
            _optional("main_words", pa.int32(), "words of the chosen content"),
            _optional("fit_words", pa.int32(), "words of the pruned page, where computed"),
            _optional("nav_ratio", pa.float32(), "raw words / fit words, where computed"),
            _optional("link_density", pa.float32(), "share of the content's words in links"),
            _optional("code_blocks", pa.int16(), "code blocks of the chosen content"),
            _optional("code_blocks_lost", pa.int16(), "code blocks of the page that are not in it"),
            _optional("n_links_internal", pa.int32(), "links in scope"),
            _optional("n_links_external", pa.int32(), "links out of scope"),
            _optional("headings", _HEADINGS, "headings of the main content with their anchors"),
            _optional("links", _TEXTS, "in-scope links in document order"),
            _optional("error", pa.string(), "one line, at most 300 chars"),
            _optional("extractor_version", pa.string(), "of the code and options that read it"),
        ]
    ),
)

PAGE_BODIES = Table(
    "page_bodies",
    1,
    pa.schema(
        [
            _column("site", pa.string(), "site key"),
            _column("raw_html_hash", pa.string(), "hash of the decoded HTML"),
            _column("html", pa.large_string(), "the HTML, decoded"),
        ]
    ),
)
"""The HTML behind raw_pages: a new extractor reads it again without a new download."""

CHUNKS = Table(
    "chunks",
    2,
    pa.schema(
        [
            _column("site", pa.string(), "site key"),
            _column("chunk_id", pa.string(), "hash of page, heading path, text, occurrence"),
            _column("page_id", pa.string(), "the page it stands on"),
            _column("url", pa.string(), "canonical URL of the page"),
            _optional("anchor", pa.string(), "anchor of the nearest heading above"),
            _column("title", pa.string(), "page label: H1, else title"),
            _column("heading_path", _TEXTS, "headings above, outermost first"),
            _column("chunk_index", pa.int32(), "position on the page, from 0"),
            _column(
                "kind", pa.string(), "full_page, section, part, or plain (page was not parsed)"
            ),
            _column("text", pa.large_string(), "the chunk's own text"),
            _column("overlap", pa.large_string(), "end of the previous chunk, or empty"),
            _column("text_for_llm", pa.large_string(), "prefix + overlap + text"),
            _column("n_words", pa.int32(), "words of text"),
            _column("part", pa.int16(), "number of this part of a split block, from 1"),
            _column("parts", pa.int16(), "parts of the split block, 1 = not split"),
            _column("start_line", pa.int32(), "first line in the normalised markdown"),
            _column("end_line", pa.int32(), "line behind the last one"),
            _column("start_char", pa.int64(), "first character in the normalised markdown"),
            _column("end_char", pa.int64(), "character behind the last one"),
            _column("has_code", pa.bool_(), "holds a code block"),
            _optional("lang", pa.string(), "language of the page"),
            _optional("duplicate_of", pa.string(), "chunk_id of the one that is asked and indexed"),
            _optional("duplicate_reason", pa.string(), "why it counts as a repetition of that one"),
        ]
    ),
)

_CANDIDATE = [
    _column("site", pa.string(), "site key"),
    _column("question_id", pa.string(), "hash of chunk and normalised question"),
    _column("chunk_id", pa.string(), "the chunk that answers it"),
    _column("question", pa.string(), "the question"),
    _column("evidence", pa.large_string(), "verbatim words of the chunk that answer it"),
    _column("generator", pa.string(), "who proposed it, as provider:model"),
    _column("prompt_version", pa.string(), "version of the prompt or of the rules"),
    _column("input_hash", pa.string(), "hash of all that the generator was given"),
    _column("tokens_in", pa.int32(), "prompt tokens of the chunk's call, on its first row"),
    _column("tokens_out", pa.int32(), "answer tokens of the chunk's call, on its first row"),
    _optional("cost_usd", pa.float64(), "price of the chunk's call, on its first row"),
    _column("created_at", _TIME, "when the generator answered"),
    _column("origin", pa.string(), "generated, kept (of the chunk before an edit), human"),
]

CANDIDATE_QUESTIONS = Table("candidate_questions", 2, pa.schema(_CANDIDATE))

GROUNDED_QUESTIONS = Table(
    "grounded_questions",
    2,
    pa.schema(
        [
            *_CANDIDATE,
            _column("accepted", pa.bool_(), "passed every filter"),
            _optional("reject_reason", pa.string(), "name of the first filter that objects"),
            _column("objections", _TEXTS, "names of all filters that object, in their order"),
            _column("shared_words", _TEXTS, "words of >4 characters shared with the chunk"),
            _optional("seed_grounded", pa.bool_(), "at least 2 shared words: the seed's rule"),
            _optional("shared_terms", _TEXTS, "terms shared with the chunk, by the rule used"),
            _optional("round_trip_rank", pa.int32(), "rank of its own chunk, where computed"),
            _optional("duplicate_of", pa.string(), "question_id that it repeats in its chunk"),
            _optional("targets", _TEXTS, "further chunk_ids that the same question leads to"),
            _optional("ambiguous", pa.bool_(), "leads to too many chunks to point at one"),
        ]
    ),
)

EMBEDDINGS = Table(
    "embeddings",
    1,
    pa.schema(
        [
            _column("site", pa.string(), "site key"),
            _column("point_id", pa.string(), "UUID of the point in the collection"),
            _column("kind", pa.string(), "question or passage"),
            _column("chunk_id", pa.string(), "the chunk it belongs to"),
            _optional("question_id", pa.string(), "the question, for kind question"),
            _column("window", pa.int16(), "number of the chunk's window, from 0"),
            _column("text", pa.large_string(), "exactly what was embedded"),
            _column("text_hash", pa.string(), "hash of text"),
            _column("embedder", pa.string(), "who embedded it, as provider:model"),
            _column("fingerprint", pa.string(), "digest of the embedding fingerprint"),
            _column("vector", pa.list_(pa.float32()), "unit vector"),
        ]
    ),
)

CALIBRATIONS = Table(
    "calibrations",
    2,
    pa.schema(
        [
            _column("site", pa.string(), "site key"),
            _column("fingerprint", pa.string(), "digest of the embedding fingerprint"),
            _optional("subject", pa.string(), "what the site is about, by its start page's title"),
            _column("threshold", pa.float64(), "least confidence of a result that may answer"),
            _column("auroc", pa.float64(), "chance that an own question beats a foreign one"),
            _column("false_accept", pa.float64(), "share of foreign questions that would pass"),
            _column("false_refuse", pa.float64(), "share of own questions that would not"),
            _column("own_questions", pa.int32(), "accepted questions that were scored"),
            _column("foreign_questions", pa.int32(), "foreign questions that were scored"),
            _column("word_overlap", pa.float64(), "share of own questions' words in their chunks"),
        ]
    ),
)
"""One row a site, none where a site has too few questions; the collection carries it too."""

EVALUATION = Table(
    "evaluation",
    1,
    pa.schema(
        [
            _column("site", pa.string(), "site key"),
            _column("arm", pa.string(), "way to rank: passage, question, bm25, fused or seed"),
            _column("n", pa.int32(), "questions of the site's file"),
            _column("hit_at_1", pa.float64(), "share of questions whose right page is first"),
            _column("hit_at_3", pa.float64(), "share with a right page among the first three"),
            _column("hit_at_10", pa.float64(), "share with a right page among the first ten"),
            _column("mrr_at_10", pa.float64(), "mean of 1 / rank of the first right page"),
            _column("best_mrr_at_10", pa.float64(), "best of the accepted runs since the baseline"),
            _column("threshold", pa.float64(), "confidence below which an answer was refused"),
            _column("questions_hash", pa.string(), "hash of the questions and their pages"),
            _column("embeddings_hash", pa.string(), "hash of the embeddings that were accepted"),
            _column("fingerprint", pa.string(), "digest of the embedding fingerprint"),
            _column("evaluated_at", _TIME, "when the questions were asked"),
        ]
    ),
)
"""The last accepted run of a site that names questions, a row an arm; none for another site."""

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
    )
}
"""Every table by its name, in the order in which data flows."""


def to_arrow(table: Table, rows: "Iterable[object] | pd.DataFrame | pa.Table") -> pa.Table:
    """Dataclass rows, mappings, a DataFrame or an Arrow table, as an Arrow table of `table`.

    Raises SchemaError naming table and column when a column is missing, unknown, of another
    type, or null where it must not be.
    """
    if isinstance(rows, pa.Table):
        return _conform(table, rows)
    if hasattr(rows, "columns"):
        frame: Any = rows
        _require_columns(table, list(frame.columns))
        columns = {name: frame[name] for name in table.schema.names}
    else:
        records = [_record(row) for row in rows]  # pyright: ignore[reportGeneralTypeIssues]
        for names in {tuple(record): None for record in records}:
            _require_columns(table, list(names))
        columns = {name: [record[name] for record in records] for name in table.schema.names}
    arrays = [_array(table, field, columns[field.name]) for field in table.schema]
    return _conform(table, pa.Table.from_arrays(arrays, schema=table.schema))


def to_frame(table: Table, rows: Iterable[object]) -> "pd.DataFrame":
    """Rows as a DataFrame with Arrow dtypes, checked against the schema of `table`."""
    import pandas as pd

    return to_arrow(table, rows).to_pandas(types_mapper=pd.ArrowDtype)


def to_rows(table: Table, frame: "pd.DataFrame | pa.Table") -> list[dict[str, Any]]:
    """The rows of a frame as plain dictionaries, checked against the schema of `table`."""
    return to_arrow(table, frame).to_pylist()


def upgraded(table: Table, arrow: pa.Table, where: str) -> pa.Table:
    """A stored table in the current version of its schema.

    Raises SchemaError naming the version when it cannot be brought there, and what to do.
    """
    found = (arrow.schema.metadata or {}).get(_VERSION_KEY, b"none").decode()
    if found == str(table.version):
        return arrow
    upgrade = _UPGRADES.get((table.name, found))
    if upgrade is None:
        raise SchemaError(
            f"{where} has schema version {found}, this release reads version {table.version} of "
            f"{table.name}: materialise {table.name} for this site again"
        )
    return upgrade(table, arrow)


def _with_new_columns(table: Table, arrow: pa.Table) -> pa.Table:
    """The stored columns, and nulls for those that the table has now."""
    columns: dict[str, Any] = {
        name: arrow.column(name) if name in arrow.schema.names else pa.nulls(len(arrow))
        for name in table.schema.names
    }
    return pa.table(columns)


def _raw_pages_from_1(table: Table, arrow: pa.Table) -> pa.Table:
    """Version 1 knew no states: what had content was present, of the rest nothing is known."""
    wide = _with_new_columns(table, arrow)
    has_content = arrow.column("markdown").is_valid().to_pylist()
    states = pa.array(["present" if known else "unknown" for known in has_content])
    return wide.set_column(wide.schema.get_field_index("state"), "state", states)


def _candidates_from_1(table: Table, arrow: pa.Table) -> pa.Table:
    """Version 1 knew neither kept nor human questions."""
    wide = _with_new_columns(table, arrow)
    origins = pa.array(["generated"] * len(arrow))
    return wide.set_column(wide.schema.get_field_index("origin"), "origin", origins)


def _verdicts_from_1(table: Table, arrow: pa.Table) -> pa.Table:
    """Version 1 knew the first objection only."""
    wide = _candidates_from_1(table, arrow)
    reasons = arrow.column("reject_reason").to_pylist()
    objections = pa.array([[] if reason is None else [reason] for reason in reasons], _TEXTS)
    return wide.set_column(wide.schema.get_field_index("objections"), "objections", objections)


_UPGRADES: Mapping[tuple[str, str], Callable[[Table, pa.Table], pa.Table]] = {
    ("raw_pages", "1"): _raw_pages_from_1,
    ("chunks", "1"): _with_new_columns,
    ("calibrations", "1"): _with_new_columns,
    ("candidate_questions", "1"): _candidates_from_1,
    ("grounded_questions", "1"): _verdicts_from_1,
}


def _record(row: object) -> dict[str, Any]:
    if is_dataclass(row) and not isinstance(row, type):
        return {field.name: getattr(row, field.name) for field in fields(row)}
    if isinstance(row, Mapping):
        return dict(row)
    raise SchemaError(f"a row must be a dataclass or a mapping, not {type(row).__name__}")


def _require_columns(table: Table, names: list[str]) -> None:
    missing = [name for name in table.schema.names if name not in names]
    unknown = [name for name in names if name not in table.schema.names]
    if missing or unknown:
        raise SchemaError(f"table {table.name}: missing columns {missing}, unknown {unknown}")


def _array(table: Table, field: pa.Field, values: Any) -> Any:
    """One column of `table`: a frame's column, or a list of values."""
    try:
        if isinstance(values, list):
            return pa.array(values, field.type)
        found = pa.array(values, from_pandas=True)
        return found if found.type == field.type else found.cast(field.type)
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise _wrong(table, field.name, error) from None


def _conform(table: Table, arrow: pa.Table) -> pa.Table:
    _require_columns(table, arrow.schema.names)
    for field in table.schema:
        if not field.nullable and arrow.column(field.name).null_count:
            raise SchemaError(f"table {table.name}: column {field.name} holds nulls")
    columns: list[Any] = []
    for field in table.schema:
        try:
            columns.append(arrow.column(field.name).cast(field.type))
        except (pa.ArrowException, ValueError) as error:
            raise _wrong(table, field.name, error) from None
    return pa.Table.from_arrays(columns, schema=table.schema)


def _wrong(table: Table, column: str, error: Exception) -> SchemaError:
    return SchemaError(f"table {table.name}: column {column}: {_one_line(error)}")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]

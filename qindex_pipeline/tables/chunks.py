"""What the chunker leaves: a row a chunk."""

import pyarrow as pa

from qindex_pipeline.tables.fields import TEXTS, column, optional
from qindex_pipeline.tables.table import Table

CHUNKS = Table(
    "chunks",
    2,
    pa.schema(
        [
            column("site", pa.string(), "site key"),
            column("chunk_id", pa.string(), "hash of page, heading path, text, occurrence"),
            column("page_id", pa.string(), "the page it stands on"),
            column("url", pa.string(), "canonical URL of the page"),
            optional("anchor", pa.string(), "anchor of the nearest heading above"),
            column("title", pa.string(), "page label: H1, else title"),
            column("heading_path", TEXTS, "headings above, outermost first"),
            column("chunk_index", pa.int32(), "position on the page, from 0"),
            column("kind", pa.string(), "full_page, section, part, or plain (page was not parsed)"),
            column("text", pa.large_string(), "the chunk's own text"),
            column("overlap", pa.large_string(), "end of the previous chunk, or empty"),
            column("text_for_llm", pa.large_string(), "prefix + overlap + text"),
            column("n_words", pa.int32(), "words of text"),
            column("part", pa.int16(), "number of this part of a split block, from 1"),
            column("parts", pa.int16(), "parts of the split block, 1 = not split"),
            column("start_line", pa.int32(), "first line in the normalised markdown"),
            column("end_line", pa.int32(), "line behind the last one"),
            column("start_char", pa.int64(), "first character in the normalised markdown"),
            column("end_char", pa.int64(), "character behind the last one"),
            column("has_code", pa.bool_(), "holds a code block"),
            optional("lang", pa.string(), "language of the page"),
            optional("duplicate_of", pa.string(), "chunk_id of the one that is asked and indexed"),
            optional("duplicate_reason", pa.string(), "why it counts as a repetition of that one"),
        ]
    ),
)

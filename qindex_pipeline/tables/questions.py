"""What is proposed for the chunks, and every proposal's verdict."""

import pyarrow as pa

from qindex_pipeline.tables.fields import TEXTS, TIME, column, optional
from qindex_pipeline.tables.table import Table

_CANDIDATE = [
    column("site", pa.string(), "site key"),
    column("question_id", pa.string(), "hash of chunk and normalised question"),
    column("chunk_id", pa.string(), "the chunk that answers it"),
    column("question", pa.string(), "the question"),
    column("evidence", pa.large_string(), "verbatim words of the chunk that answer it"),
    column("generator", pa.string(), "who proposed it, as provider:model"),
    column("prompt_version", pa.string(), "version of the prompt or of the rules"),
    column("input_hash", pa.string(), "hash of all that the generator was given"),
    column("tokens_in", pa.int32(), "prompt tokens of the chunk's call, on its first row"),
    column("tokens_out", pa.int32(), "answer tokens of the chunk's call, on its first row"),
    optional("cost_usd", pa.float64(), "price of the chunk's call, on its first row"),
    column("created_at", TIME, "when the generator answered"),
    column("origin", pa.string(), "generated, kept (of the chunk before an edit), human"),
]

CANDIDATE_QUESTIONS = Table("candidate_questions", 2, pa.schema(_CANDIDATE))

GROUNDED_QUESTIONS = Table(
    "grounded_questions",
    2,
    pa.schema(
        [
            *_CANDIDATE,
            column("accepted", pa.bool_(), "passed every filter"),
            optional("reject_reason", pa.string(), "name of the first filter that objects"),
            column("objections", TEXTS, "names of all filters that object, in their order"),
            column("shared_words", TEXTS, "words of >4 characters shared with the chunk"),
            optional("seed_grounded", pa.bool_(), "at least 2 shared words: the seed's rule"),
            optional("shared_terms", TEXTS, "terms shared with the chunk, by the rule used"),
            optional("round_trip_rank", pa.int32(), "rank of its own chunk, where computed"),
            optional("duplicate_of", pa.string(), "question_id that it repeats in its chunk"),
            optional("targets", TEXTS, "further chunk_ids that the same question leads to"),
            optional("ambiguous", pa.bool_(), "leads to too many chunks to point at one"),
        ]
    ),
)

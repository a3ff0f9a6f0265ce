"""What is published, and how well it answers."""

import pyarrow as pa

from qindex_pipeline.tables.fields import TIME, column, optional
from qindex_pipeline.tables.table import Table

EMBEDDINGS = Table(
    "embeddings",
    1,
    pa.schema(
        [
            column("site", pa.string(), "site key"),
            column("point_id", pa.string(), "UUID of the point in the collection"),
            column("kind", pa.string(), "question or passage"),
            column("chunk_id", pa.string(), "the chunk it belongs to"),
            optional("question_id", pa.string(), "the question, for kind question"),
            column("window", pa.int16(), "number of the chunk's window, from 0"),
            column("text", pa.large_string(), "exactly what was embedded"),
            column("text_hash", pa.string(), "hash of text"),
            column("embedder", pa.string(), "who embedded it, as provider:model"),
            column("fingerprint", pa.string(), "digest of the embedding fingerprint"),
            column("vector", pa.list_(pa.float32()), "unit vector"),
        ]
    ),
)

CALIBRATIONS = Table(
    "calibrations",
    2,
    pa.schema(
        [
            column("site", pa.string(), "site key"),
            column("fingerprint", pa.string(), "digest of the embedding fingerprint"),
            optional("subject", pa.string(), "what the site is about, by its start page's title"),
            column("threshold", pa.float64(), "least confidence of a result that may answer"),
            column("auroc", pa.float64(), "chance that an own question beats a foreign one"),
            column("false_accept", pa.float64(), "share of foreign questions that would pass"),
            column("false_refuse", pa.float64(), "share of own questions that would not"),
            column("own_questions", pa.int32(), "accepted questions that were scored"),
            column("foreign_questions", pa.int32(), "foreign questions that were scored"),
            column("word_overlap", pa.float64(), "share of own questions' words in their chunks"),
        ]
    ),
)
"""One row a site, none where a site has too few questions; the collection carries it too."""

EVALUATION = Table(
    "evaluation",
    1,
    pa.schema(
        [
            column("site", pa.string(), "site key"),
            column("arm", pa.string(), "way to rank: passage, question, bm25, fused or seed"),
            column("n", pa.int32(), "questions of the site's file"),
            column("hit_at_1", pa.float64(), "share of questions whose right page is first"),
            column("hit_at_3", pa.float64(), "share with a right page among the first three"),
            column("hit_at_10", pa.float64(), "share with a right page among the first ten"),
            column("mrr_at_10", pa.float64(), "mean of 1 / rank of the first right page"),
            column("best_mrr_at_10", pa.float64(), "best of the accepted runs since the baseline"),
            column("threshold", pa.float64(), "confidence below which an answer was refused"),
            column("questions_hash", pa.string(), "hash of the questions and their pages"),
            column("embeddings_hash", pa.string(), "hash of the embeddings that were accepted"),
            column("fingerprint", pa.string(), "digest of the embedding fingerprint"),
            column("evaluated_at", TIME, "when the questions were asked"),
        ]
    ),
)
"""The last accepted run of a site that names questions, a row an arm; none for another site."""

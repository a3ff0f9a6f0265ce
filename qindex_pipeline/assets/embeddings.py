"""Asset embeddings: a vector for each window of a chunk and each accepted question."""

from collections.abc import Iterator

import dagster as dg
import pandas as pd

from qindex_pipeline.assets import table_asset
from qindex_pipeline.checks.gate import gate
from qindex_pipeline.checks.index import EVERY_CHUNK_HAS_A_VECTOR, every_chunk_has_a_vector
from qindex_pipeline.chunking.duplicates import kept
from qindex_pipeline.embedding.language import warn_about_language
from qindex_pipeline.embedding.stage import embed_site
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.tables import CHUNKS, EMBEDDINGS, GROUNDED_QUESTIONS, to_frame, to_rows


def build(sites: dg.StaticPartitionsDefinition) -> dg.AssetsDefinition:
    """The asset, partitioned by `sites`."""

    @table_asset(sites, "index", {"python"}, [EVERY_CHUNK_HAS_A_VECTOR])
    def embeddings(
        pipeline: dg.ResourceParam[Pipeline],
        chunks: pd.DataFrame,
        grounded_questions: pd.DataFrame,
    ) -> Iterator[dg.AssetCheckResult | dg.MaterializeResult]:
        """Unit vectors of one fingerprint; unchanged text is never embedded twice."""
        passages = kept(to_rows(CHUNKS, chunks))
        warn_about_language(passages, pipeline.embedder.spec, pipeline.progress.warn)
        made = embed_site(
            passages,
            to_rows(GROUNDED_QUESTIONS, grounded_questions),
            pipeline.embedder,
            pipeline.fingerprint,
            pipeline.vector_cache,
            pipeline.progress,
        )
        reached = [row["chunk_id"] for row in made.rows if row["kind"] == "passage"]
        chunk_ids = [chunk["chunk_id"] for chunk in passages]
        yield from gate(every_chunk_has_a_vector(chunk_ids, reached))
        yield dg.MaterializeResult(
            value=to_frame(EMBEDDINGS, made.rows),
            metadata={
                "embedder": pipeline.embedder.spec,
                "fingerprint": pipeline.fingerprint.digest,
                "passages": len(reached),
                "questions": len(made.rows) - len(reached),
                "texts_embedded": made.texts_embedded,
            },
        )

    return embeddings

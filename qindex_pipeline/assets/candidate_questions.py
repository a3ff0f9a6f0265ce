"""Asset candidate_questions: what a generator proposed for each chunk."""

from datetime import UTC, datetime

import dagster as dg
import pandas as pd

from qindex_pipeline.assets import table_asset
from qindex_pipeline.chunking.duplicates import kept
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.questions.proposing import propose_questions
from qindex_pipeline.tables import CANDIDATE_QUESTIONS, CHUNKS, to_frame, to_rows


def build(sites: dg.StaticPartitionsDefinition) -> dg.AssetsDefinition:
    """The asset, partitioned by `sites`."""

    @table_asset(sites, "questions", {"llm"})
    def candidate_questions(
        pipeline: dg.ResourceParam[Pipeline], chunks: pd.DataFrame
    ) -> dg.MaterializeResult:
        """The questions that each chunk answers, with their evidence; asked once ever."""
        proposed = propose_questions(
            kept(to_rows(CHUNKS, chunks)),
            pipeline.generator,
            pipeline.ledger,
            now=lambda: datetime.now(UTC),
            concurrency=pipeline.settings.llm_concurrency,
            progress=pipeline.progress,
        )
        metadata: dict[str, dg.MetadataValue | int | float | str] = {
            "generator": pipeline.generator.spec,
            "questions": len(proposed.rows),
            "llm_calls": proposed.calls,
            "answers_from_ledger": proposed.from_ledger,
            "tokens_in": proposed.tokens_in,
            "tokens_out": proposed.tokens_out,
            "failed_chunks": len(proposed.failed_chunks),
        }
        if proposed.cost_usd is not None:
            metadata["cost_usd"] = proposed.cost_usd
        value = to_frame(CANDIDATE_QUESTIONS, proposed.rows)
        return dg.MaterializeResult(value=value, metadata=metadata)

    return candidate_questions

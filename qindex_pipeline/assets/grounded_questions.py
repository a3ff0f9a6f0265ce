"""Asset grounded_questions: every candidate with its verdict."""

from collections import Counter

import dagster as dg
import pandas as pd

from qindex_pipeline.assets import table_asset
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.questions.grounding import ground
from qindex_pipeline.tables import (
    CANDIDATE_QUESTIONS,
    CHUNKS,
    GROUNDED_QUESTIONS,
    to_frame,
    to_rows,
)


def build(sites: dg.StaticPartitionsDefinition) -> dg.AssetsDefinition:
    """The asset, partitioned by `sites`."""

    @table_asset(sites, "questions", {"python"})
    def grounded_questions(
        pipeline: dg.ResourceParam[Pipeline],
        chunks: pd.DataFrame,
        candidate_questions: pd.DataFrame,
    ) -> dg.MaterializeResult:
        """Candidates that their chunk answers; a rejected one keeps its reason."""
        candidates = to_rows(CANDIDATE_QUESTIONS, candidate_questions)
        verdicts = ground(candidates, to_rows(CHUNKS, chunks))
        pipeline.progress("grounded_questions", len(verdicts), len(verdicts), "judged")
        reasons = Counter(row["reject_reason"] for row in verdicts)
        accepted = reasons.pop(None, 0)
        answered = {row["chunk_id"] for row in verdicts if row["accepted"]}
        return dg.MaterializeResult(
            value=to_frame(GROUNDED_QUESTIONS, verdicts),
            metadata={
                "accepted": accepted,
                "chunks_with_a_question": len(answered),
                **{f"rejected/{reason}": count for reason, count in sorted(reasons.items())},
            },
        )

    return grounded_questions

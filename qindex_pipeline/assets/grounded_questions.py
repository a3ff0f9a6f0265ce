"""Asset grounded_questions: every candidate with its verdict."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import dagster as dg
import pandas as pd

from qindex_pipeline.assets import table_asset
from qindex_pipeline.checks.questions import (
    CHUNKS_HAVE_QUESTIONS,
    HUMAN_QUESTIONS_STAND,
    REJECTION_IS_STEADY,
    chunks_have_questions,
    human_questions_stand,
    rejection_is_steady,
)
from qindex_pipeline.chunking.duplicates import kept
from qindex_pipeline.embedding.site_vectors import SiteVectors
from qindex_pipeline.errors import WorkError
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.questions.filters.judging import Tools, judge_questions
from qindex_pipeline.questions.filters.navigation import is_navigation
from qindex_pipeline.questions.filters.summary import (
    Verdicts,
    accepted_examples,
    rejected_examples,
)
from qindex_pipeline.questions.human import load_human
from qindex_pipeline.tables import (
    CANDIDATE_QUESTIONS,
    CHUNKS,
    GROUNDED_QUESTIONS,
    to_frame,
    to_rows,
)

Row = Mapping[str, Any]


def build(sites: dg.StaticPartitionsDefinition) -> dg.AssetsDefinition:
    """The asset, partitioned by `sites`."""

    @table_asset(
        sites,
        "questions",
        {"python"},
        [CHUNKS_HAVE_QUESTIONS, REJECTION_IS_STEADY, HUMAN_QUESTIONS_STAND],
    )
    def grounded_questions(
        context: dg.AssetExecutionContext,
        pipeline: dg.ResourceParam[Pipeline],
        chunks: pd.DataFrame,
        candidate_questions: pd.DataFrame,
    ) -> Iterator[dg.AssetCheckResult | dg.MaterializeResult]:
        """Candidates that their chunk answers; a rejected one keeps its reason."""
        site, passages = context.partition_key, kept(to_rows(CHUNKS, chunks))
        vectors = SiteVectors(
            passages,
            pipeline.embedder,
            pipeline.fingerprint,
            pipeline.vector_cache,
            pipeline.progress,
        )
        human = load_human(pipeline.settings.questions, site)
        rows = judge_questions(
            to_rows(CANDIDATE_QUESTIONS, candidate_questions),
            passages,
            Tools(vectors.embed, vectors.rank, human.is_banned),
            pipeline.settings.round_trip_k,
        )
        pipeline.progress("grounded_questions", len(rows), len(rows), "judged")
        verdicts, answered = Verdicts.of(rows), {row["chunk_id"] for row in rows if row["accepted"]}
        askable = sum(not is_navigation(chunk) for chunk in passages)
        yield chunks_have_questions(len(answered), askable)
        last = _last_verdicts(pipeline, site)
        yield rejection_is_steady(verdicts.rejected_share, last and last.rejected_share)
        yield human_questions_stand(str(human.path), list(human.not_standing(rows)))
        yield dg.MaterializeResult(
            value=to_frame(GROUNDED_QUESTIONS, rows),
            metadata={
                "accepted": verdicts.accepted,
                "chunks_with_a_question": len(answered),
                **{f"rejected/{name}": count for name, count in sorted(verdicts.rejected.items())},
                **_numbers(rows),
                "seed_grounded": verdicts.seed_grounded,
                "texts_embedded": vectors.texts_embedded,
                "filters": dg.MetadataValue.md(verdicts.markdown),
                "accepted_examples": dg.MetadataValue.md(accepted_examples(rows)),
                "rejected_examples": dg.MetadataValue.md(rejected_examples(rows)),
            },
        )

    return grounded_questions


def _last_verdicts(pipeline: Pipeline, site: str) -> Verdicts | None:
    """The last run's verdicts; None without a table.

    One that cannot be read stops nothing: it is about to be replaced.
    """
    if not pipeline.store.exists(GROUNDED_QUESTIONS, site):
        return None
    try:
        return Verdicts.of(
            to_rows(GROUNDED_QUESTIONS, pipeline.store.read(GROUNDED_QUESTIONS, site))
        )
    except WorkError as error:
        pipeline.progress.warn(f"the last verdicts are not compared: {error}")
        return None


def _numbers(rows: Sequence[Row]) -> dict[str, int | float]:
    """What the candidates took when they were asked for, in this run or earlier, and more."""
    ranks = [row["round_trip_rank"] for row in rows if row["round_trip_rank"] is not None]
    costs = [row["cost_usd"] for row in rows]
    numbers: dict[str, int | float] = {
        "tokens_in": sum(row["tokens_in"] for row in rows),
        "tokens_out": sum(row["tokens_out"] for row in rows),
        "with_several_targets": sum(bool(row["targets"]) for row in rows),
        "ambiguous": sum(bool(row["ambiguous"]) for row in rows),
    }
    if None not in costs:
        numbers["cost_usd"] = sum(costs)
    if ranks:
        numbers["round_trip_in_10"] = round(sum(rank <= 10 for rank in ranks) / len(ranks), 3)
    return numbers

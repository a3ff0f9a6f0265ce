"""Asset candidate_questions: what a generator proposed for each chunk."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import dagster as dg
import pandas as pd

from qindex_pipeline.assets import table_asset
from qindex_pipeline.chunking.duplicates import kept
from qindex_pipeline.errors import WorkError
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.pools import LLM
from qindex_pipeline.questions.asking.options import AskingOptions
from qindex_pipeline.questions.generators.generator import Generator
from qindex_pipeline.questions.human import load_human
from qindex_pipeline.questions.proposing import Proposed, propose_questions
from qindex_pipeline.tables import CANDIDATE_QUESTIONS, CHUNKS, to_frame, to_rows


def build(sites: dg.StaticPartitionsDefinition) -> dg.AssetsDefinition:
    """The asset, partitioned by `sites`."""

    @table_asset(sites, "questions", {"llm"}, pool=LLM)
    def candidate_questions(
        context: dg.AssetExecutionContext,
        pipeline: dg.ResourceParam[Pipeline],
        chunks: pd.DataFrame,
    ) -> dg.MaterializeResult:
        """The questions that each chunk answers, with their evidence; asked once ever."""
        generator, ledger = pipeline.generator, pipeline.ledger
        passages = to_rows(CHUNKS, chunks)
        try:
            proposed = propose_questions(
                kept(passages),
                generator,
                ledger,
                now=lambda: datetime.now(UTC),
                options=AskingOptions.from_settings(pipeline.settings),
                progress=pipeline.progress,
            )
        finally:
            ledger.compact()
        human = load_human(pipeline.settings.questions, context.partition_key)
        if human.wanted:
            last = _last_candidates(pipeline, human.site)
            proposed = replace(proposed, rows=human.joined(passages, proposed.rows, last))
        value = to_frame(CANDIDATE_QUESTIONS, proposed.rows)
        return dg.MaterializeResult(value=value, metadata=_metadata(proposed, generator))

    return candidate_questions


def _last_candidates(pipeline: Pipeline, site: str) -> list[dict[str, Any]]:
    """The last run's rows, in which pinned questions find their evidence; [] without a table.

    One that cannot be read stops nothing: it is about to be replaced.
    """
    if not pipeline.store.exists(CANDIDATE_QUESTIONS, site):
        return []
    try:
        return to_rows(CANDIDATE_QUESTIONS, pipeline.store.read(CANDIDATE_QUESTIONS, site))
    except WorkError as error:
        pipeline.progress.warn(f"pinned questions are not looked up in the last run: {error}")
        return []


def _metadata(
    proposed: Proposed, generator: Generator
) -> dict[str, dg.MetadataValue | int | float | str]:
    causes = Counter(proposed.failed.values())
    origins = Counter(row["origin"] for row in proposed.rows)
    metadata: dict[str, dg.MetadataValue | int | float | str] = {
        "generator": generator.spec,
        "prompt_version": generator.prompt_version,
        "questions": len(proposed.rows),
        "questions_kept": origins["kept"],
        "questions_human": origins["human"],
        "chunks_skipped": proposed.skipped,
        "chunks_asked": proposed.asked,
        "chunks_revalidated": proposed.revalidated,
        "answers_from_ledger": proposed.from_ledger,
        "failed_chunks": len(proposed.failed),
        **{f"failed/{cause}": count for cause, count in causes.items()},
        "llm_calls": proposed.calls,
        "tokens_in": proposed.usage.tokens_in,
        "tokens_out": proposed.usage.tokens_out,
        "tokens_cached": proposed.usage.cached_in,
    }
    if proposed.cost_usd is not None:  # else the price is not known, which is not 0
        metadata["cost_usd"] = proposed.cost_usd
    return metadata

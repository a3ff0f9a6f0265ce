"""Asset evaluation: how well the tables answer the site's questions, before they are published."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd

from qindex_pipeline.assets import table_asset
from qindex_pipeline.checks.gate import gate
from qindex_pipeline.checks.index import (
    CONFIDENCE_BANDS_ARE_APART,
    EVALUATED_PAGES_ARE_INDEXED,
    EVALUATION_HAS_NOT_FALLEN,
    NO_QUESTIONS,
    confidence_bands_are_apart,
    evaluated_pages_are_indexed,
    evaluation_has_not_fallen,
)
from qindex_pipeline.chunking.duplicates import kept
from qindex_pipeline.index.points import build_points
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.retrieval.calibrating import calibrate_site, calibration_rows
from qindex_pipeline.retrieval.evaluation.evaluation import Evaluation
from qindex_pipeline.retrieval.evaluation.gate import (
    Accepted,
    Terms,
    Verdict,
    accepted_rows,
    embeddings_hash,
    evaluation_report,
    judge,
)
from qindex_pipeline.retrieval.evaluation.report import report_markdown
from qindex_pipeline.retrieval.evaluation.site_questions import SiteQuestions, read_site_questions
from qindex_pipeline.retrieval.evaluation.unpublished import Unpublished, evaluate_unpublished
from qindex_pipeline.sites import Site
from qindex_pipeline.tables import (
    CALIBRATIONS,
    CHUNKS,
    EMBEDDINGS,
    EVALUATION,
    GROUNDED_QUESTIONS,
    to_frame,
    to_rows,
)

Row = Mapping[str, Any]


@dataclass(frozen=True)
class _Tables:
    """What a site's index is made of, as rows; and what the site is about."""

    chunks: Sequence[Row]
    questions: Sequence[Row]
    embeddings: Sequence[Row]
    calibrations: Sequence[Row]
    subject: str | None


def build(sites: dg.StaticPartitionsDefinition) -> dg.AssetsDefinition:
    """The asset, partitioned by `sites`."""

    @table_asset(
        sites,
        "index",
        {"python"},
        [CONFIDENCE_BANDS_ARE_APART, EVALUATED_PAGES_ARE_INDEXED, EVALUATION_HAS_NOT_FALLEN],
    )
    def evaluation(
        context: dg.AssetExecutionContext,
        pipeline: dg.ResourceParam[Pipeline],
        chunks: pd.DataFrame,
        grounded_questions: pd.DataFrame,
        embeddings: pd.DataFrame,
    ) -> Iterator[dg.AssetCheckResult | dg.MaterializeResult]:
        """The last accepted evaluation of the site; tables that find less are not published."""
        site = pipeline.sites[context.partition_key]
        passages, questions = (
            to_rows(CHUNKS, chunks),
            to_rows(GROUNDED_QUESTIONS, grounded_questions),
        )
        vectors = to_rows(EMBEDDINGS, embeddings)
        calibration = calibrate_site(passages, questions, vectors, pipeline.query_vectors)
        digest, subject = pipeline.fingerprint.digest, pipeline.subject(site)
        calibrated = calibration_rows(calibration, site.key, digest, subject)
        pipeline.store.write(CALIBRATIONS, site.key, calibrated)
        yield confidence_bands_are_apart(calibration)
        figures = {f"calibration/{key}": value for row in calibrated for key, value in row.items()}
        asked = read_site_questions(site)
        if asked is None:
            yield evaluated_pages_are_indexed([])
            yield evaluation_has_not_fallen(None, NO_QUESTIONS)
            yield dg.MaterializeResult(value=to_frame(EVALUATION, []), metadata=figures)
            return
        tables = _Tables(passages, questions, vectors, calibrated, subject)
        yield from _evaluated(pipeline, site, asked, tables, figures)

    return evaluation


def _evaluated(
    pipeline: Pipeline,
    site: Site,
    asked: SiteQuestions,
    tables: _Tables,
    figures: Mapping[str, Any],
) -> Iterator[dg.AssetCheckResult | dg.MaterializeResult]:
    """Ask the site's questions, and hand the outcome over unless the gate holds it."""
    found = _evaluate(pipeline, site, asked, tables)
    yield evaluated_pages_are_indexed(found.not_indexed)
    last = _accepted(pipeline, site.key)
    terms = Terms(site.eval_floor, pipeline.settings.eval_margin)
    verdict = judge(found, last, asked.digest, terms)
    report = f"{verdict.compared}\n\n{report_markdown(found)}"
    problem = verdict.problem(site.key, asked, str(_keep_report(pipeline, site.key, report)))
    seen = {**figures, **_figures(found, verdict), "report": dg.MetadataValue.md(report)}
    yield from gate(evaluation_has_not_fallen(problem, verdict.compared, seen))
    run = Accepted(
        site=site.key,
        questions_hash=asked.digest,
        embeddings_hash=embeddings_hash(tables.embeddings),
        fingerprint=pipeline.fingerprint.digest,
        evaluated_at=datetime.now(UTC),
    )
    rows = accepted_rows(run, found, verdict, last)
    yield dg.MaterializeResult(value=to_frame(EVALUATION, rows), metadata=seen)


def _evaluate(pipeline: Pipeline, site: Site, asked: SiteQuestions, tables: _Tables) -> Evaluation:
    state = Unpublished(
        site=site.key,
        points=build_points(
            tables.chunks, tables.questions, tables.embeddings, tables.calibrations
        ),
        manifest=pipeline.manifest,
        urls={chunk["url"] for chunk in kept(tables.chunks)},
        embed_queries=partial(pipeline.query_vectors, stage="evaluation"),
        subject=tables.subject,
    )
    threshold = pipeline.models.confidence_threshold
    if pipeline.settings.confidence_threshold is None and tables.calibrations:
        threshold = tables.calibrations[0]["threshold"]
    return evaluate_unpublished(state, asked, threshold, pipeline.settings.top_k)


def _accepted(pipeline: Pipeline, site: str) -> list[Row]:
    """The rows of the last accepted run; [] before the first."""
    if not pipeline.store.exists(EVALUATION, site):
        return []
    return list(to_rows(EVALUATION, pipeline.store.read(EVALUATION, site)))


def _keep_report(pipeline: Pipeline, site: str, report: str) -> Path:
    """Write the report to the state folder, for those who have no Dagster UI to read it in."""
    file = evaluation_report(pipeline.settings.state_dir, site)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(report, encoding="utf-8")
    return file


def _figures(found: Evaluation, verdict: Verdict) -> dict[str, Any]:
    """Plain numbers, which Dagster plots over time; None where there is nothing to count."""
    refusal = found.refusal
    return {
        "questions": len(found.rows),
        "mrr_at_10": verdict.mrr,
        "best_mrr_at_10": verdict.best,
        "compared": verdict.compared,
        "threshold": found.threshold,
        "refused_answerable": refusal["answerable"]["rate"],
        "refused_unanswerable": refusal["unanswerable"]["rate"],
        "auroc": refusal["auroc"],
        "not_indexed": len(found.not_indexed),
        **{
            f"{arm}/{name.replace('@', '_at_')}": value
            for arm, measured in found.arms.items()
            for name, value in measured.items()
        },
    }

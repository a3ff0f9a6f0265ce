"""Asset question_index: the site's points in the collection that questions are asked of."""

import dagster as dg
import pandas as pd

from qindex_pipeline.assets import OWNERS
from qindex_pipeline.checks import (
    COLLECTION_MATCHES_TABLE,
    CONFIDENCE_BANDS_ARE_APART,
    collection_matches_table,
    confidence_bands_are_apart,
)
from qindex_pipeline.index.points import build_points
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.retrieval.calibrating import calibrate_site, calibration_rows
from qindex_pipeline.tables import (
    CALIBRATIONS,
    CHUNKS,
    EMBEDDINGS,
    GROUNDED_QUESTIONS,
    to_rows,
)


def build(sites: dg.StaticPartitionsDefinition) -> dg.AssetsDefinition:
    """The asset, partitioned by `sites`."""

    @dg.asset(
        partitions_def=sites,
        group_name="index",
        kinds={"qdrant"},
        owners=OWNERS,
        check_specs=[COLLECTION_MATCHES_TABLE, CONFIDENCE_BANDS_ARE_APART],
    )
    def question_index(
        context: dg.AssetExecutionContext,
        pipeline: dg.ResourceParam[Pipeline],
        chunks: pd.DataFrame,
        grounded_questions: pd.DataFrame,
        embeddings: pd.DataFrame,
    ) -> dg.MaterializeResult:
        """The collection, made equal to the tables: upsert, verify, delete last."""
        site, passages = context.partition_key, to_rows(CHUNKS, chunks)
        questions = to_rows(GROUNDED_QUESTIONS, grounded_questions)
        vectors = to_rows(EMBEDDINGS, embeddings)
        calibration = calibrate_site(passages, questions, vectors, pipeline.query_vectors)
        rows = calibration_rows(calibration, site, pipeline.fingerprint.digest)
        pipeline.store.write(CALIBRATIONS, site, rows)
        points = build_points(passages, questions, vectors, rows)
        pipeline.progress("question_index", 0, len(points), "points")
        done = pipeline.engine.sync(
            pipeline.models.collection_name, pipeline.manifest, site, points
        )
        pipeline.progress("question_index", done.count, len(points), "points")
        return dg.MaterializeResult(
            metadata={
                "points": done.count,
                "points_written": done.written,
                "points_unchanged": done.unchanged,
                "points_deleted": done.deleted,
                "collection": done.collection,
                "live": dg.MetadataValue.bool(done.live),
                **{f"calibration/{name}": value for row in rows for name, value in row.items()},
            },
            check_results=[
                collection_matches_table(done.count, len(points)),
                confidence_bands_are_apart(calibration),
            ],
        )

    return question_index

"""Asset question_index: the site's points in the collection that questions are asked of."""

import dagster as dg
import pandas as pd

from qindex_pipeline.assets import OWNERS
from qindex_pipeline.checks.index import COLLECTION_MATCHES_TABLE, collection_matches_table
from qindex_pipeline.errors import WorkError
from qindex_pipeline.index.points import build_points
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.pools import INDEX
from qindex_pipeline.retries import retried
from qindex_pipeline.retrieval.evaluation.gate import not_accepted
from qindex_pipeline.tables import (
    CALIBRATIONS,
    CHUNKS,
    EMBEDDINGS,
    EVALUATION,
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
        check_specs=[COLLECTION_MATCHES_TABLE],
        pool=INDEX,
    )
    @retried
    def question_index(
        context: dg.AssetExecutionContext,
        pipeline: dg.ResourceParam[Pipeline],
        chunks: pd.DataFrame,
        grounded_questions: pd.DataFrame,
        embeddings: pd.DataFrame,
        evaluation: pd.DataFrame,
    ) -> dg.MaterializeResult:
        """The collection, made equal to the tables: upsert, verify, delete last."""
        site, vectors = context.partition_key, to_rows(EMBEDDINGS, embeddings)
        held = not_accepted(pipeline.sites[site], to_rows(EVALUATION, evaluation), vectors)
        if held is not None:  # this asset was materialised alone, after a run that was held
            raise WorkError(held)
        points = build_points(
            to_rows(CHUNKS, chunks),
            to_rows(GROUNDED_QUESTIONS, grounded_questions),
            vectors,
            to_rows(CALIBRATIONS, pipeline.store.read(CALIBRATIONS, site)),
        )
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
            },
            check_results=[collection_matches_table(done.count, len(points))],
        )

    return question_index

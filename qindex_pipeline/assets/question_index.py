"""Asset question_index: the site's points in the collection that questions are asked of."""

import dagster as dg
import pandas as pd

from qindex_pipeline.assets import OWNERS
from qindex_pipeline.checks import COLLECTION_MATCHES_TABLE, collection_matches_table
from qindex_pipeline.index.points import build_points
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.tables import CHUNKS, EMBEDDINGS, GROUNDED_QUESTIONS, to_rows


def build(sites: dg.StaticPartitionsDefinition) -> dg.AssetsDefinition:
    """The asset, partitioned by `sites`."""

    @dg.asset(
        partitions_def=sites,
        group_name="index",
        kinds={"qdrant"},
        owners=OWNERS,
        check_specs=[COLLECTION_MATCHES_TABLE],
    )
    def question_index(
        context: dg.AssetExecutionContext,
        pipeline: dg.ResourceParam[Pipeline],
        chunks: pd.DataFrame,
        grounded_questions: pd.DataFrame,
        embeddings: pd.DataFrame,
    ) -> dg.MaterializeResult:
        """The collection, made equal to the tables: upsert, verify, delete last."""
        points = build_points(
            to_rows(CHUNKS, chunks),
            to_rows(GROUNDED_QUESTIONS, grounded_questions),
            to_rows(EMBEDDINGS, embeddings),
        )
        pipeline.progress("question_index", 0, len(points), "points")
        done = pipeline.engine.sync(
            pipeline.models.collection_name, pipeline.manifest, context.partition_key, points
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

"""Asset documentation_gaps: what was asked of a site, and its docs do not answer."""

from functools import partial
from typing import Any

import dagster as dg

from qindex_pipeline.assets import table_asset
from qindex_pipeline.gaps.finding import Embedding, find_gaps
from qindex_pipeline.gaps.gap import GapReport
from qindex_pipeline.gaps.kept import gap_folder, gap_rows, keep
from qindex_pipeline.gaps.picture import data_uri, picture_png
from qindex_pipeline.gaps.wording import HOW_TO_LOG, report_markdown, summary
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.tables import CHUNKS, DOCUMENTATION_GAPS, to_frame


def build(sites: dg.StaticPartitionsDefinition) -> dg.AssetsDefinition:
    """The asset, partitioned by `sites`."""

    @table_asset(sites, "index", {"python"}, deps=[CHUNKS.name, "question_index"])
    def documentation_gaps(
        context: dg.AssetExecutionContext, pipeline: dg.ResourceParam[Pipeline]
    ) -> dg.MaterializeResult:
        """Clusters of questions of the last four weeks that the docs seem not to answer."""
        site, settings = context.partition_key, pipeline.settings
        if settings.query_log is None:
            keep(gap_folder(settings.state_dir), site, f"{HOW_TO_LOG}\n", None)
            metadata: dict[str, Any] = {"report": dg.MetadataValue.md(HOW_TO_LOG)}
            return dg.MaterializeResult(
                value=to_frame(DOCUMENTATION_GAPS, []), metadata={"asks": 0, **metadata}
            )
        report = find_gaps(settings, site, _embedding(pipeline))
        picture = picture_png(report)
        file = keep(
            gap_folder(settings.state_dir),
            site,
            report_markdown(report, f"{site}.png" if picture else None),
            picture,
        )
        shown = report_markdown(report, data_uri(picture) if picture else None)
        pipeline.progress("documentation_gaps", report.asks, report.asks, summary(report))
        return dg.MaterializeResult(
            value=to_frame(DOCUMENTATION_GAPS, gap_rows(report)),
            metadata={
                **_figures(report),
                "report": dg.MetadataValue.md(shown),
                "file": dg.MetadataValue.path(file),
            },
        )

    return documentation_gaps


def _embedding(pipeline: Pipeline) -> Embedding:
    return Embedding(
        partial(pipeline.query_vectors, stage="documentation_gaps"),
        pipeline.fingerprint.digest,
        pipeline.models.confidence_threshold,
    )


def _figures(report: GapReport) -> dict[str, Any]:
    """Plain numbers, which Dagster plots over time."""
    figures = {
        "asks": report.asks,
        "doubtful_asks": report.doubtful,
        "gaps": len(report.gaps),
        "off_topic": len(report.off_topic),
        "pages": report.pages,
        "left_out": report.left_out,
    }
    if report.reaches_say_something:
        figures["pages_unreached"] = len(report.unreached)
    return figures

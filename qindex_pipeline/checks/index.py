"""Checks of vectors, calibration, evaluation and publication."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import dagster as dg

from qindex_pipeline.checks.gate import warning
from qindex_pipeline.retrieval.calibration import Calibration

EVERY_CHUNK_HAS_A_VECTOR = dg.AssetCheckSpec(
    "every_chunk_has_a_vector",
    asset="embeddings",
    blocking=True,
    description="Every chunk can be reached through a passage vector.",
)

COLLECTION_MATCHES_TABLE = dg.AssetCheckSpec(
    "collection_matches_table",
    asset="question_index",
    blocking=True,
    description="The collection holds as many points of the site as the embeddings table has rows.",
)

CONFIDENCE_BANDS_ARE_APART = dg.AssetCheckSpec(
    "confidence_bands_are_apart",
    asset="evaluation",
    description="The site's threshold lets pass its own questions and few foreign ones.",
)

EVALUATED_PAGES_ARE_INDEXED = dg.AssetCheckSpec(
    "evaluated_pages_are_indexed",
    asset="evaluation",
    description="The pages that the site's question file names are pages of its tables.",
)

EVALUATION_HAS_NOT_FALLEN = dg.AssetCheckSpec(
    "evaluation_has_not_fallen",
    asset="evaluation",
    blocking=True,
    description="The site's questions find their pages as well as in the best accepted run.",
)

NO_QUESTIONS = "the site names no question file: nothing was evaluated"


def every_chunk_has_a_vector(
    chunk_ids: Collection[str], reached: Collection[str]
) -> dg.AssetCheckResult:
    """Judge the embeddings by the chunks that no passage vector leads to."""
    lost = sorted(set(chunk_ids) - set(reached))
    return dg.AssetCheckResult(
        passed=not lost,
        check_name=EVERY_CHUNK_HAS_A_VECTOR.name,
        asset_key=EVERY_CHUNK_HAS_A_VECTOR.asset_key,
        description=f"{len(lost)} chunks have no vector, the first is {lost[0]}" if lost else None,
        metadata={"chunks": len(chunk_ids), "chunks_without_vector": len(lost)},
    )


def collection_matches_table(in_collection: int, in_table: int) -> dg.AssetCheckResult:
    """Judge the publication by the number of the site's points."""
    passed = in_collection == in_table
    return dg.AssetCheckResult(
        passed=passed,
        check_name=COLLECTION_MATCHES_TABLE.name,
        asset_key=COLLECTION_MATCHES_TABLE.asset_key,
        description=None
        if passed
        else f"the collection holds {in_collection} points, the table {in_table} rows",
        metadata={"points_in_collection": in_collection, "rows_in_table": in_table},
    )


def confidence_bands_are_apart(calibration: Calibration | None) -> dg.AssetCheckResult:
    """Judge a site's calibration; a site with too few questions keeps the embedder's threshold."""
    if calibration is None:
        return warning(CONFIDENCE_BANDS_ARE_APART, None)
    problem = (
        f"at the threshold {calibration.threshold} {calibration.false_accept:.0%} of the "
        f"foreign questions pass and {calibration.false_refuse:.0%} of the site's own do not"
    )
    overlaps = calibration.bands_overlap
    return warning(CONFIDENCE_BANDS_ARE_APART, problem if overlaps else None, asdict(calibration))


def evaluated_pages_are_indexed(not_indexed: Sequence[str]) -> dg.AssetCheckResult:
    """Judge a site's question file by the pages in it that the tables do not have."""
    problem = (
        f"the site's questions name {len(not_indexed)} pages that are not indexed, the first is "
        f"{not_indexed[0]}: a wrong label, or a page that was not crawled"
        if not_indexed
        else None
    )
    pages = "\n".join(f"- `{page}`" for page in not_indexed)
    metadata = {"not_indexed": len(not_indexed), "pages": dg.MetadataValue.md(pages)}
    return warning(EVALUATED_PAGES_ARE_INDEXED, problem, metadata)


def evaluation_has_not_fallen(
    problem: str | None, compared: str, metadata: Mapping[str, Any] | None = None
) -> dg.AssetCheckResult:
    """Judge an evaluation: `problem` says why nothing may be published, None that it may.

    Args:
        problem: See above.
        compared: What the figures were held against, shown where nothing is wrong.
        metadata: The figures and the report, which must be seen when the gate fails too.
    """
    return dg.AssetCheckResult(
        passed=problem is None,
        check_name=EVALUATION_HAS_NOT_FALLEN.name,
        asset_key=EVALUATION_HAS_NOT_FALLEN.asset_key,
        description=problem or compared,
        metadata=metadata,
    )

"""Asset checks that keep what is broken from being written or published.

They are evaluated inside the asset that they belong to. Dagster stores an asset's value before
it looks at a blocking check's result, so a check that must keep the last good table passes
through `gate` before the value is handed over.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict

import dagster as dg

from qindex_pipeline.retrieval.calibration import Calibration

PAGES_FETCHED = dg.AssetCheckSpec(
    "pages_fetched",
    asset="raw_pages",
    blocking=True,
    description="The start page answered, and at least one page of the site was stored.",
)

CRAWL_IS_NOT_SUSPECT = dg.AssetCheckSpec(
    "crawl_is_not_suspect",
    asset="raw_pages",
    description="The crawl read a good share of the last run's pages; a suspect one deletes none.",
)

CHUNKS_ARE_WHOLE = dg.AssetCheckSpec(
    "chunks_are_whole",
    asset="chunks",
    blocking=True,
    description="The chunks hold every line of their pages, and none leaves a code fence open.",
)

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
    asset="question_index",
    description="The site's threshold lets pass its own questions and few foreign ones.",
)


def gate(result: dg.AssetCheckResult) -> Iterator[dg.AssetCheckResult]:
    """Record a check's result, and end the step when it failed: what was written stands."""
    yield result
    if not result.passed:
        raise dg.Failure(result.description, allow_retries=False)


def pages_fetched(stored: int, problem: str | None) -> dg.AssetCheckResult:
    """Judge a crawl: `problem` says why it cannot be used, None that it can."""
    return dg.AssetCheckResult(
        passed=problem is None,
        check_name=PAGES_FETCHED.name,
        asset_key=PAGES_FETCHED.asset_key,
        description=problem,
        metadata={"pages_stored": stored},
    )


def _warning(
    spec: dg.AssetCheckSpec, problem: str | None, metadata: Mapping[str, float] | None = None
) -> dg.AssetCheckResult:
    """A check that warns of `problem` and blocks nothing; None: there is none."""
    return dg.AssetCheckResult(
        passed=problem is None,
        check_name=spec.name,
        asset_key=spec.asset_key,
        severity=dg.AssetCheckSeverity.WARN,
        description=problem,
        metadata=metadata,
    )


def crawl_is_not_suspect(problem: str | None) -> dg.AssetCheckResult:
    """Judge a crawl by what it lost: `problem` says why it is suspect, None that it is not."""
    return _warning(CRAWL_IS_NOT_SUSPECT, problem)


def chunks_are_whole(problems: Sequence[str]) -> dg.AssetCheckResult:
    """Judge the chunks by the `problems` that were found in them, a line each."""
    first = f"{len(problems)} problems, the first: {problems[0]}" if problems else None
    return dg.AssetCheckResult(
        passed=not problems,
        check_name=CHUNKS_ARE_WHOLE.name,
        asset_key=CHUNKS_ARE_WHOLE.asset_key,
        description=first,
        metadata={
            "problems": dg.MetadataValue.md("\n".join(f"- {line}" for line in problems[:50]))
        },
    )


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
        return _warning(CONFIDENCE_BANDS_ARE_APART, None)
    problem = (
        f"at the threshold {calibration.threshold} {calibration.false_accept:.0%} of the "
        f"foreign questions pass and {calibration.false_refuse:.0%} of the site's own do not"
    )
    overlaps = calibration.bands_overlap
    return _warning(CONFIDENCE_BANDS_ARE_APART, problem if overlaps else None, asdict(calibration))

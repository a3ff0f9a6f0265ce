"""Checks of what was crawled and cut into chunks."""

from collections.abc import Sequence

import dagster as dg

from qindex_pipeline.checks.gate import warning

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


def pages_fetched(stored: int, problem: str | None) -> dg.AssetCheckResult:
    """Judge a crawl: `problem` says why it cannot be used, None that it can."""
    return dg.AssetCheckResult(
        passed=problem is None,
        check_name=PAGES_FETCHED.name,
        asset_key=PAGES_FETCHED.asset_key,
        description=problem,
        metadata={"pages_stored": stored},
    )


def crawl_is_not_suspect(problem: str | None) -> dg.AssetCheckResult:
    """Judge a crawl by what it lost: `problem` says why it is suspect, None that it is not."""
    return warning(CRAWL_IS_NOT_SUSPECT, problem)


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

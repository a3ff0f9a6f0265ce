"""Asset raw_pages: the pages of a docs site."""

from collections import Counter
from collections.abc import Iterator

import dagster as dg

from qindex_pipeline.assets import table_asset
from qindex_pipeline.checks import PAGES_FETCHED, gate, pages_fetched
from qindex_pipeline.crawl import crawl, keep_last_good, why_unusable
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.tables import RAW_PAGES, to_frame


def build(sites: dg.StaticPartitionsDefinition) -> dg.AssetsDefinition:
    """The asset, partitioned by `sites`."""

    @table_asset(sites, "crawl", {"crawl4ai"}, [PAGES_FETCHED])
    def raw_pages(
        context: dg.AssetExecutionContext, pipeline: dg.ResourceParam[Pipeline]
    ) -> Iterator[dg.AssetCheckResult | dg.MaterializeResult]:
        """Every page that was requested, with its outcome and its main content as markdown."""
        site = pipeline.sites[context.partition_key]
        last = pipeline.last_pages(site.key)
        # Asked before new ones, so that the page limit never hides that one of them is gone.
        known = [page["url"] for page in last if page["markdown"] is not None]
        pages = crawl(site, known_urls=known, progress=pipeline.progress)
        outcomes: Counter[str] = Counter(page.outcome for page in pages)
        yield from gate(pages_fetched(outcomes["ok"], why_unusable(site, pages)))
        kept = keep_last_good(pages, last)
        yield dg.MaterializeResult(
            value=to_frame(RAW_PAGES, kept),
            metadata={
                "pages_with_content": sum(page.markdown is not None for page in kept),
                **{f"outcome/{name}": count for name, count in sorted(outcomes.items())},
            },
        )

    return raw_pages

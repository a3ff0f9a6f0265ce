"""Asset raw_pages: the pages of a docs site."""

from collections.abc import Iterator

import dagster as dg

from qindex_pipeline.assets import table_asset
from qindex_pipeline.checks.gate import gate
from qindex_pipeline.checks.pages import (
    CRAWL_IS_NOT_SUSPECT,
    PAGES_FETCHED,
    crawl_is_not_suspect,
    pages_fetched,
)
from qindex_pipeline.crawl import Bodies, crawl, why_unusable
from qindex_pipeline.crawl_metadata import crawl_metadata
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.pools import CRAWL
from qindex_pipeline.tables import RAW_PAGES, to_frame


def build(sites: dg.StaticPartitionsDefinition) -> dg.AssetsDefinition:
    """The asset, partitioned by `sites`."""

    @table_asset(sites, "crawl", {"crawl4ai"}, [PAGES_FETCHED, CRAWL_IS_NOT_SUSPECT], pool=CRAWL)
    def raw_pages(
        context: dg.AssetExecutionContext, pipeline: dg.ResourceParam[Pipeline]
    ) -> Iterator[dg.AssetCheckResult | dg.MaterializeResult]:
        """Every page that was requested, with its outcome and its main content as markdown."""
        site = pipeline.sites[context.partition_key]
        last, bodies = pipeline.last_pages(site.key), Bodies(pipeline.store, site.key)
        crawled = crawl(
            site,
            last=last,
            html=bodies.get,
            settings=pipeline.crawl_settings,
            progress=pipeline.progress,
        )
        yield from gate(pages_fetched(crawled.pages_read, why_unusable(site, crawled.found.pages)))
        pages, suspect = crawled.settled.pages, crawled.settled.suspect
        yield crawl_is_not_suspect(suspect)
        bodies.save(pages, last, crawled.found.bodies)
        yield dg.MaterializeResult(
            value=to_frame(RAW_PAGES, pages), metadata=crawl_metadata(crawled)
        )

    return raw_pages

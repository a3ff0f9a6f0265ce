"""Asset chunks: self-contained passages of the stored pages."""

from collections.abc import Iterator
from dataclasses import asdict

import dagster as dg
import pandas as pd

from qindex_pipeline.assets import table_asset
from qindex_pipeline.checks.gate import gate
from qindex_pipeline.checks.pages import CHUNKS_ARE_WHOLE, chunks_are_whole
from qindex_pipeline.chunking.model import ChunkConfig
from qindex_pipeline.chunking.problems import problems
from qindex_pipeline.chunking.sizes import size_counts, size_histogram
from qindex_pipeline.chunking.stage import chunk_pages
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.tables import CHUNKS, RAW_PAGES, to_frame, to_rows


def build(sites: dg.StaticPartitionsDefinition) -> dg.AssetsDefinition:
    """The asset, partitioned by `sites`."""

    @table_asset(sites, "crawl", {"python"}, [CHUNKS_ARE_WHOLE])
    def chunks(
        pipeline: dg.ResourceParam[Pipeline], raw_pages: pd.DataFrame
    ) -> Iterator[dg.AssetCheckResult | dg.MaterializeResult]:
        """What a person would quote: whole short pages, sections, and parts of long sections."""
        settings = pipeline.settings
        config = ChunkConfig.from_constants(settings.chunk_size, settings.chunk_overlap)
        pages = to_rows(RAW_PAGES, raw_pages)
        found = chunk_pages(pages, config, pipeline.progress)
        yield from gate(chunks_are_whole(problems(pages, found)))
        words = [chunk.n_words for chunk in found]
        yield dg.MaterializeResult(
            value=to_frame(CHUNKS, found),
            metadata={
                "chunks": len(found),
                "pages": len({chunk.page_id for chunk in found}),
                "words_mean": round(sum(words) / max(1, len(words)), 1),
                "words_max": max(words, default=0),
                "chunks_with_code": sum(chunk.has_code for chunk in found),
                **asdict(size_counts(found, config)),
                "sizes": dg.MetadataValue.md(size_histogram(words)),
            },
        )

    return chunks

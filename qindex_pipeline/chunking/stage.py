"""From the rows of the raw_pages table to the chunks of all stored pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from qindex_pipeline.chunking.chunker import chunk_page
from qindex_pipeline.chunking.duplicates import mark_duplicates
from qindex_pipeline.chunking.model import Chunk, ChunkConfig, PageText
from qindex_pipeline.progress import Progress, silent


def chunk_pages(
    pages: Sequence[Mapping[str, Any]], config: ChunkConfig, progress: Progress = silent
) -> list[Chunk]:
    """The chunks of every page with content, in the order of the pages, repetitions marked.

    Args:
        pages: Rows of the raw_pages table.
        config: Limits of the cascade.
        progress: Told of each page.
    """
    stored = [page for page in pages if page["markdown"] is not None]
    chunks: list[Chunk] = []
    for done, page in enumerate(stored, start=1):
        chunks.extend(chunk_page(_page_text(page), config))
        progress("chunks", done, len(stored), "pages")
    return mark_duplicates(chunks)


def _page_text(page: Mapping[str, Any]) -> PageText:
    return PageText(
        site=page["site"],
        page_id=page["page_id"],
        url=page["canonical_url"] or page["final_url"] or page["url"],
        label=page["h1"] or page["title"] or page["url"],
        summary=page["page_summary"] or "",
        markdown=page["markdown"],
        headings=page["headings"] or [],
        lang=page["lang"],
    )

"""Pages for the chunker's tests: only the markdown matters, unless a test says otherwise."""

from collections.abc import Mapping, Sequence
from typing import Any

from qindex_pipeline.chunking import Chunk, ChunkConfig, PageText, chunk_page

SMALL = ChunkConfig(full_page_words=0, max_words=12, overlap_chars=0, min_words=0, hard_factor=3)
"""No full page, no overlap, no rescue of tiny chunks: every rule shows on a few lines."""


def page(
    markdown: str,
    *,
    label: str = "Label",
    summary: str = "",
    headings: Sequence[Mapping[str, Any]] = (),
    lang: str | None = "en",
) -> PageText:
    return PageText(
        site="docs.example.com",
        page_id="0123456789abcdef0123456789abcdef",
        url="https://docs.example.com/page",
        label=label,
        summary=summary,
        markdown=markdown,
        headings=headings,
        lang=lang,
    )


def chunks_of(markdown: str, config: ChunkConfig = SMALL, lang: str | None = "en") -> list[Chunk]:
    return chunk_page(page(markdown, lang=lang), config)


def paths_and_texts(markdown: str) -> list[tuple[tuple[str, ...], str]]:
    return [(chunk.heading_path, chunk.text) for chunk in chunks_of(markdown)]

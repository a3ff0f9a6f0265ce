"""Stage chunks: from a page's markdown to self-contained passages."""

from qindex_pipeline.chunking.chunker import chunk_page
from qindex_pipeline.chunking.model import Chunk, ChunkConfig, PageText
from qindex_pipeline.chunking.source import normalise
from qindex_pipeline.chunking.words import count_words

__all__ = ["Chunk", "ChunkConfig", "PageText", "chunk_page", "count_words", "normalise"]

"""How large the chunks of a site are, in numbers and as a picture for a person."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from qindex_pipeline.chunking.model import Chunk, ChunkConfig

# 12 words are the least that the chunker leaves alone, 125 and 375 the seed's limits.
_EDGES = (0, 12, 25, 50, 75, 100, 125, 150, 200, 250, 300, 375, 500)
_BAR_WIDTH = 40
_EIGHTHS = " ▏▎▍▌▋▊▉"


@dataclass(frozen=True)
class SizeCounts:
    """Chunks of a site by what is special about their size.

    Attributes:
        parts: pieces of one block too large to stay whole.
        plain: chunks of pages that were not parsed.
        oversized: longer than even a block that must not be cut and its lead-in may be.
        repeated: marked as the repetition of another chunk.
    """

    parts: int
    plain: int
    oversized: int
    repeated: int


def size_counts(chunks: Sequence[Chunk], config: ChunkConfig) -> SizeCounts:
    """Count the chunks of a site that are special."""
    return SizeCounts(
        parts=sum(chunk.parts > 1 for chunk in chunks),
        plain=sum(chunk.kind == "plain" for chunk in chunks),
        oversized=sum(is_oversized(chunk, config) for chunk in chunks),
        repeated=sum(chunk.duplicate_of is not None for chunk in chunks),
    )


def is_oversized(chunk: Chunk, config: ChunkConfig) -> bool:
    """Whether a chunk is longer than its limit; that of a full page is `full_page_words`."""
    return chunk.kind != "full_page" and chunk.n_words > config.most_words


def size_histogram(n_words: Sequence[int]) -> str:
    """How many chunks have how many words, as bars of text in a block of markdown code.

    Text, because Dagster's UI shows no image from metadata; empty for no chunks.
    """
    edges = (*_EDGES, max([*n_words, _EDGES[-1]]) + 1)
    ranges = list(pairwise(edges))
    counts = [sum(low <= words < high for words in n_words) for low, high in ranges]
    filled = [index for index, count in enumerate(counts) if count]
    if not filled:
        return ""
    most, total = max(counts), len(n_words)
    lines = ["   words  chunks"]
    for index in range(filled[0], filled[-1] + 1):
        (low, high), count = ranges[index], counts[index]
        name = f"{low}-{high - 1}" if high < edges[-1] else f"{low}+"
        lines.append(f"{name:>8} {count:>7} {count / total:>4.0%} {_bar(count / most)}".rstrip())
    return "\n".join(["```text", *lines, "```"])


def _bar(share: float) -> str:
    """A bar of at most 40 characters, to an eighth of one; something, however little, shows."""
    eighths = max(round(share * _BAR_WIDTH * 8), 1 if share else 0)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()

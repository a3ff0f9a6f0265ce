"""Packing neighbouring drafts of a section to the size of a chunk, and rescuing tiny ones."""

from collections.abc import Callable, Iterable

from qindex_pipeline.chunking.drafts import Draft, join
from qindex_pipeline.chunking.model import ChunkConfig
from qindex_pipeline.chunking.sections import section_heading
from qindex_pipeline.chunking.source import Source

_Test = Callable[[Draft, Draft], bool]


def pack(drafts: Iterable[Draft], source: Source, config: ChunkConfig) -> list[Draft]:
    """Chunks of at most `max_words`, filled greedily within their section.

    One under `min_words` then joins the previous, else the next chunk of its section, else of
    a sibling section. Parts of a split block stay alone.
    """

    def joined(pieces: Iterable[Draft], wanted: _Test) -> list[Draft]:
        result: list[Draft] = []
        for draft in pieces:
            if result and _fits(result[-1], draft, config) and wanted(result[-1], draft):
                result[-1] = join(result[-1], draft, source)
            else:
                result.append(draft)
        return result

    def tiny(first: Draft, second: Draft) -> bool:
        return min(first.words, second.words) < config.min_words

    packed = joined(drafts, _in_one_section)
    packed = joined(packed, lambda a, b: tiny(a, b) and _in_one_section(a, b))
    return joined(packed, lambda a, b: tiny(a, b) and _in_siblings(a, b))


def _fits(first: Draft, second: Draft, config: ChunkConfig) -> bool:
    if first.parts > 1 or second.parts > 1:
        return False
    return first.words + second.words <= config.max_words


def _in_one_section(first: Draft, second: Draft) -> bool:
    return first.section == second.section


def _in_siblings(first: Draft, second: Draft) -> bool:
    """Whether two drafts stand under the same parent heading; text above all headings does not."""
    one, other = section_heading(first.heading), section_heading(second.heading)
    return one is not None and other is not None and one.parent is other.parent

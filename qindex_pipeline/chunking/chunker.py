"""The cascade: from a page to its chunks.

A short page is one chunk. A longer one is cut at its headings, then between blocks, then, where
a block is too large, inside it. Pure and deterministic: the same page gives the same chunks.
"""

import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from qindex_pipeline.chunking.blocks import Block, code_blocks, parse_blocks
from qindex_pipeline.chunking.drafts import Draft
from qindex_pipeline.chunking.grouping import group_blocks
from qindex_pipeline.chunking.model import Chunk, ChunkConfig, ChunkKind, PageText
from qindex_pipeline.chunking.packing import pack
from qindex_pipeline.chunking.plain import MOST_LINES, plain_blocks
from qindex_pipeline.chunking.prefix import sections_to_name, text_for_llm
from qindex_pipeline.chunking.prose import tail
from qindex_pipeline.chunking.sections import place_blocks
from qindex_pipeline.chunking.source import Source, normalise
from qindex_pipeline.chunking.words import count_words
from qindex_pipeline.ids import content_hash

_DEFAULT_LANGUAGE = "en"


def chunk_page(page: PageText, config: ChunkConfig) -> list[Chunk]:
    """The chunks of a page in document order; none for a page without text.

    No text makes it fail, and its time grows linearly with the page.
    """
    source = normalise(page.markdown)
    blocks, is_parsed = _blocks(source)
    if not blocks:
        return []
    n_words = source.words(0, source.n_lines)
    kind: ChunkKind | None = None if is_parsed else "plain"
    lang = (page.lang or _DEFAULT_LANGUAGE).partition("-")[0].lower()
    if n_words < config.full_page_words:
        kind = "full_page"
        drafts = [_full_page(blocks, source, n_words)]
    else:
        placed = place_blocks(blocks, page.headings)
        drafts = pack(group_blocks(placed, source, config, lang), source, config)
    overlaps = [
        "",
        *(_overlap(*pair, source, config.overlap_chars, lang) for pair in pairwise(drafts)),
    ]
    writer = _Writer(page, source, blocks)
    return [
        writer.chunk(draft, overlap, kind or ("part" if draft.parts > 1 else "section"))
        for draft, overlap in zip(drafts, overlaps, strict=True)
    ]


def _blocks(source: Source) -> tuple[Sequence[Block], bool]:
    """The blocks of a page, and whether they were parsed."""
    if source.n_lines > MOST_LINES:
        return plain_blocks(source), False
    try:
        return parse_blocks(source), True
    except Exception:
        # The parser has raised more than one kind of error on text that nobody had thought of;
        # one such page must not stop its site.
        return plain_blocks(source), False


def _full_page(blocks: Sequence[Block], source: Source, n_words: int) -> Draft:
    start, end = source.span(blocks[0].first_line, blocks[-1].end_line)
    body = next((block for block in blocks if not block.level), blocks[0])
    return Draft(
        start=start,
        end=end,
        words=n_words,
        section=0,
        heading=None,
        path=(),
        opened=(),
        body_start=source.line_starts[body.first_line],
    )


def _overlap(previous: Draft, draft: Draft, source: Source, limit: int, lang: str) -> str:
    """What `draft` repeats of its predecessor: only from paragraph to paragraph of a section.

    The first chunk of a section opens with its heading, not with prose.
    """
    paragraph = previous.last_paragraph
    if paragraph is None or not draft.opens_with_prose:
        return ""
    start = max(previous.start, source.line_starts[paragraph.first_line])
    return tail(source.text[start : previous.end], limit, lang)


class _Writer:
    """Makes the table's rows of a page's drafts, in document order."""

    def __init__(self, page: PageText, source: Source, blocks: Sequence[Block]) -> None:
        self._page = page
        self._source = source
        self._last = blocks[-1]
        self._code = list(code_blocks(blocks))
        self._code_lines = [block.first_line for block in self._code]
        self._seen: Counter[str] = Counter()
        self._index = 0
        self._end = 0

    def chunk(self, draft: Draft, overlap: str, kind: ChunkKind) -> Chunk:
        """The next row of the page."""
        source, page = self._source, self._page
        text = source.text[draft.start : draft.end] if draft.text is None else draft.text
        start_line = source.line_at(draft.start)
        end_line = source.line_at(max(draft.start, draft.end - 1)) + 1
        chunk = Chunk(
            site=page.site,
            chunk_id=self._identity(draft.path, text),
            page_id=page.page_id,
            url=page.url,
            anchor=draft.heading.anchor if draft.heading else None,
            title=page.label,
            heading_path=draft.path,
            chunk_index=self._index,
            kind=kind,
            text=text,
            overlap=overlap,
            text_for_llm=text_for_llm(
                page,
                sections=sections_to_name(draft.path, draft.opened, page.label),
                body=source.text[draft.body_start : draft.end],
                text=text + self._closing_line(draft),
                overlap=overlap + self._gap_before(draft) if overlap else "",
            ),
            n_words=count_words(text),
            part=draft.part,
            parts=draft.parts,
            start_line=start_line,
            end_line=end_line,
            start_char=draft.start,
            end_char=draft.end,
            has_code=self._has_code(start_line, end_line),
            lang=page.lang,
        )
        self._index += 1
        self._end = draft.end
        return chunk

    def _identity(self, path: tuple[str, ...], text: str) -> str:
        """Depends on place, words and which repetition of them it is, not on other sections."""
        words = " ".join(unicodedata.normalize("NFC", text).split())
        first = content_hash(self._page.page_id, *path, words, "0")
        occurrence = self._seen[first]
        self._seen[first] += 1
        if not occurrence:
            return first
        return content_hash(self._page.page_id, *path, words, str(occurrence))

    def _gap_before(self, draft: Draft) -> str:
        """The white space between the previous chunk and this one, blank lines made one."""
        gap = self._source.text[self._end : draft.start]
        return "\n" * min(2, gap.count("\n")) or gap[:1]

    def _closing_line(self, draft: Draft) -> str:
        """Closes, for the reader, a fence that the page left open."""
        last_line = self._source.line_starts[self._last.end_line] - 1
        if self._last.closed or draft.text is not None or draft.end < last_line:
            return ""
        return f"\n{self._last.markup}"

    def _has_code(self, start_line: int, end_line: int) -> bool:
        before_end = bisect_left(self._code_lines, end_line)
        return before_end > 0 and self._code[before_end - 1].end_line > start_line

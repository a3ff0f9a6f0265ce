"""The smallest drafts of a page: each block with what must not be parted from it.

A heading stays with the text below it, a line that announces the next block ("Run:", a
definition's term) with that block. Blocks over their limit are cut here; nothing is packed yet.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from qindex_pipeline.chunking.blocks import Block
from qindex_pipeline.chunking.drafts import Draft, join, piece, whole, with_lead
from qindex_pipeline.chunking.model import LEAD_IN_WORDS, ChunkConfig
from qindex_pipeline.chunking.prose import Span, cut, sentences, trimmed
from qindex_pipeline.chunking.sections import PlacedBlock
from qindex_pipeline.chunking.source import Source
from qindex_pipeline.chunking.splitting import split_block
from qindex_pipeline.chunking.words import count_words

# A term, signature or caption: "--dry-run", "**csv.reader(csvfile)**". Longer lines without a
# full stop are mostly text.
_LABEL_WORDS = 12
_SENTENCE_ENDS = frozenset(".!?;,。！？；，…")


def group_blocks(
    blocks: Iterable[PlacedBlock], source: Source, config: ChunkConfig, lang: str
) -> list[Draft]:
    """Drafts of all blocks of a page in order, none over its limit, no heading without text.

    Headings at the very end of a page go to the last draft; a page of nothing but headings
    gives drafts of headings.
    """
    grouping = _Grouping(source, config, lang)
    for placed in blocks:
        grouping.add(placed)
    return grouping.finished()


class _Grouping:
    """The drafts so far, and the headings and labels that wait for the block they belong to."""

    def __init__(self, source: Source, config: ChunkConfig, lang: str) -> None:
        self._source = source
        self._config = config
        self._lang = lang
        self._drafts: list[Draft] = []
        self._headings: list[PlacedBlock] = []
        self._heading_words = 0
        self._labels: list[PlacedBlock] = []
        self._label_words = 0

    def add(self, placed: PlacedBlock) -> None:
        """Take the next block of the page."""
        block = placed.block
        words = self._source.words(block.first_line, block.end_line)
        if block.level and words <= self._config.hard_max_words:
            self._add_heading(placed, words)
        elif words == 0 or (block.kind == "loose" and words <= LEAD_IN_WORDS):
            self._add_ornament(placed, words)
        elif words <= LEAD_IN_WORDS and self._announces(block, words):
            self._add_label(placed, words)
        else:
            lead_words = self._heading_words + self._label_words
            self._emit(self._pieces(placed, words, lead_words))

    def finished(self) -> list[Draft]:
        """All drafts, once every block has been added."""
        self._flush_labels()
        if not self._headings:
            return self._drafts
        rest = with_lead(self._headings[:-1], whole(self._headings[-1], self._source), self._source)
        if self._drafts:
            last = self._drafts.pop()
            joined = join(last, rest, self._source)
            rest = replace(joined, path=last.path)
        return [*self._drafts, rest]

    def _add_heading(self, placed: PlacedBlock, words: int) -> None:
        self._flush_labels()
        if self._heading_words + words > self._config.hard_max_words:
            self._emit([whole(self._headings.pop(), self._source)])
        self._headings.append(placed)
        self._heading_words += words

    def _add_label(self, placed: PlacedBlock, words: int) -> None:
        if self._label_words + words > LEAD_IN_WORDS:
            self._flush_labels()
        self._labels.append(placed)
        self._label_words += words

    def _add_ornament(self, placed: PlacedBlock, words: int) -> None:
        """What shows no text, a rule or link definitions: it goes with what stands before it.

        Not with a heading alone, though: both go on to the text below.
        """
        last = self._drafts[-1] if self._drafts else None
        if self._labels:
            self._labels.append(placed)
            self._label_words += words
        elif self._headings or last is None or not self._can_grow(last, words):
            self._headings.append(placed)
            self._heading_words += words
        else:
            self._drafts[-1] = join(last, whole(placed, self._source), self._source)

    def _can_grow(self, draft: Draft, words: int) -> bool:
        fits = words == 0 or draft.words + words <= self._config.max_words
        return fits and draft.text is None

    def _flush_labels(self) -> None:
        """Labels at the end of a section announce nothing: they are its text."""
        if self._labels:
            self._emit([whole(self._labels.pop(), self._source)])

    def _emit(self, pieces: list[Draft]) -> None:
        lead = [*self._headings, *self._labels]
        self._headings, self._heading_words = [], 0
        self._labels, self._label_words = [], 0
        self._drafts.append(with_lead(lead, pieces[0], self._source))
        self._drafts.extend(pieces[1:])

    def _pieces(self, placed: PlacedBlock, words: int, lead_words: int) -> list[Draft]:
        config = self._config
        if placed.block.kind == "paragraph":
            if lead_words + words <= config.max_words:
                return [whole(placed, self._source)]
            return [piece(placed, self._source, *span) for span in self._sentences(placed.block)]
        if words <= config.hard_max_words:
            return [whole(placed, self._source)]
        # The first part stands behind the lead; a lead that is itself large gets no more room.
        limit = max(config.hard_max_words - lead_words, config.hard_max_words * 2 // 3)
        parts = split_block(placed.block, self._source, limit)
        drafts = (piece(placed, self._source, part.start, part.end) for part in parts)
        return [
            replace(draft, text=part.text, part=number, parts=len(parts))
            for number, (draft, part) in enumerate(zip(drafts, parts, strict=True), start=1)
        ]

    def _sentences(self, block: Block) -> Iterator[Span]:
        """Sentences of a paragraph, without the space between them; a huge one in pieces."""
        text = self._text_of(block)
        offset = self._source.line_starts[block.first_line]
        for start, end in sentences(text, self._lang):
            sentence = text[start:end]
            fits = count_words(sentence) <= self._config.hard_max_words
            for left, right in (
                [(0, end - start)] if fits else cut(sentence, self._config.max_words)
            ):
                span = trimmed(sentence, (left, right))
                if span[0] < span[1]:
                    yield offset + start + span[0], offset + start + span[1]

    def _text_of(self, block: Block) -> str:
        start, end = self._source.span(block.first_line, block.end_line)
        return self._source.text[start:end]

    def _announces(self, block: Block, words: int) -> bool:
        """Whether a block of few words belongs to what follows it."""
        if block.kind != "paragraph":
            return False
        text = self._text_of(block).rstrip()
        is_label = words <= _LABEL_WORDS and "\n" not in text and text[-1] not in _SENTENCE_ENDS
        return is_label or text.endswith(":")

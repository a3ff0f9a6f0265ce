"""What holds of the chunks of any page, each as a check of one chunked page."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, takewhile

from markdown_it import MarkdownIt
from markdown_it.token import Token

from qindex_pipeline.chunking import Chunk, ChunkConfig, chunk_page, count_words
from qindex_pipeline.chunking.blocks import Block, code_blocks, parse_blocks
from qindex_pipeline.chunking.model import LEAD_IN_WORDS
from qindex_pipeline.chunking.sections import heading_text
from qindex_pipeline.chunking.source import Source, normalise
from qindex_pipeline_tests.chunking.pages import page

PARSER = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True)
class Chunked:
    """A page, and what the chunker made of it."""

    markdown: str
    config: ChunkConfig

    @cached_property
    def source(self) -> Source:
        return normalise(self.markdown)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return parse_blocks(self.source)

    @cached_property
    def chunks(self) -> list[Chunk]:
        return chunk_page(page(self.markdown), self.config)

    def piece(self, chunk: Chunk) -> str:
        return self.source.text[chunk.start_char : chunk.end_char]

    def over(self, block: Block) -> list[Chunk]:
        """The chunks that hold a line of the block."""
        return [
            chunk
            for chunk in self.chunks
            if chunk.start_line < block.end_line and chunk.end_line > block.first_line
        ]


def lossless(it: Chunked) -> None:
    position = 0
    for chunk in it.chunks:
        assert not it.source.text[position : chunk.start_char].strip()
        position = chunk.end_char
        if chunk.parts > 1:
            held = squeezed(chunk.text)
            for line in it.piece(chunk).split("\n"):
                assert not any(map(str.isalnum, line)) or squeezed(line) in held
    assert not it.source.text[position:].strip()


def disjoint(it: Chunked) -> None:
    offsets = [edge for chunk in it.chunks for edge in (chunk.start_char, chunk.end_char)]
    assert offsets == sorted(offsets)
    assert all(chunk.start_char < chunk.end_char for chunk in it.chunks)


def exact(it: Chunked) -> None:
    for chunk in it.chunks:
        piece = it.piece(chunk)
        assert chunk.parts > 1 or chunk.text == piece
        lines = it.source.lines[chunk.start_line : chunk.end_line]
        assert piece in "\n".join(lines)
        assert piece.split("\n")[0] in lines[0]
        assert piece.split("\n")[-1] in lines[-1]


def fences_closed(it: Chunked) -> None:
    for chunk in it.chunks:
        *_, last = PARSER.parse(f"{chunk.text_for_llm}\n\nsentinel")[:-1]
        assert last.type == "inline"
        assert last.content.endswith("sentinel")


def fences_whole(it: Chunked) -> None:
    """Inside a list or quote that is cut, less room may be left than the hard limit."""
    top = {id(block) for block in it.blocks}
    for block in code_blocks(it.blocks):
        limit = it.config.hard_max_words * (1 if id(block) in top else 2 / 3)
        if it.source.words(block.first_line, block.end_line) <= limit:
            assert len(it.over(block)) == 1


def sizes_bounded(it: Chunked) -> None:
    """Over `max_words` there is one block that is not cut, or one sentence, behind its lead.

    Headings that end the page without a text of their own have only the chunk above to stand in.
    """
    for chunk in it.chunks:
        n_words = chunk.n_words - _words_of_last_headings(chunk.text)
        if chunk.kind == "full_page" or n_words <= it.config.max_words:
            continue
        blocks = parse_blocks(Source(chunk.text))
        sized = [(b, count_words("\n".join(lines_of(chunk.text, b)))) for b in blocks]
        worded = [(block, words) for block, words in sized if words]
        *lead, (_, words) = worded
        assert words <= it.config.hard_max_words or chunk.parts > 1
        labels = [words for block, words in lead if not block.level]
        assert all(words <= LEAD_IN_WORDS for words in labels)


def _words_of_last_headings(text: str) -> int:
    lines = [line for line in text.splitlines() if line.strip()]
    last = takewhile(lambda line: line.startswith("#"), reversed(lines))
    return count_words("\n".join(last))


def headings_open(it: Chunked) -> None:
    for chunk in it.chunks:
        tokens = [token for token in PARSER.parse(chunk.text) if token.level == 0]
        assert tokens[-1].type != "heading_close"


def nothing_empty(it: Chunked) -> None:
    for chunk in it.chunks:
        assert chunk.text.strip()
        blocks = parse_blocks(Source(chunk.text))
        only_headings = all(
            block.level or not count_words("\n".join(lines_of(chunk.text, block)))
            for block in blocks
        )
        assert not only_headings or len(it.chunks) == 1


def paths_real(it: Chunked) -> None:
    stacks = dict(_stacks(it))
    for chunk in it.chunks:
        if chunk.kind != "full_page":
            above = [stack for (first, end), stack in stacks.items() if _meets(chunk, first, end)]
            size = len(chunk.heading_path)
            assert any(stack[:size] == chunk.heading_path for stack in above)


def tables_headed(it: Chunked) -> None:
    for block in it.blocks:
        if block.kind != "table":
            continue
        header = "\n".join(it.source.lines[block.first_line : block.first_line + 2])
        pieces = [chunk for chunk in it.over(block) if chunk.parts > 1]
        # A header that takes more than a third of a part stands in the first one only.
        if not pieces or count_words(header) * 3 > it.config.hard_max_words * 2 / 3:
            continue
        for chunk in pieces:
            assert cells(PARSER.parse(chunk.text)) == cells(PARSER.parse(header))


def code_is_no_heading(it: Chunked) -> None:
    code = {
        heading_text(line.lstrip("# "))
        for block in code_blocks(it.blocks)
        for line in it.source.lines[block.first_line : block.end_line]
        if line.lstrip().startswith("#")
    }
    real = {text for _, stack in _stacks(it) for text in stack}
    for chunk in it.chunks:
        assert not (code - real) & set(chunk.heading_path)


def identities_differ(it: Chunked) -> None:
    assert len({chunk.chunk_id for chunk in it.chunks}) == len(it.chunks)


def squeezed(text: str) -> str:
    return "".join(text.split())


def lines_of(text: str, block: Block) -> list[str]:
    return text.split("\n")[block.first_line : block.end_line]


def cells(tokens: list[Token]) -> list[str]:
    """The texts of the first table's header."""
    found: list[str] = []
    for token, following in pairwise(tokens):
        if token.type == "th_open":
            found.append(following.content)
        if token.type == "thead_close":
            break
    return found


def _stacks(it: Chunked) -> Iterator[tuple[tuple[int, int], tuple[str, ...]]]:
    """Every top-level block's lines with the texts of the headings at or above it."""
    stack: list[tuple[int, str]] = []
    for block in it.blocks:
        if block.level:
            stack = [entry for entry in stack if entry[0] < block.level]
            stack.append((block.level, heading_text(block.content)))
        yield (block.first_line, block.end_line), tuple(text for _, text in stack if text)


def _meets(chunk: Chunk, first_line: int, end_line: int) -> bool:
    return chunk.start_line < end_line and chunk.end_line > first_line

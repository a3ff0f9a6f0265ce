"""What must not be true of the chunks of any page: text lost, a fence left open."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markdown_it import MarkdownIt

from qindex_pipeline.chunking.model import Chunk
from qindex_pipeline.chunking.source import normalise

_PARSER = MarkdownIt("commonmark").enable("table").disable("inline")
_SENTINEL = "\n\nsentinel"


def problems(pages: Sequence[Mapping[str, Any]], chunks: Sequence[Chunk]) -> list[str]:
    """Lines that name a page and a chunk each; empty when all is well.

    Only chunks in which a fence could stand are parsed.

    Args:
        pages: rows of the raw_pages table.
        chunks: what `chunk_pages` made of them.
    """
    by_page: defaultdict[str, list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        by_page[chunk.page_id].append(chunk)
    return [
        problem
        for page in pages
        if page["markdown"] is not None
        for problem in _of_page(page, by_page[page["page_id"]])
    ]


def _of_page(page: Mapping[str, Any], chunks: Sequence[Chunk]) -> Iterator[str]:
    text = normalise(page["markdown"]).text
    end = 0
    for chunk in sorted(chunks, key=lambda chunk: chunk.start_char):
        where = f"{chunk.url}: chunk {chunk.chunk_index} ({chunk.chunk_id})"
        lost = _first_line(text[end : chunk.start_char])
        if lost:
            yield f"{where}: text before it is in no chunk: {lost!r}"
        lost = _left_out(text[chunk.start_char : chunk.end_char], chunk.text)
        if lost:
            yield f"{where}: a line of its page is not in it: {lost!r}"
        if _leaves_a_fence_open(chunk.text_for_llm):
            yield f"{where}: a code fence in it is not closed"
        end = max(end, chunk.end_char)
    lost = _first_line(text[end:])
    if lost:
        name = page["canonical_url"] or page["final_url"] or page["url"]
        yield f"{name}: text behind its last chunk is in no chunk: {lost!r}"


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:80]


def _left_out(source: str, text: str) -> str:
    """The first line with a letter or digit of the page that the chunk does not hold."""
    if source == text:
        return ""
    held = "".join(text.split())
    for line in source.split("\n"):
        if any(map(str.isalnum, line)) and "".join(line.split()) not in held:
            return _first_line(line)
    return ""


def _leaves_a_fence_open(text: str) -> bool:
    """Whether a paragraph behind the text would become part of a fence in it."""
    if "```" not in text and "~~~" not in text:
        return False
    tokens = _PARSER.parse(f"{text}{_SENTINEL}")
    return tokens[-1].type == "fence"

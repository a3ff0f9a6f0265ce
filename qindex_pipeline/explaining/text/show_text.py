"""A page's chunks and questions as people read them."""

from collections.abc import Iterator, Sequence
from typing import Literal

from qindex_pipeline.console import printable
from qindex_pipeline.explaining.model.facts import Asked
from qindex_pipeline.explaining.site_chunks import ShownChunk, ShownPage
from qindex_pipeline.explaining.text.explain_text import LONGEST_EVIDENCE, made_by
from qindex_pipeline.explaining.text.lines import cut, wrapped
from qindex_pipeline.explaining.text.page_text import crawl_line, verdict_of
from qindex_pipeline.explaining.verdicts.wording import rejections

Wanted = Literal["accepted", "rejected", "all"]
"""Which questions are listed."""


def shown_lines(pages: Sequence[ShownPage], wanted: Wanted) -> Iterator[str]:
    """All lines of `qindex show`; a chunk that was asked for is shown with its text.

    Args:
        pages: What was found.
        wanted: The questions to list.
    """
    for number, page in enumerate(pages):
        if number:
            yield ""
        yield from _page_lines(page, wanted)


def _page_lines(page: ShownPage, wanted: Wanted) -> Iterator[str]:
    title = f"{page.chunks[0].section.title}  " if page.chunks else ""
    yield from wrapped(f"{title}{page.asked} ({page.site})")
    if page.crawled is not None:
        yield from wrapped(crawl_line(page.crawled), " " * 7, "Crawl: ")
    if not page.chunks:
        yield "No chunk: there is no text of it in the tables or the index."
    for chunk in page.chunks:
        yield ""
        yield from _chunk_lines(chunk, wanted, with_text=page.by_id)
    if page.note is not None:
        yield ""
        yield from wrapped(page.note, " " * 6, "Note: ")


def _chunk_lines(chunk: ShownChunk, wanted: Wanted, *, with_text: bool) -> Iterator[str]:
    section = chunk.section
    heading = " > ".join(section.heading_path) or section.title
    about = [
        section.chunk_id[:8],
        chunk.kind or "",
        "" if chunk.n_words is None else f"{chunk.n_words} words",
        f"#{section.anchor}" if section.anchor else "",
    ]
    yield from wrapped(f"{heading}  [{', '.join(filter(None, about))}]", "  ", "")
    if chunk.duplicate_of is not None:
        yield from wrapped(f"repeats {chunk.duplicate_of[:8]}: {chunk.duplicate_reason}", "    ")
    if with_text:
        yield ""
        yield from (f"    {printable(line)}" for line in chunk.text.splitlines())
        yield ""
    for asked in chunk.questions:
        if wanted == "all" or asked.accepted == (wanted == "accepted"):
            yield from _question_lines(asked)
    rejected = rejections(chunk.questions)
    if rejected and wanted == "accepted":
        yield f"  - {rejected}"


def _question_lines(asked: Asked) -> Iterator[str]:
    text = f"{verdict_of(asked)}: {asked.question}{made_by(asked.made)}"
    yield from wrapped(text, "    ", "  - ")
    yield from wrapped(f"evidence: {cut(asked.evidence, LONGEST_EVIDENCE)}", "      ", "    ")

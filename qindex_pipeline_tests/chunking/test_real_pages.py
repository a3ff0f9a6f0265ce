"""What holds of any page, held against pages that people wrote."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from qindex_pipeline.chunking import ChunkConfig, chunk_page
from qindex_pipeline_tests.chunking import invariants as hold
from qindex_pipeline_tests.chunking.invariants import Chunked
from qindex_pipeline_tests.chunking.pages import page
from qindex_pipeline_tests.chunking.real_pages import OWN, folders, markdown_of, pages_of

CONFIGS = {
    "as shipped": ChunkConfig(),
    "small": ChunkConfig(full_page_words=0, max_words=30, min_words=5),
}
INVARIANTS = {
    "every line is in one chunk and in order": hold.lossless,
    "spans are disjoint and rising": hold.disjoint,
    "the text is the slice that the span names": hold.exact,
    "no chunk leaves a fence open": hold.fences_closed,
    "no fence within the limit is cut": hold.fences_whole,
    "only a whole block or sentence makes a chunk large": hold.sizes_bounded,
    "a path is the headings above by level": hold.paths_real,
    "every part of a table has the header": hold.tables_headed,
    "a hash in code is no heading": hold.code_is_no_heading,
    "no two chunks have one id": hold.identities_differ,
}


@cache
def chunked(folder: Path, config: str) -> list[Chunked]:
    return [Chunked(markdown, CONFIGS[config]) for markdown in pages_of(folder).values()]


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("source", folders())
@pytest.mark.parametrize("invariant", INVARIANTS.values(), ids=INVARIANTS)
def test_real_pages_hold(invariant: Callable[[Chunked], None], source: str, config: str) -> None:
    folder = folders()[source]
    if folder is None:
        pytest.skip(f"the pages of {source} are not on this machine")
    pages = chunked(folder, config)
    assert any(it.chunks for it in pages)
    for it in pages:
        invariant(it)


@pytest.mark.parametrize("source", folders())
def test_real_pages_give_the_same_chunks_again_whatever_their_line_ends(source: str) -> None:
    folder = folders()[source]
    if folder is None:
        pytest.skip(f"the pages of {source} are not on this machine")
    for it in chunked(folder, "small"):
        assert chunk_page(page(it.markdown.replace("\n", "\r\n")), it.config) == it.chunks


@pytest.mark.parametrize("name", sorted(path.name for path in OWN.glob("*.html")))
def test_a_changed_section_changes_only_its_own_chunk_ids(name: str) -> None:
    config = ChunkConfig(full_page_words=0)
    before = markdown_of(OWN / name)
    old = chunk_page(page(before), config)
    longest = max((chunk for chunk in old if chunk.kind == "section"), key=lambda c: c.n_words)
    cut = longest.start_char + longest.text.rindex(" ") + 1
    after = f"{before[:cut]}sometimes {before[cut:]}"
    new = chunk_page(page(after), config)
    ids = {chunk.chunk_id for chunk in old}
    changed = [chunk for chunk in new if chunk.chunk_id not in ids]
    assert changed
    assert {chunk.heading_path for chunk in changed} == {longest.heading_path}
    gone = ids - {chunk.chunk_id for chunk in new}
    assert {c.heading_path for c in old if c.chunk_id in gone} == {longest.heading_path}
    assert len(old) > len(gone)

"""What holds of the chunks of any markdown whatever."""

import cProfile
import pstats
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qindex_pipeline import tables
from qindex_pipeline.chunking import Chunk, ChunkConfig, chunk_page, normalise
from qindex_pipeline_tests.chunking import invariants as hold
from qindex_pipeline_tests.chunking.generated import (
    ANY_TEXT,
    BLOCK,
    CONFIGS,
    FENCE,
    FENCE_IN_FENCE,
    FENCE_IN_LISTS,
    HEADING,
    INDENTED,
    LIST,
    MARKDOWN,
    NESTED,
    TABLE,
)
from qindex_pipeline_tests.chunking.invariants import Chunked
from qindex_pipeline_tests.chunking.pages import page

ANYTHING = st.one_of(MARKDOWN, ANY_TEXT)
quick = settings(max_examples=60, deadline=None)


def chunks_of(markdown: str, config: ChunkConfig) -> list[Chunk]:
    return chunk_page(page(markdown), config)


@quick
@given(ANYTHING, CONFIGS)
def test_every_line_is_in_one_chunk_and_in_order(markdown: str, config: ChunkConfig) -> None:
    hold.lossless(Chunked(markdown, config))


@quick
@given(ANYTHING, CONFIGS)
def test_spans_are_disjoint_and_rising(markdown: str, config: ChunkConfig) -> None:
    hold.disjoint(Chunked(markdown, config))


@quick
@given(ANYTHING, CONFIGS)
def test_the_text_is_the_slice_that_the_span_names(markdown: str, config: ChunkConfig) -> None:
    hold.exact(Chunked(markdown, config))


@quick
@given(MARKDOWN, CONFIGS)
def test_no_chunk_leaves_a_fence_open(markdown: str, config: ChunkConfig) -> None:
    hold.fences_closed(Chunked(markdown, config))


@quick
@given(MARKDOWN, CONFIGS)
def test_no_fence_within_the_limit_is_cut(markdown: str, config: ChunkConfig) -> None:
    hold.fences_whole(Chunked(markdown, config))


@quick
@given(MARKDOWN, CONFIGS)
def test_only_a_whole_block_or_sentence_makes_a_chunk_large(
    markdown: str, config: ChunkConfig
) -> None:
    hold.sizes_bounded(Chunked(markdown, config))


def roomy(config: ChunkConfig) -> ChunkConfig:
    """A run of headings longer than a chunk may ever be has to be cut: here none is."""
    return ChunkConfig(config.full_page_words, config.max_words, 0, config.min_words, 50)


@quick
@given(MARKDOWN, CONFIGS)
def test_a_heading_is_never_the_end_of_a_chunk_but_of_the_page(
    markdown: str, config: ChunkConfig
) -> None:
    hold.headings_open(Chunked(f"{markdown}\n\nThe end.", roomy(config)))


@quick
@given(MARKDOWN, CONFIGS)
def test_no_chunk_is_empty_or_only_headings_unless_the_page_is(
    markdown: str, config: ChunkConfig
) -> None:
    hold.nothing_empty(Chunked(markdown, roomy(config)))


@quick
@given(MARKDOWN, CONFIGS)
def test_a_path_is_the_headings_above_by_level(markdown: str, config: ChunkConfig) -> None:
    hold.paths_real(Chunked(markdown, config))


@quick
@given(st.lists(TABLE | HEADING, max_size=4), CONFIGS)
def test_every_part_of_a_table_has_the_header(blocks: list[str], config: ChunkConfig) -> None:
    hold.tables_headed(Chunked("\n\n".join(blocks), config))


@quick
@given(ANYTHING, CONFIGS)
def test_the_same_page_gives_the_same_chunks(markdown: str, config: ChunkConfig) -> None:
    assert chunks_of(markdown, config) == chunks_of(markdown, config)


@quick
@given(MARKDOWN, CONFIGS)
def test_a_full_page_is_its_own_only_chunk(markdown: str, config: ChunkConfig) -> None:
    chunks = chunks_of(markdown, config)
    if [chunk.kind for chunk in chunks] == ["full_page"]:
        (again,) = chunks_of(chunks[0].text, config)
        assert (again.text, again.chunk_id) == (chunks[0].text, chunks[0].chunk_id)


@quick
@given(MARKDOWN, CONFIGS)
def test_line_ends_make_no_difference(markdown: str, config: ChunkConfig) -> None:
    expected = chunks_of(markdown, config)
    for line_end in ("\r\n", "\r"):
        assert chunks_of(markdown.replace("\n", line_end), config) == expected


@quick
@given(st.lists(BLOCK, max_size=8).map("\n\n".join), CONFIGS)
def test_an_appended_section_changes_no_id_where_the_last_one_is_not_tiny(
    markdown: str, config: ChunkConfig
) -> None:
    """A last section under `min_words` joins a sibling that is appended, and has a new id."""
    config = ChunkConfig(0, config.max_words, config.overlap_chars, config.min_words)
    last = "One two three four five. Six seven eight nine ten."
    before = f"{markdown}\n\n# Last\n\n{last}"
    after = f"{before}\n\n# New\n\n{last}\n"
    ids = [chunk.chunk_id for chunk in chunks_of(before, config)]
    assert [chunk.chunk_id for chunk in chunks_of(after, config)][: len(ids)] == ids


HOSTILE = {"backticks": "`", "hashes": "#", "pipes": "|", "quotes": "> ", "letters": "a"}
HOSTILE |= {"words": "a ", "brackets": "[a](", "sentences": "a. ", "items": "- a\n", "lines": "`\n"}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_twice_the_page_takes_twice_the_steps(piece: str) -> None:
    """Steps are calls; the benchmark measures the seconds of five megabytes of each."""

    def steps(size: int) -> int:
        profile = cProfile.Profile()
        profile.runcall(chunks_of, piece * (size // len(piece)), ChunkConfig())
        return pstats.Stats(profile).total_calls  # pyright: ignore[reportAttributeAccessIssue]

    assert steps(16_000) < 2.5 * steps(8_000)


@quick
@given(ANY_TEXT, CONFIGS)
def test_any_text_gives_rows_of_the_chunks_table(markdown: str, config: ChunkConfig) -> None:
    it = Chunked(markdown, config)
    assert tables.to_arrow(tables.CHUNKS, it.chunks).num_rows == len(it.chunks)
    assert bool(it.chunks) == bool(normalise(markdown).text.strip())
    hold.identities_differ(it)


CODE = st.one_of(FENCE, FENCE_IN_FENCE, FENCE_IN_LISTS, INDENTED, LIST, NESTED)


@quick
@given(st.lists(CODE | HEADING, max_size=8).map("\n\n".join), CONFIGS)
def test_a_hash_in_code_is_never_a_heading(markdown: str, config: ChunkConfig) -> None:
    for chunk in chunks_of(markdown, config):
        assert not {"not a heading", "nested"} & set(chunk.heading_path)


@quick
@given(MARKDOWN, CONFIGS)
def test_overlap_is_short_and_is_the_end_of_the_previous_chunk(
    markdown: str, config: ChunkConfig
) -> None:
    chunks = chunks_of(markdown, config)
    assert not chunks or chunks[0].overlap == ""
    for previous, chunk in pairwise(chunks):
        assert len(chunk.overlap) <= config.overlap_chars
        assert previous.text.endswith(chunk.overlap)

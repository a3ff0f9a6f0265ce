"""What holds of the chunks of any markdown whatever."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from qindex_pipeline import tables
from qindex_pipeline.chunking import Chunk, ChunkConfig, chunk_page, normalise
from qindex_pipeline_tests.chunking.pages import page

PARSER = MarkdownIt("commonmark").enable("table")
CONFIGS = st.builds(
    ChunkConfig,
    full_page_words=st.sampled_from([0, 30]),
    max_words=st.sampled_from([4, 12, 60]),
    overlap_chars=st.sampled_from([0, 25, 100]),
    min_words=st.sampled_from([0, 5]),
)

WORD = st.sampled_from(["alpha", "e.g.", "`a. b`", "[x y](u.html)", "Run.", "why?", "中文。", "¶"])
SENTENCE = st.lists(WORD, min_size=1, max_size=9).map(" ".join)
LINES = st.lists(SENTENCE, min_size=1, max_size=5)
HEADING = st.builds(lambda level, text: f"{'#' * level} {text}", st.integers(1, 6), SENTENCE)
FENCE = st.builds(
    lambda mark, lines: "\n".join([mark, *lines, mark[:3]]),
    st.sampled_from(["```", "```py", "~~~ sh"]),
    st.lists(st.sampled_from(["x = 1", "", "# not a heading", "  y z"]), max_size=30),
)
LIST = LINES.map(
    lambda lines: "\n".join(f"- {line}\n\n  ## nested\n\n  - {line}" for line in lines)
)
NESTED = st.builds(
    lambda prefix, fence: "\n".join(prefix + line for line in fence.split("\n")),
    st.sampled_from(["> ", "    ", "> > "]),
    FENCE,
).map(lambda block: block if block.startswith(">") else f"1.  item\n\n{block}\n\n2.  next")
TABLE = LINES.map(
    lambda lines: "\n".join(["| k | v |", "|---|---|", *(f"| {i} | c |" for i in lines)])
)
QUOTE = LINES.map(lambda lines: "\n".join(f"> {line}" for line in lines))
OTHER = st.sampled_from(
    ["---", "<div>\n# html\n</div>", "[a]: https://b.c", "    indented", "Title\n==="]
)
BLOCK = st.one_of(HEADING, LINES.map("\n".join), FENCE, LIST, NESTED, TABLE, QUOTE, OTHER)
MARKDOWN = st.lists(BLOCK, max_size=12).map("\n\n".join)
ANY_TEXT = st.one_of(
    st.text(max_size=300),
    st.text(alphabet="#`~>|-*_[]()<>!\\ \n\t1.a\u2028\0\ud800\u202e", max_size=200),
    st.lists(BLOCK, max_size=6).map("\n".join),
)

quick = settings(max_examples=80, deadline=None)


def chunks_of(markdown: str, config: ChunkConfig) -> list[Chunk]:
    return chunk_page(page(markdown), config)


def lines_of(text: str) -> list[str]:
    return [line for line in text.split("\n") if line.strip()]


@quick
@given(st.one_of(MARKDOWN, ANY_TEXT), CONFIGS)
def test_nothing_is_lost_and_nothing_repeated(markdown: str, config: ChunkConfig) -> None:
    source = normalise(markdown).text
    spans = [(chunk.start_char, chunk.end_char) for chunk in chunks_of(markdown, config)]
    gaps = [0, *(offset for span in spans for offset in span), len(source)]
    assert gaps == sorted(gaps)
    assert all(start < end for start, end in spans)
    outside = [source[gaps[index] : gaps[index + 1]] for index in range(0, len(gaps), 2)]
    assert not any(gap.strip() for gap in outside)


@quick
@given(st.one_of(MARKDOWN, ANY_TEXT), CONFIGS)
def test_the_text_is_the_slice_that_the_span_names(markdown: str, config: ChunkConfig) -> None:
    source = normalise(markdown).text
    for chunk in chunks_of(markdown, config):
        piece = source[chunk.start_char : chunk.end_char]
        if chunk.kind != "part":
            assert chunk.text == piece
        lines = source.split("\n")[chunk.start_line : chunk.end_line]
        assert piece in "\n".join(lines)
        assert piece.split("\n")[0] in lines[0]
        assert piece.split("\n")[-1] in lines[-1]


@quick
@given(MARKDOWN, CONFIGS)
def test_no_chunk_leaves_a_fence_open(markdown: str, config: ChunkConfig) -> None:
    for chunk in chunks_of(markdown, config):
        *_, last = PARSER.parse(f"{chunk.text_for_llm}\n\nsentinel")[:-1]
        assert last.type == "inline"
        assert last.content.endswith("sentinel")


@quick
@given(st.lists(st.one_of(BLOCK, HEADING), max_size=12).map("\n\n".join), CONFIGS)
def test_a_heading_is_never_the_end_of_a_chunk(markdown: str, config: ChunkConfig) -> None:
    # Headings at the end of the page have no text to go to, and a run of headings longer than
    # a chunk may ever be has to be cut.
    roomy = ChunkConfig(config.full_page_words, config.max_words, 0, config.min_words, 50)
    for chunk in chunks_of(f"{markdown}\n\nThe end.", roomy):
        tokens = [token for token in PARSER.parse(chunk.text) if token.level == 0]
        assert tokens[-1].type != "heading_close"


@quick
@given(st.one_of(MARKDOWN, ANY_TEXT), CONFIGS)
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
@given(ANY_TEXT, CONFIGS)
def test_any_text_gives_rows_of_the_chunks_table(markdown: str, config: ChunkConfig) -> None:
    chunks = chunks_of(markdown, config)
    assert tables.to_arrow(tables.CHUNKS, chunks).num_rows == len(chunks)
    assert bool(chunks) == bool(normalise(markdown).text.strip())
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)


@quick
@given(st.lists(st.one_of(FENCE, LIST, NESTED, HEADING), max_size=8).map("\n\n".join), CONFIGS)
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

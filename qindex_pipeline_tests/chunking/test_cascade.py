"""The cascade's own rules: sizes, sections, packing, what stays together, what is cut."""

from dataclasses import fields
from itertools import pairwise

import pytest
from markdown_it import MarkdownIt

from qindex_pipeline import tables
from qindex_pipeline.chunking import Chunk, ChunkConfig, chunk_page, count_words
from qindex_pipeline_tests.chunking.pages import SMALL, chunks_of, page

SEED = ChunkConfig.from_constants(chunk_size=500, chunk_overlap=100)


def sentences_of(words: int) -> str:
    """Sentences of ten words each, in paragraphs of ten sentences; the last may be shorter."""
    spoken = [f"word{number}" for number in range(words)]
    runs = [" ".join(spoken[start : start + 10]) + "." for start in range(0, words, 10)]
    return "\n\n".join(" ".join(runs[start : start + 10]) for start in range(0, len(runs), 10))


@pytest.mark.parametrize(("words", "whole"), [(499, True), (500, False), (501, False)])
def test_a_page_under_500_words_is_one_chunk(words: int, whole: bool) -> None:
    markdown = sentences_of(words)
    assert count_words(markdown) == words
    chunks = chunks_of(markdown, SEED)
    assert (len(chunks) == 1) is whole
    assert (chunks[0].kind == "full_page") is whole


@pytest.mark.parametrize(("chunk_size", "max_words"), [(500, 125), (200, 50), (403, 100)])
def test_the_size_of_a_chunk_follows_chunk_size(chunk_size: int, max_words: int) -> None:
    config = ChunkConfig.from_constants(chunk_size=chunk_size, chunk_overlap=0)
    assert (config.max_words, config.hard_max_words) == (max_words, 3 * max_words)
    assert config.full_page_words == 500
    one_paragraph = sentences_of(1000).replace("\n\n", " ")
    sizes = [chunk.n_words for chunk in chunks_of(one_paragraph, config)]
    assert max_words - 10 < max(sizes) <= max_words


def test_every_text_for_the_model_names_its_source_first() -> None:
    chunks = [*chunks_of(sentences_of(20), SEED), *chunks_of(sentences_of(900), SEED)]
    assert len(chunks) > 2
    assert all(
        chunk.text_for_llm.startswith("Source: https://docs.example.com/page\n") for chunk in chunks
    )


@pytest.mark.parametrize("limit", [0, 5, 40, 100])
def test_overlap_is_whole_sentences_else_words_within_chunk_overlap(limit: int) -> None:
    chunks = chunks_of(sentences_of(1000), ChunkConfig.from_constants(500, limit))
    overlaps = [chunk.overlap for chunk in chunks[1:]]
    assert all(len(overlap) <= limit for overlap in overlaps)
    assert any(overlaps) is (limit >= 40)
    for previous, chunk in pairwise(chunks):
        assert previous.text.endswith(chunk.overlap)
        if chunk.overlap:
            assert f"{chunk.overlap} {chunk.text}" in chunk.text_for_llm.replace("\n\n", " ")
            whole_sentence = previous.text.removesuffix(chunk.overlap)[-2:] in (". ", ".\n", "\n\n")
            assert whole_sentence is (limit == 100)


def test_overlap_crosses_neither_headings_nor_code() -> None:
    prose = "One two three four five six seven eight nine ten."
    config = ChunkConfig(full_page_words=0, max_words=12, overlap_chars=100, min_words=0)
    for between in ("## Next", "#### Inner", "```\na b c d e f\n```"):
        chunks = chunks_of(f"{prose}\n\n{between}\n\n{prose}", config)
        assert len(chunks) > 1
        assert [chunk.overlap for chunk in chunks] == [""] * len(chunks)
    first, second = chunks_of(f"{prose}\n\n{prose}", config)
    assert (first.overlap, second.overlap) == ("", prose)


def test_a_chunk_has_the_columns_of_its_table() -> None:
    assert [field.name for field in fields(Chunk)] == tables.CHUNKS.schema.names
    chunks = chunks_of(f"# A\n\n{sentences_of(600)}\n\n```\nx\n```\n", SEED)
    rows = tables.to_arrow(tables.CHUNKS, chunks).to_pylist()
    assert [row["chunk_index"] for row in rows] == list(range(len(chunks)))
    assert rows[0]["heading_path"] == ["A"]


@pytest.mark.parametrize("markdown", ["", " \n\t\n", "\ufeff\0\r\n", "---\ntitle: X\n---\n"])
def test_a_page_without_text_has_no_chunks(markdown: str) -> None:
    assert chunks_of(markdown) == []
    assert chunks_of(markdown, SEED) == []


def test_blocks_of_a_section_are_packed_in_order_up_to_the_limit() -> None:
    texts = [f"One two three four {word}." for word in ("five", "six", "seven")]
    assert [chunk.text for chunk in chunks_of("\n\n".join(texts))] == [
        f"{texts[0]}\n\n{texts[1]}",
        texts[2],
    ]


def test_h4_to_h6_stay_in_their_section_but_count_in_the_path() -> None:
    text = "One two three four five six seven."
    markdown = f"# A\n\n#### B\n\n{text}\n\n{text}\n\n##### C\n\n{text}\n\n### D\n\n{text}\n"
    paths = [chunk.heading_path for chunk in chunks_of(markdown)]
    assert paths == [("A", "B"), ("A", "B"), ("A", "B", "C"), ("A", "D")]


def test_a_chunk_over_several_inner_headings_has_the_path_they_share() -> None:
    (chunk,) = chunks_of("# A\n\n#### B\n\nOne.\n\n#### C\n\nTwo.\n")
    assert chunk.heading_path == ("A",)


def test_a_heading_without_text_goes_to_the_text_that_follows() -> None:
    markdown = "# A\n\nOne.\n\n## Empty\n\n---\n\n## B\n\nTwo.\n\n## Last\n"
    assert [(chunk.heading_path, chunk.text) for chunk in chunks_of(markdown)] == [
        (("A",), "# A\n\nOne."),
        (("A", "B"), "## Empty\n\n---\n\n## B\n\nTwo.\n\n## Last"),
    ]


def test_a_page_of_nothing_but_headings_is_kept() -> None:
    (chunk,) = chunks_of("# A\n\n## B\n")
    assert (chunk.text, chunk.heading_path) == ("# A\n\n## B", ("A", "B"))


def test_heading_text_is_what_a_reader_sees() -> None:
    heading = "## The `x` *of* [C#](c.html) &amp; ![logo](l.png)[¶](#c 'Permalink') ##"
    (chunk,) = chunks_of(f"{heading}\n\nText.\n")
    assert chunk.heading_path == ("The x of C# & logo",)


def test_tiny_chunks_join_their_section_or_a_sibling_section() -> None:
    config = ChunkConfig(full_page_words=0, max_words=20, min_words=5, overlap_chars=0)
    long = "One two three four five six seven eight nine ten."
    markdown = f"# R\n\n{long}\n\n## A\n\nTiny.\n\n## B\n\n{long}\n\n### Deep\n\nTiny too.\n"
    chunks = chunks_of(markdown, config)
    assert [chunk.heading_path for chunk in chunks] == [("R",), ("R",), ("R", "B", "Deep")]
    assert chunks[1].text == f"## A\n\nTiny.\n\n## B\n\n{long}"


def test_code_over_the_limit_stays_whole_with_the_line_that_announces_it() -> None:
    before = "One two three four five six seven eight nine ten."
    code = "```\n" + "a b c d e\n" * 5 + "```"
    chunks = chunks_of(f"{before}\n\nRun this now:\n\n{code}\n\nAfter it.\n")
    assert [chunk.text for chunk in chunks] == [before, f"Run this now:\n\n{code}", "After it."]
    assert [chunk.has_code for chunk in chunks] == [False, True, False]


def test_a_term_stays_with_its_definition() -> None:
    definition = "One two three four five six seven eight."
    chunks = chunks_of(f"**--all**\n\n{definition}\n\n**--none**\n\n-n\n\n{definition}\n")
    assert [chunk.text for chunk in chunks] == [
        f"**--all**\n\n{definition}",
        f"**--none**\n\n-n\n\n{definition}",
    ]


def test_only_a_paragraph_over_the_limit_is_cut_into_sentences() -> None:
    short = "One two three. Four five six. Seven eight nine ten."
    assert [chunk.text for chunk in chunks_of(short)] == [short]
    chunks = chunks_of(f"{short} Eleven twelve. Thirteen.")
    assert [chunk.text for chunk in chunks] == [f"{short} Eleven twelve.", "Thirteen."]


def test_a_huge_sentence_is_cut_behind_semicolons_then_commas_then_spaces() -> None:
    clause = ", ".join(["one two three four five six"] * 2)
    sentence = "; ".join([clause] * 4)
    chunks = chunks_of(sentence)
    assert [chunk.text for chunk in chunks] == [f"{clause};"] * 3 + [clause]
    spaced = chunks_of("word " * 50)
    assert [chunk.n_words for chunk in spaced] == [12, 12, 12, 12, 2]


WHOLE = [
    "[See it. And; or, well](https://a.b/c(d) 'Its. Title')",
    "![An image; of, It. Is](x.png)",
    "`x = 1; y, z. Then; w`",
    "``a ` b. C; d``",
]


@pytest.mark.parametrize("markup", WHOLE)
def test_inline_code_links_and_images_are_never_cut(markup: str) -> None:
    before = "one two three four five six seven eight nine"
    assert f"{markup} ten." in chunks_of(f"{before}. Seven {markup} ten. Eleven it is.")[1].text
    sentence = f"{before} {markup}, {markup}; {before} {markup} {before} {before}"
    assert sum(chunk.text.count(markup) for chunk in chunks_of(sentence)) == 3


def test_link_definitions_are_no_text_of_a_section() -> None:
    definition = "[a]: https://b.c"
    markdown = (
        f"# A\n\nOne.\n\n{definition}\n\n# B\n\n{definition}\n\n# C\n\nTwo.\n\n{definition}\n"
    )
    assert [chunk.text for chunk in chunks_of(markdown)] == [
        f"# A\n\nOne.\n\n{definition}",
        f"# B\n\n{definition}\n\n# C\n\nTwo.\n\n{definition}",
    ]


def test_a_large_list_is_cut_between_items_and_keeps_its_numbers() -> None:
    items = [f"{number}. one two three four five six" for number in range(1, 13)]
    chunks = chunks_of("\n".join(items))
    assert [chunk.text for chunk in chunks] == ["\n".join(items[n : n + 5]) for n in (0, 5, 10)]
    assert {chunk.kind for chunk in chunks} == {"part"}


def test_a_huge_item_is_cut_inside_and_its_code_still_reads_as_code() -> None:
    code = "\n".join(["    a b c d e f"] * 8)
    markdown = f"- one two three\n\n    ```py\n{code}\n    ```\n\n    - inner\n- last\n"
    chunks = chunks_of(markdown)
    assert [chunk.text for chunk in chunks] == [
        "- one two three",
        "```py\n" + "a b c d e f\n" * 5 + "```",
        "```py\n" + "a b c d e f\n" * 3 + "```",
        "- inner",
        "- last",
    ]
    assert [chunk.has_code for chunk in chunks] == [False, True, True, False, False]


def test_a_large_quote_keeps_its_marks_in_every_part() -> None:
    paragraph = "one two three four five six " * 10
    chunks = chunks_of(f"> {paragraph}\n>\n> - end of it")
    assert [chunk.n_words for chunk in chunks] == [36, 24, 3]
    for chunk in chunks:
        tokens = MarkdownIt().parse(chunk.text)
        assert (tokens[0].type, tokens[-1].type) == ("blockquote_open", "blockquote_close")


def test_a_table_row_over_the_limit_is_cut_under_the_header() -> None:
    header = "| key | value |\n|---|---|"
    chunks = chunks_of(f"{header}\n| a | {'one two ' * 30}|\n| b | end |")
    assert len(chunks) == 2
    assert all(chunk.text.startswith(f"{header}\n| ") for chunk in chunks)
    assert chunks[-1].text.endswith("| b | end |")


def test_a_table_header_too_long_to_repeat_stands_once() -> None:
    header = f"| {'name ' * 20}| v |\n|---|---|"
    rows = [f"| one two three {number} | four |" for number in range(10)]
    chunks = chunks_of("\n".join([header, *rows]))
    assert len(chunks) > 1
    assert [chunk.text.count("name") for chunk in chunks] == [20] + [0] * (len(chunks) - 1)


def test_a_section_appended_to_a_page_changes_no_earlier_id() -> None:
    before = "# A\n\nOne.\n\n## B\n\nTwo.\n"
    ids = [chunk.chunk_id for chunk in chunks_of(before)]
    assert [chunk.chunk_id for chunk in chunks_of(f"{before}\n## C\n\nThree.\n")][:-1] == ids


def test_an_id_depends_on_page_path_and_words_only() -> None:
    (original,) = chunk_page(page("# A\n\nOne two."), SMALL)
    (spaced,) = chunk_page(page("\n\n#  A\n\n\nOne\ntwo.", summary="S", label="M"), SMALL)
    (moved,) = chunk_page(page("# B\n\nOne two."), SMALL)
    assert len(original.chunk_id) == 32
    assert original.chunk_id != moved.chunk_id
    assert original.chunk_id == spaced.chunk_id

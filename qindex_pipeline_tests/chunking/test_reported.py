"""Ways in which other chunkers were reported to break a document; none of them happens here."""

from collections.abc import Callable
from itertools import pairwise

import pytest

from qindex_pipeline.chunking import Chunk, ChunkConfig, blocks, chunk_page
from qindex_pipeline.chunking.prose import sentences
from qindex_pipeline_tests.chunking.pages import SMALL, chunks_of, page, paths_and_texts

TEN = "One two three four five six seven eight nine ten."

KEPT_WHOLE = {
    "2 indentation of code": "```py\ndef f():\n    if x:\n        y()\n```",
    "3 tabs and no-break spaces in code": "```make\nall:\n\tcc\u00a0-o a\n```",
    "4 blank lines between paragraphs": "One.\n\nTwo.\n\n\nThree.",
    "5 line breaks and heading marks": "## Head\n\nline  \nline\\\nline",
    "6 indentation of lists": "- a\n  - b\n    - c\n- d",
    "14 a fence that is indented": "   ```sh\n   # c\n   ```",
    "16 a shebang in code": "```\n#!/bin/sh\n# Section\n```",
    "21 fences of several lengths": "~~~~\n```\n~~~\n~~~~",
    "27 four backticks around three": "````\n```\n# x\n```\n````",
}


@pytest.mark.parametrize("markdown", KEPT_WHOLE.values(), ids=KEPT_WHOLE)
def test_what_fits_is_kept_to_the_letter(markdown: str) -> None:
    (chunk,) = chunks_of(f"{markdown}\n")
    assert chunk.text == markdown


PATHS = {
    "1 a hash in code": ("# A\n\n~~~\n# no\n~~~\n\nx\n", [("A",)]),
    "7 a byte order mark before the heading": ("\ufeffA\n=\n\nx\n", [("A",)]),
    "8 a bold line is no heading": ("# A\n\n**Bold**\n\nx\n", [("A",)]),
    "11 levels that jump": (
        "# A\n\n#### B\n\nx\n\n## C\n\ny\n\n### D\n\nz\n",
        [("A", "B"), ("A", "C"), ("A", "C", "D")],
    ),
    "12 a slash in a heading": ("# TCP/IP\n\n## a/b\n\nx\n", [("TCP/IP", "a/b")]),
    "13 text before the first heading": ("x\n\n# A\n\ny\n", [(), ("A",)]),
    "19 a short list is no title": ("# A\n\n- One\n- Two\n\nx\n", [("A",)]),
    "23 a comment in a shell session": ("# A\n\n    $ ls\n    # Section\n\nx\n", [("A",)]),
    "24 headings that are underlined": ("A\n===\n\nx\n\nB\n---\n\ny\n", [("A",), ("A", "B")]),
    "26 front matter is no underlined heading": ("---\nkey: v\n---\n\nx\n", [()]),
}


@pytest.mark.parametrize(("markdown", "paths"), PATHS.values(), ids=PATHS)
def test_a_path_names_real_headings_only(markdown: str, paths: list[tuple[str, ...]]) -> None:
    assert [path for path, _ in paths_and_texts(markdown)] == paths


def roomy_overlap() -> list[Chunk]:
    config = ChunkConfig(full_page_words=0, max_words=20, overlap_chars=100, min_words=0)
    return chunks_of("\n\n".join([TEN] * 6), config)


def test_9_overlap_is_there_between_all_paragraphs() -> None:
    _, *rest = roomy_overlap()
    assert len(rest) > 1
    assert [chunk.overlap for chunk in rest] == [TEN] * len(rest)


def test_10_a_chunk_that_is_exactly_full_is_not_too_long_and_still_overlaps() -> None:
    chunks = roomy_overlap()
    assert {chunk.n_words for chunk in chunks} == {20}
    assert all(chunk.overlap for chunk in chunks[1:])


def test_15_a_section_has_a_size_limit() -> None:
    chunks = chunks_of("# A\n\n" + "\n\n".join([TEN] * 20))
    assert max(chunk.n_words for chunk in chunks) <= SMALL.max_words


def table(header: str, rows: int) -> str:
    return "\n".join(
        [f"| {header} | b |", "|---|---|", *(f"| r{n} | one two |" for n in range(rows))]
    )


def test_17_the_prefix_counts_for_no_limit_of_a_table() -> None:
    config = ChunkConfig(full_page_words=0, max_words=12, min_words=0)
    long = page(table("a", 40), label="label " * 30, summary="summary " * 30)
    short = page(table("a", 40))
    assert [c.text for c in chunk_page(long, config)] == [c.text for c in chunk_page(short, config)]
    assert max(chunk.n_words for chunk in chunk_page(long, config)) <= config.hard_max_words


@pytest.mark.parametrize("header", ["a", "name " * 50], ids=["small", "over the limit"])
def test_18_rows_stay_whole_whatever_the_size_of_the_header(header: str) -> None:
    markdown = table(header.strip(), 40)
    lines = [line for chunk in chunks_of(markdown) for line in chunk.text.split("\n")]
    assert "" not in lines
    assert [line for line in lines if "| r" in line] == markdown.split("\n")[2:]


def test_19_a_title_is_part_of_the_text() -> None:
    assert paths_and_texts("# A\n\nx\n") == [(("A",), "# A\n\nx")]


def test_20_spans_of_repeated_text_go_by_position() -> None:
    chunks = chunks_of("\n\n".join([TEN] * 3))
    assert [chunk.start_char for chunk in chunks] == [0, len(TEN) + 2, 2 * (len(TEN) + 2)]


def test_22_no_part_of_a_table_lacks_its_header() -> None:
    chunks = chunks_of(table("a", 40))
    assert len(chunks) > 1
    assert all(chunk.text.startswith("| a | b |\n|---|---|\n") for chunk in chunks)


def test_24_no_chunk_is_a_heading_or_a_rule_alone() -> None:
    chunks = chunks_of("# A\n\n## B\n\n---\n\n***\n\n## C\n\nx\n\n---\n")
    assert [chunk.text for chunk in chunks] == ["# A\n\n## B\n\n---\n\n***\n\n## C\n\nx\n\n---"]


def test_25_a_heading_stands_once_in_what_the_model_reads() -> None:
    first, second = chunks_of(f"# Alone\n\n{TEN}\n\n{TEN}\n")
    assert first.text_for_llm.count("Alone") == 1
    assert second.text_for_llm.count("Alone") == 1


def test_28_an_open_fence_keeps_what_stands_before_it_apart() -> None:
    chunks = chunks_of(f"# A\n\n{TEN}\n\n# B\n\n```\nx\n\n# C\n")
    assert [chunk.heading_path for chunk in chunks] == [("A",), ("B",)]
    assert chunks[1].text_for_llm.endswith("# C\n```")


@pytest.mark.parametrize("line", ["x" * 5000, "x " * 5000, "`" * 5000, "x.y," * 2000])
def test_29_code_of_one_huge_line_is_cut_within_the_limit(line: str) -> None:
    for chunk in chunks_of(f"```\n{line}\n```\n"):
        assert chunk.n_words <= SMALL.hard_max_words


def test_30_text_without_spaces_is_cut_and_overlaps() -> None:
    config = ChunkConfig(full_page_words=0, max_words=12, overlap_chars=20, min_words=0)
    text = "これは文です。次の文もあります。" * 10
    chunks = chunks_of(text, config, lang="ja")
    assert len(chunks) > 5
    assert "".join(chunk.text for chunk in chunks) == text
    assert all(chunk.overlap and previous.text.endswith(chunk.overlap)
               for previous, chunk in pairwise(chunks))  # fmt: skip


SENTENCES = [
    'He said "Stop. Now!" and (see No. 5.) left... Did he? Yes!!',
    "Edit ~/.apprc. Then call a.b(). See Fig. 3 vs. Fig. 4 in the U.S. today.",
    "مرحبا. كيف حالك؟ बढ़िया। ठीक है।",
    "." * 300 + "?" * 300 + '"' * 300,
]


@pytest.mark.parametrize("text", SENTENCES)
@pytest.mark.parametrize("lang", ["en", "de", "ar", "hi", "xx"])
def test_31_sentences_lose_no_character(text: str, lang: str) -> None:
    assert "".join(text[start:end] for start, end in sentences(text, lang)) == text


ODD = ["> -", "-\t", "```\n>", "1.\n\t", "[](", ">\t\t```", "- - -\n =", "|\n-|", "[a]:\n", "&#0;"]


@pytest.mark.parametrize("markdown", ODD)
def test_32_odd_ends_of_a_page_do_no_harm(markdown: str) -> None:
    assert "".join(chunk.text for chunk in chunks_of(markdown)).strip() == markdown.strip()


def test_32_a_page_on_which_the_parser_fails_is_cut_at_blank_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(blocks, "_PARSER", Failing(IndexError))
    chunks = chunks_of(f"# A\n\n{TEN}\n\n```\n# x\n\ny\n```\n\n{TEN}")
    assert {chunk.kind for chunk in chunks} == {"plain"}
    assert [chunk.text for chunk in chunks] == [f"# A\n\n{TEN}", f"```\n# x\n\ny\n```\n\n{TEN}"]


class Failing:
    """A parser that fails."""

    def __init__(self, error: Callable[[], Exception]) -> None:
        self.error = error

    def parse(self, _: str) -> None:
        raise self.error()

"""Fifteen pages on which chunkers are known to go wrong, each with its exact outcome."""

import re

import pytest
from markdown_it import MarkdownIt

from qindex_pipeline.chunking import ChunkConfig, normalise
from qindex_pipeline.chunking.prose import sentences
from qindex_pipeline_tests.chunking.pages import SMALL, chunks_of, paths_and_texts

TABLES = MarkdownIt("commonmark").enable("table")

EXACT = {
    "a comment in code is no heading": (
        "## Install\n\n```bash\n# not a heading\npip install x\n```\n\n## Next\n\nok\n",
        [
            (("Install",), "## Install\n\n```bash\n# not a heading\npip install x\n```"),
            (("Next",), "## Next\n\nok"),
        ],
    ),
    "a fence inside a longer fence": (
        "## A\n\n````md\n```py\n# x\n```\n## still code\n````\n\n## B\n\nb\n",
        [
            (("A",), "## A\n\n````md\n```py\n# x\n```\n## still code\n````"),
            (("B",), "## B\n\nb"),
        ],
    ),
    "headings that are underlined": (
        "Title\n=====\n\np\n\nSub\n---\n\nq\n",
        [(("Title",), "Title\n=====\n\np"), (("Title", "Sub"), "Sub\n---\n\nq")],
    ),
    "front matter": (
        "---\ntitle: X\n# comment\n---\n\n# A\n\na\n",
        [(("A",), "# A\n\na")],
    ),
    "text before the first heading": (
        "lead text\n\n## A\n\na\n",
        [((), "lead text"), (("A",), "## A\n\na")],
    ),
    "levels that jump": (
        "# R\n\n### x\n\n1\n\n### y\n\n2\n\n## z\n\n3\n",
        [
            (("R", "x"), "# R\n\n### x\n\n1"),
            (("R", "y"), "### y\n\n2"),
            (("R", "z"), "## z\n\n3"),
        ],
    ),
    "carriage returns": (
        "# A\r\n\r\np\r\n\r\n## B\r\n\r\n```\r\n# c\r\n```\r\n",
        [(("A",), "# A\n\np"), (("A", "B"), "## B\n\n```\n# c\n```")],
    ),
    "a byte order mark": ("\ufeff# A\n\nt\n", [(("A",), "# A\n\nt")]),
    "a fence inside a list item": (
        "## L\n\n- a\n\n    ```sh\n    # c\n    ## d\n    ```\n- b\n\n## M\n\nm\n",
        [
            (("L",), "## L\n\n- a\n\n    ```sh\n    # c\n    ## d\n    ```\n- b"),
            (("M",), "## M\n\nm"),
        ],
    ),
    "a fence that never closes": (
        "## A\n\n```py\nx = 1\n## not\n",
        [(("A",), "## A\n\n```py\nx = 1\n## not")],
    ),
    "the same section twice": (
        "## A\n\nsame\n\n## A\n\nsame\n",
        [(("A",), "## A\n\nsame"), (("A",), "## A\n\nsame")],
    ),
}


@pytest.mark.parametrize(("markdown", "expected"), EXACT.values(), ids=EXACT)
def test_a_tricky_page_gives_exactly_these_chunks(
    markdown: str, expected: list[tuple[tuple[str, ...], str]]
) -> None:
    assert paths_and_texts(markdown) == expected


def test_front_matter_is_kept_apart() -> None:
    source = normalise("---\ntitle: X\n# comment\n---\n\n# A\n")
    assert (source.front_matter, source.text) == ("---\ntitle: X\n# comment\n---\n", "\n# A\n")


def test_a_thematic_break_is_no_front_matter() -> None:
    assert normalise("---\n\nSome text.\n\n---\n").front_matter == ""


def test_text_before_the_first_heading_never_joins_the_section_below() -> None:
    config = ChunkConfig(full_page_words=0, max_words=50, min_words=12)
    chunks = chunks_of("lead text\n\n## A\n\na\n", config)
    assert [chunk.heading_path for chunk in chunks] == [(), ("A",)]


def test_an_open_fence_is_closed_for_the_reader_only() -> None:
    (chunk,) = chunks_of("## A\n\n```py\nx = 1\n## not\n")
    assert chunk.text_for_llm.endswith("## A\n\n```py\nx = 1\n## not\n```")
    assert chunk.text.endswith("## not")


def test_the_same_section_twice_has_two_ids_and_two_places() -> None:
    first, second = chunks_of("## A\n\nsame\n\n## A\n\nsame\n")
    assert first.chunk_id != second.chunk_id
    assert (first.start_char, second.start_char) == (0, 12)
    assert (first.start_line, second.start_line) == (0, 4)


def test_every_part_of_a_large_table_is_a_table_with_its_header() -> None:
    header = "| k | v |\n|---|---|"
    rows = [f"| a{number} b | c d |" for number in range(40)]
    config = ChunkConfig(full_page_words=0, max_words=40, hard_factor=1)
    chunks = chunks_of("\n".join([header, *rows]), config)
    assert len(chunks) == 5
    assert [(chunk.part, chunk.parts) for chunk in chunks] == [(n, 5) for n in range(1, 6)]
    assert all(chunk.text.startswith(f"{header}\n") for chunk in chunks)
    assert [row for chunk in chunks for row in chunk.text.splitlines()[2:]] == rows
    assert all(TABLES.parse(chunk.text)[0].type == "table_open" for chunk in chunks)


def test_sentences_end_neither_in_abbreviations_nor_urls_nor_inline_code() -> None:
    text = (
        "Use e.g. pip, i.e. a manager. See https://x.y/a.b?x=1. Then run `a. b` now. "
        "Dr. Who wrote v1.2.3."
    )
    assert [text[start:end] for start, end in sentences(text, "en")] == [
        "Use e.g. pip, i.e. a manager. ",
        "See https://x.y/a.b?x=1. ",
        "Then run `a. b` now. ",
        "Dr. Who wrote v1.2.3.",
    ]
    assert " ".join(chunk.text for chunk in chunks_of(text)) == text


def test_chinese_is_cut_behind_its_own_full_stops() -> None:
    text = "这是中文。如何安装？请看下面！" * 20
    config = ChunkConfig(full_page_words=0, max_words=30, overlap_chars=0)
    chunks = chunks_of(text, config, lang="zh")
    assert len(chunks) == 4
    assert "".join(chunk.text for chunk in chunks) == text
    assert all(chunk.text[-1] in "。？！" and chunk.n_words > 1 for chunk in chunks)


@pytest.mark.parametrize("blank_after", [None, 7])
def test_every_part_of_a_large_fence_is_a_fence(blank_after: int | None) -> None:
    code = [f"a{number} b c" for number in range(100)]
    lines = [
        line + "\n" * (1 + (blank_after is not None and number % blank_after == 0))
        for number, line in enumerate(code, start=1)
    ]
    config = ChunkConfig(full_page_words=0, max_words=40, hard_factor=1)
    chunks = chunks_of(f"```py\n{''.join(lines)}```\n", config)
    assert len(chunks) >= 8
    assert all(re.fullmatch(r"```py\n(.+\n+)+```", chunk.text) for chunk in chunks)
    assert all(chunk.n_words <= config.hard_max_words for chunk in chunks)
    inner = [chunk.text.splitlines()[1:-1] for chunk in chunks]
    assert [line for part in inner for line in part if line] == code
    if blank_after:
        assert all(len(part) % blank_after == 0 for part in inner[:-1])


def test_a_line_of_code_longer_than_a_chunk_is_cut_at_spaces() -> None:
    config = ChunkConfig(full_page_words=0, max_words=40, hard_factor=1)
    chunks = chunks_of("```py\n" + "ab cd " * 83 + "\n```\n", config)
    assert len(chunks) == 5
    assert all(chunk.n_words <= 40 for chunk in chunks)
    code = "".join(chunk.text.removeprefix("```py\n").removesuffix("\n```") for chunk in chunks)
    assert code == "ab cd " * 83


def test_a_token_without_a_place_to_cut_stays_whole() -> None:
    (chunk,) = chunks_of(f"```py\n{'x' * 500}\n```\n", SMALL)
    assert chunk.parts == 1

"""Pages with too many lines to be parsed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qindex_pipeline.chunking import ChunkConfig, chunk_page, normalise
from qindex_pipeline.chunking.plain import MOST_LINES, plain_blocks
from qindex_pipeline.chunking.source import Source
from qindex_pipeline_tests.chunking.generated import ANY_TEXT, MARKDOWN
from qindex_pipeline_tests.chunking.pages import page

LONG = "\n" * MOST_LINES
WORDS = "One two three four five six seven eight nine ten."


def test_a_page_of_very_many_lines_is_cut_at_blank_lines_and_says_so() -> None:
    config = ChunkConfig(full_page_words=0, max_words=12, min_words=0)
    chunks = chunk_page(page(f"# A\n{WORDS}\n\n```py\n# b\n\nc\n```\n{WORDS}{LONG}"), config)
    assert [(chunk.kind, chunk.heading_path) for chunk in chunks] == [("plain", ())] * 3
    assert [chunk.text for chunk in chunks] == [
        f"# A\n{WORDS}",
        "```py\n# b\n\nc\n```",
        WORDS,
    ]
    assert [chunk.has_code for chunk in chunks] == [False, True, False]


def test_a_page_of_just_as_many_lines_as_may_be_is_parsed() -> None:
    (chunk,) = chunk_page(page(f"# A\n\nx{LONG[3:]}"), ChunkConfig(full_page_words=0))
    assert (chunk.kind, chunk.heading_path) == ("section", ("A",))


def test_code_over_the_limit_is_cut_into_fences() -> None:
    code = "a b c d e\n" * 20
    config = ChunkConfig(full_page_words=0, max_words=12)
    chunks = chunk_page(page(f"```py\n{code}```\n{LONG}"), config)
    assert [chunk.parts for chunk in chunks] == [3, 3, 3]
    assert all(chunk.text.startswith("```py\n") for chunk in chunks)
    assert all(chunk.text.endswith("\n```") for chunk in chunks)


def test_an_open_fence_is_closed_for_the_reader_only() -> None:
    (chunk,) = chunk_page(page(f"```py\nx{LONG}"), ChunkConfig(full_page_words=0))
    assert chunk.text == "```py\nx"
    assert chunk.text_for_llm.endswith("```py\nx\n```")


def test_a_short_text_of_many_lines_is_a_full_page() -> None:
    (chunk,) = chunk_page(page(f"a{LONG}b"), ChunkConfig())
    assert chunk.kind == "full_page"


@pytest.mark.parametrize(
    ("markdown", "fences"),
    [
        ("```\na\n```", [(0, 3)]),
        ("a\n````\n```\n````\nb", [(1, 4)]),
        ("- ```py\n  x\n  ```\n- b", [(0, 3)]),
        ("> ~~~\n> x\n> ~~~~", [(0, 3)]),
        ("```x``` y\n\n`z`", []),
        ("```\na\n\nb", [(0, 4)]),
        ("~~~\n```\n~~~\n```\n```", [(0, 3), (3, 5)]),
    ],
)
def test_fences_are_found_by_their_lines(markdown: str, fences: list[tuple[int, int]]) -> None:
    found = plain_blocks(Source(markdown))
    assert [(b.first_line, b.end_line) for b in found if b.kind == "fence"] == fences


@settings(max_examples=60, deadline=None)
@given(st.one_of(MARKDOWN, ANY_TEXT))
def test_every_line_with_text_is_in_one_block(markdown: str) -> None:
    source = normalise(markdown)
    lines = [n for b in plain_blocks(source) for n in range(b.first_line, b.end_line)]
    assert lines == sorted(set(lines))
    assert all(n in lines for n, line in enumerate(source.lines) if line.strip())

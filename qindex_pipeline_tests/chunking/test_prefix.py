"""What the model reads before the text of a chunk."""

import pytest

from qindex_pipeline.chunking import ChunkConfig, chunk_page
from qindex_pipeline_tests.chunking.pages import SMALL, page

LONG = "One two three four five six seven eight."


def test_page_summary_and_section_stand_before_the_text() -> None:
    markdown = f"# Guide\n\n## Install\n\n### Linux\n\n{LONG}\n\n{LONG}\n"
    _, second = chunk_page(page(markdown, label="The guide", summary="All of it."), SMALL)
    assert second.text_for_llm == (
        "Source: https://docs.example.com/page\n"
        "Page: The guide / All of it.\n"
        "Section: Guide > Install > Linux\n"
        f"\n{LONG}"
    )


def test_a_heading_that_the_text_shows_is_not_named_again() -> None:
    first, second = chunk_page(page(f"# Guide\n\n{LONG}\n\n## Install\n\n{LONG}\n"), SMALL)
    assert "Section:" not in first.text_for_llm
    assert "Section: Guide\n\n## Install\n\n" in second.text_for_llm


def test_the_page_label_is_not_named_again_as_a_section() -> None:
    markdown = f"# Guide\n\n## Install\n\n{LONG}\n\n{LONG}\n"
    *_, last = chunk_page(page(markdown, label="Guide"), SMALL)
    assert last.heading_path == ("Guide", "Install")
    assert "Page: Guide\nSection: Install\n\n" in last.text_for_llm


@pytest.mark.parametrize(
    ("label", "summary", "line"),
    [("L", "", "Page: L\n"), ("", "S", "Page: S\n"), ("L\nl", " S\ts ", "Page: L l / S s\n")],
)
def test_the_page_line_holds_what_there_is(label: str, summary: str, line: str) -> None:
    (chunk,) = chunk_page(page("Text.", label=label, summary=summary), SMALL)
    assert line in chunk.text_for_llm


def test_lines_without_a_value_are_left_out() -> None:
    (chunk,) = chunk_page(page("Text.", label=""), SMALL)
    assert chunk.text_for_llm == "Source: https://docs.example.com/page\n\nText."


@pytest.mark.parametrize("full_page_words", [0, 500])
def test_a_summary_with_which_the_text_begins_is_not_said_twice(full_page_words: int) -> None:
    markdown = "# Guide\n\nRead *this* [page](https://a.b/c) first. Then go on.\n"
    config = ChunkConfig(full_page_words=full_page_words)
    (chunk,) = chunk_page(page(markdown, summary="Read this page first."), config)
    assert "Page: Label\n" in chunk.text_for_llm
    (other,) = chunk_page(page(markdown, summary="Something else."), config)
    assert "Page: Label / Something else.\n" in other.text_for_llm


def test_the_text_itself_has_no_prefix() -> None:
    (chunk,) = chunk_page(page("Text.", summary="Summary."), SMALL)
    assert chunk.text == "Text."

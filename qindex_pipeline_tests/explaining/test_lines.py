"""Lines for people: no wider than a page, and without what steers a terminal."""

from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.explaining.text.lines import WIDTH, address, cut, grid, wrapped


@given(st.text(), st.integers(2, 60))
def test_a_cut_text_is_one_line_that_fits(text: str, width: int) -> None:
    line = cut(text, width)
    assert len(line) <= width
    assert not {"\n", "\x1b", "\x9b"} & set(line)


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=300)), max_size=5))
def test_a_grid_fits_the_page_and_its_columns_stand_below_each_other(
    rows: list[tuple[str, str]],
) -> None:
    lines = list(grid(("first", "second"), rows))
    assert len(lines) == len(rows) + 1
    assert all(len(line) <= WIDTH for line in lines)


def test_wrapped_lines_keep_their_indent_and_never_break_an_address() -> None:
    url = "http://docs.example.com/" + "x" * 100
    lines = wrapped(f"see {url} for more", "    ", "Page ")
    assert lines == ["Page see", f"    {url}", "    for more"]


def test_an_address_is_shown_without_its_host() -> None:
    assert address("http://docs.example.com/a?b=1", "top") == "/a?b=1#top"
    assert address("http://docs.example.com", None) == "/"

"""Which anchor a chunk is cited with."""

from typing import Any

from qindex_pipeline.chunking import ChunkConfig, chunk_page
from qindex_pipeline_tests.chunking.pages import SMALL, page

LONG = "One two three four five six seven eight nine ten."


def heading(level: int, text: str, anchor: str | None) -> dict[str, Any]:
    return {"level": level, "text": text, "anchor": anchor}


def anchors(markdown: str, *headings: dict[str, Any]) -> list[str | None]:
    return [chunk.anchor for chunk in chunk_page(page(markdown, headings=headings), SMALL)]


def test_a_chunk_has_the_anchor_of_the_nearest_heading_at_or_above_it() -> None:
    markdown = f"Intro text.\n\n# A\n\n{LONG}\n\n{LONG}\n\n#### *B* & `c`\n\n{LONG}\n\n{LONG}\n"
    found = anchors(markdown, heading(1, "A", "a"), heading(4, "B & c¶", "b"))
    assert found == [None, "a", "a", "b", "b"]


def test_a_heading_without_text_of_its_own_gives_way_to_the_one_below() -> None:
    markdown = "# A\n\n## B\n\nText.\n"
    assert anchors(markdown, heading(1, "A", "a"), heading(2, "B", "b")) == ["b"]


def test_a_heading_without_a_partner_or_an_anchor_takes_the_one_above_it() -> None:
    markdown = "# A\n\na.\n\n## New\n\nb.\n\n## Plain\n\nc.\n\n# Other\n\nd.\n"
    found = anchors(markdown, heading(1, "A", "a"), heading(2, "Plain", None))
    assert found == ["a", "a", "a", None]


def test_repeated_headings_are_told_apart_by_their_order() -> None:
    markdown = "# A\n\n## Example\n\na.\n\n# B\n\n## Example\n\nb.\n"
    page_headings = [
        heading(1, "A", "a"),
        heading(2, "Example", "example"),
        heading(1, "B", "b"),
        heading(2, "Example", "example-1"),
    ]
    assert anchors(markdown, *page_headings) == ["example", "example-1"]
    # The conversion dropped the first one: the second keeps its own.
    dropped = "# A\n\na.\n\n# B\n\n## Example\n\nb.\n"
    assert anchors(dropped, *page_headings) == ["a", "example-1"]
    # The markdown has one more than the HTML: it takes none from behind its neighbour.
    assert anchors(markdown, *page_headings[:3]) == ["example", "b"]


def test_level_counts_in_the_alignment() -> None:
    markdown = "## Same\n\na.\n\n# Same\n\nb.\n"
    assert anchors(markdown, heading(1, "Same", "one"), heading(2, "Same", "two")) == ["two", "one"]


def test_a_full_page_is_cited_without_anchor() -> None:
    whole = page("# A\n\nText.", headings=[heading(1, "A", "a")])
    (chunk,) = chunk_page(whole, ChunkConfig())
    assert (chunk.kind, chunk.anchor, chunk.heading_path) == ("full_page", None, ())

"""What the check of a site's chunks finds."""

from dataclasses import replace
from typing import Any

from qindex_pipeline.chunking import Chunk, ChunkConfig
from qindex_pipeline.chunking.problems import problems
from qindex_pipeline.chunking.stage import chunk_pages

LONG = "One two three four five six seven eight nine ten."
MARKDOWN = f"# A\n\n{LONG}\n\n```py\nx = 1\n```\n\n## B\n\n{LONG}\n\n" + "- item words\n" * 40
CONFIG = ChunkConfig(full_page_words=0, max_words=12, min_words=0)


def row(markdown: str | None, number: int = 0) -> dict[str, Any]:
    url = f"https://docs.example.com/{number}"
    empty = dict.fromkeys(
        ("canonical_url", "final_url", "h1", "title", "page_summary", "headings", "lang")
    )
    return {**empty, "site": "s", "page_id": f"p{number}", "url": url, "markdown": markdown}


PAGES = [row(MARKDOWN), row(None, 1), row(f"{MARKDOWN}\n\n~~~\nleft open\n", 2)]


def chunks() -> list[Chunk]:
    return chunk_pages(PAGES, CONFIG)


def test_there_are_none_in_what_the_chunker_makes() -> None:
    assert chunks()
    assert problems(PAGES, chunks()) == []


def test_a_missing_chunk_is_found_before_between_and_behind_others() -> None:
    whole = chunks()
    first = [made for made in whole if made.page_id == "p0"]
    for missing in (first[0], first[1], first[-1]):
        (problem,) = problems(PAGES, [made for made in whole if made is not missing])
        assert problem.startswith("https://docs.example.com/0: ")
        assert "in no chunk" in problem
        assert repr(missing.text.split("\n")[0])[1:-1] in problem


def test_a_page_without_any_chunk_is_found() -> None:
    (problem,) = problems(PAGES, [made for made in chunks() if made.page_id != "p2"])
    assert problem.startswith("https://docs.example.com/2: text behind its last chunk")


def test_a_line_that_a_part_left_out_is_found() -> None:
    whole = chunks()
    at = next(index for index, made in enumerate(whole) if made.parts > 1)
    whole[at] = replace(whole[at], text=whole[at].text.replace("item", "thing"))
    (problem,) = problems(PAGES, whole)
    assert whole[at].chunk_id in problem
    assert "'- item words'" in problem


def test_a_fence_that_is_not_closed_is_found() -> None:
    whole = chunks()
    at = next(index for index, made in enumerate(whole) if made.has_code)
    whole[at] = replace(whole[at], text_for_llm=whole[at].text_for_llm.rstrip("`"))
    (problem,) = problems(PAGES, whole)
    assert whole[at].chunk_id in problem
    assert "fence" in problem

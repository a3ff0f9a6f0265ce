from datetime import UTC, datetime

import pytest

from qindex_pipeline.crawl.extract.head import Head
from qindex_pipeline.crawl.labels import label_pages, title_of
from qindex_pipeline.crawl.outcomes import Outcome, State
from qindex_pipeline.crawl.pages import Page


def page(title: str | None, h1: str | None = None, url: str = "https://x.org/a%20b/") -> Page:
    return Page(
        site="s",
        url=url,
        page_id="0",
        depth=0,
        discovered_by="start",
        outcome=Outcome.OK,
        state=State.PRESENT,
        elapsed_ms=1,
        fetched_at=datetime(2024, 1, 1, tzinfo=UTC),
        title_raw=title,
        headings=[{"level": 1, "text": h1, "anchor": None}] if h1 else [],
        markdown="text",
    )


@pytest.mark.parametrize(
    ("titles", "expected"),
    [
        (["A | Docs", "B | Docs", "Docs"], ["A", "B", "Docs"]),
        (["A — Docs", "B — Docs"], ["A", "B"]),
        (["A - x | Docs", "B - x | Docs", "C | Docs"], ["A", "B", "C"]),
        (["Mod::A :: Docs", "Mod::B :: Docs"], ["Mod::A", "Mod::B"]),
        (["A | Docs"], ["A | Docs"]),
        (["A - one", "B - two", "C - three"], ["A - one", "B - two", "C - three"]),
        (["well-known", "un-known"], ["well-known", "un-known"]),
        (["| Docs", "A | Docs", "B | Docs"], ["| Docs", "A", "B"]),
    ],
)
def test_the_suffix_that_half_of_the_titles_share_is_the_sites(
    titles: list[str], expected: list[str]
) -> None:
    assert [row.title for row in label_pages([page(title) for title in titles])] == expected


@pytest.mark.parametrize(("pages", "kept"), [(4, "Site"), (5, None)])
def test_an_h1_on_many_pages_is_the_sites_name(pages: int, kept: str | None) -> None:
    rows = [page("T", "Site"), page("T", "Site"), *(page("T", f"H{n}") for n in range(pages - 2))]
    assert [row.h1 for row in label_pages(rows)][:2] == [kept, kept]


def test_a_page_without_title_is_named_by_its_h1_then_by_its_address() -> None:
    rows = label_pages([page(None, "Heading"), page(None), page(None, url="https://x.org/")])
    assert [row.title for row in rows] == ["Heading", "a b", "x.org"]


@pytest.mark.parametrize(
    ("title", "og_title", "expected"),
    [
        ("Install · Lantern", "Install", "Install"),
        ("Install · Lantern", "Lantern", "Install · Lantern"),
        ("Lantern at a glance", "Lantern", "Lantern at a glance"),
        ("Install", None, "Install"),
        (None, "Install", "Install"),
        (None, None, None),
    ],
)
def test_the_short_title_of_a_page_counts_where_the_long_one_confirms_it(
    title: str | None, og_title: str | None, expected: str | None
) -> None:
    assert title_of(Head("https://x.org/", title_raw=title, og_title=og_title)) == expected

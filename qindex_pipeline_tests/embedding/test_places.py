"""Places: which page stands above a chunk, and what is said of it."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.embedding.places import places
from qindex_pipeline_tests.conftest import chunk_row

HOST = "http://docs.example.com"
SITE = {"/": "Lantern", "/guide/": "Guide", "/guide/wicks/": "Wicks"}


def where(titles: Mapping[str, str], path: str) -> str:
    """The place of the page at `path` on a site of these pages."""
    chunks = [chunk_row(at, url=HOST + at, title=title) for at, title in titles.items()]
    wanted = next(chunk["chunk_id"] for chunk in chunks if chunk["url"] == HOST + path)
    return places(chunks)[wanted]


def test_the_page_above_is_named_first() -> None:
    assert where(SITE, "/guide/wicks/") == "Guide > Wicks > Setup"


def test_the_page_above_all_names_the_site_and_is_left_out() -> None:
    assert where(SITE, "/guide/") == "Guide > Setup"
    below = {f"/v2{path}": title for path, title in SITE.items()}
    assert where(below, "/v2/guide/") == "Guide > Setup"
    assert where(below, "/v2/guide/wicks/") == "Guide > Wicks > Setup"


def test_only_the_page_directly_above_is_named() -> None:
    titles = SITE | {"/guide/wicks/trim/": "Trimming", "/oil/lamps/brim/": "Brim", "/oil/": "Oil"}
    assert where(titles, "/guide/wicks/trim/") == "Wicks > Trimming > Setup"
    assert where(titles, "/oil/lamps/brim/") == "Brim > Setup"


@pytest.mark.parametrize("above", ["/guide", "/guide/", "/guide.html", "/guide/index.html"])
@pytest.mark.parametrize("below", ["/guide/wicks", "/guide/wicks.html", "/guide/wicks/index.htm"])
def test_a_page_is_above_whatever_the_addresses_end_in(above: str, below: str) -> None:
    titles = {"/other.html": "Other", above: "Guide", below: "Wicks"}
    assert where(titles, below) == "Guide > Wicks > Setup"


@pytest.mark.parametrize("title", ["", "  ", "Wicks", "All about a wick"])
def test_a_title_that_says_nothing_new_is_not_said(title: str) -> None:
    assert where(SITE | {"/guide/": title}, "/guide/wicks/") == "Wicks > Setup"


def test_small_words_in_both_titles_name_nothing() -> None:
    titles = SITE | {"/guide/": "The guide", "/guide/wicks/": "The wicks"}
    assert where(titles, "/guide/wicks/") == "The guide > The wicks > Setup"


def test_a_page_beside_another_is_not_above_it() -> None:
    titles = {"/git.html": "git", "/git-add.html": "git-add"}
    assert where(titles, "/git-add.html") == "git-add > Setup"


def test_no_chunks_have_no_places() -> None:
    assert places([]) == {}


PATH = st.lists(st.sampled_from(["a", "b", "index.html", "c.html"]), max_size=4).map("/".join)


@given(pages=st.dictionaries(PATH, st.sampled_from(["", "Lamp", "Oil", "Wick"]), min_size=1))
def test_every_chunk_has_a_place_that_ends_in_its_own(pages: Mapping[str, str]) -> None:
    chunks = [
        chunk_row(path, url=f"{HOST}/{path}", title=title, heading_path=["Trimming"])
        for path, title in pages.items()
    ]
    found = places(chunks)
    assert set(found) == {chunk["chunk_id"] for chunk in chunks}
    for chunk in chunks:
        assert found[chunk["chunk_id"]].endswith(f"{chunk['title']} > Trimming".removeprefix(" > "))
        assert found[chunk["chunk_id"]].count(" > ") <= 2

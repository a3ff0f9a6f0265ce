"""What differs between two states of a site's pages, whatever they are."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from qindex_pipeline.changes.difference import Count, Difference, compare
from qindex_pipeline.changes.pages import PublishedPage, published_pages
from qindex_pipeline.changes.reports import Tables
from qindex_pipeline_tests.changes.rows import (
    DAY,
    chunks_of,
    gone_row,
    page_row,
    site,
    tables,
    unknown_row,
    url_of,
)
from qindex_pipeline_tests.conftest import NOON, question_row


def pages_of(found: Tables, before: list[PublishedPage] | None = None) -> list[PublishedPage]:
    return published_pages(found.raw_pages, found.chunks, found.questions, before or [])


def difference(before: Tables, now: Tables) -> Difference:
    earlier = pages_of(before)
    return compare(earlier, pages_of(now, earlier), now.raw_pages)


def titles(pages: Any) -> list[str]:
    return [page.title for page in pages]


def test_the_same_tables_differ_in_nothing() -> None:
    found = site("guide", "oil")
    same = difference(found, found)
    assert not same.is_any
    assert (same.chunks, same.accepted) == (Count(2, 0, 0), Count(2, 0, 0))


def test_a_page_is_added_changed_or_gone() -> None:
    now = site("guide", oil="another text", rope="rope")
    now = tables([*now.raw_pages, gone_row("storm")], now.chunks)
    found = difference(site("guide", "oil", "storm"), now)
    assert (titles(found.added), titles(found.changed)) == (["Rope"], ["Oil"])
    (gone,) = found.gone
    assert (gone.url, gone.title) == (url_of("storm"), "Storm")
    assert (gone.outcome, gone.status) == ("http_404", 404)
    assert found.chunks == Count(3, 2, 2)
    assert found.is_any


def test_a_changed_page_names_the_sections_that_came_and_went_in_their_order() -> None:
    old, new = page_row("guide", "old"), page_row("guide", "new")
    before = tables([old], chunks_of(old, "Oil=burns", "Glass=breaks", "Rope=holds"))
    now = tables([new], chunks_of(new, "Wick=glows", "Oil=burns brightly", "Rope=holds"))
    (page,) = difference(before, now).changed
    assert (page.chunks_added, page.chunks_removed) == (2, 2)
    assert page.sections == ["Wick", "Oil", "Glass"]


@pytest.mark.parametrize(
    "values",
    [
        {"outcome": "not_modified", "status": 304},
        {"fetched_at": NOON + DAY},
        {"content_hash": "of the same words with other line ends"},
    ],
)
def test_what_changes_outside_of_a_pages_chunks_is_no_change(values: dict[str, Any]) -> None:
    row = page_row("guide")
    chunks = chunks_of(row, "text")
    assert not difference(tables([row], chunks), tables([row | values], chunks)).is_any


def test_other_sizes_of_chunks_change_no_page() -> None:
    row = page_row("guide")
    found = difference(
        tables([row], chunks_of(row, "a b")), tables([row], chunks_of(row, "a", "b"))
    )
    assert found.changed == []
    assert (found.chunks, found.is_any) == (Count(2, 2, 1), True)


def test_another_title_is_told_with_the_old_one() -> None:
    row = page_row("guide")
    now = row | {"h1": "Handbook"}
    (page,) = difference(tables([row]), tables([now])).changed
    assert (page.title, page.old_title, page.old_url) == ("Handbook", "Guide", None)


def moved(name: str, **values: Any) -> dict[str, Any]:
    """A page that was asked at its old address, which leads to `name`."""
    return page_row(name, "guide", url=url_of("guide"), **values)


MOVES = {
    "the old address redirects": [moved("manual")],
    "and is refused, for the new one is stored": [
        page_row("manual", "new words"),
        gone_row("guide", "duplicate_url", page_id=page_row("manual")["page_id"]),
    ],
    "the content is the same": [page_row("manual", "guide"), gone_row("guide")],
}


@pytest.mark.parametrize("rows", MOVES.values(), ids=MOVES)
def test_a_page_that_moved_is_neither_added_nor_gone(rows: list[dict[str, Any]]) -> None:
    found = difference(site("guide"), tables(rows))
    assert (found.added, found.gone) == ([], [])
    (page,) = found.changed
    assert (page.old_url, page.url) == (url_of("guide"), url_of("manual"))


def test_an_address_that_leads_to_a_page_which_was_there_already_is_gone() -> None:
    manual = page_row("manual")
    leads = gone_row("guide", "duplicate_url", page_id=manual["page_id"], status=200)
    found = difference(site("guide", "manual"), tables([manual, leads]))
    assert [(page.title, page.outcome) for page in found.gone] == [("Guide", "duplicate_url")]
    taken_over = difference(site("guide", "manual"), tables([manual | {"url": url_of("guide")}]))
    assert [(page.title, page.outcome) for page in taken_over.gone] == [("Guide", "duplicate_url")]


def test_a_page_that_no_row_speaks_of_is_gone_without_a_reason() -> None:
    (page,) = difference(site("guide", "oil"), site("guide")).gone
    assert (page.title, page.outcome, page.status) == ("Oil", None, None)


def test_a_page_that_fails_keeps_the_date_of_its_content_and_of_its_first_failure() -> None:
    first = pages_of(tables([page_row("guide")]))
    second = pages_of(tables([unknown_row("guide", fetched_at=NOON + DAY)]), first)
    rows = [unknown_row("guide", outcome="read_timeout", status=None, fetched_at=NOON + 2 * DAY)]
    third = pages_of(tables(rows), second)
    assert second == third  # a page that fails once more is nothing new
    found = compare(second, third, rows)
    (page,) = found.unknown
    assert (page.since, page.read_at, page.is_new) == (NOON + DAY, NOON, False)
    assert (page.outcome, page.status) == ("read_timeout", None)
    assert not found.is_any
    assert compare(first, second, rows).is_any
    fourth = [page_row("guide", fetched_at=NOON + 3 * DAY)]
    recovered = compare(third, pages_of(tables(fourth), third), fourth)
    assert (titles(recovered.recovered), recovered.unknown) == (["Guide"], [])
    assert recovered.is_any


def test_content_that_was_read_and_never_published_has_no_date() -> None:
    first = pages_of(tables([page_row("guide", "old")]))
    (page,) = pages_of(tables([unknown_row("guide", "new")]), first)
    assert page.read_at is None


def test_a_verdict_that_turns_is_a_change_of_the_accepted_questions_alone() -> None:
    row = page_row("guide")
    (chunk,) = chunks_of(row, "text")
    yes, no = question_row(chunk, "Yes?"), question_row(chunk, "No?", accepted=False)
    turned = [yes | {"accepted": False}, no | {"accepted": True}]
    found = difference(tables([row], [chunk], [yes, no]), tables([row], [chunk], turned))
    assert (found.proposed, found.accepted) == (Count(2, 0, 0), Count(1, 1, 1))
    assert found.is_any


def test_a_question_for_a_page_that_the_site_does_not_have_belongs_to_no_page() -> None:
    row = page_row("guide")
    (chunk,) = chunks_of(row, "text")
    nowhere = question_row(chunk, "Where?", chunk_id="", accepted=False)
    (page,) = pages_of(tables([row], [chunk], [nowhere]))
    assert page.proposed == frozenset()


# --- whatever the pages are -----------------------------------------------------------------

STATES = st.dictionaries(
    st.sampled_from("abcdef"),
    st.tuples(
        st.sampled_from("xyz"), st.booleans(), st.lists(st.sampled_from("pqrs"), unique=True)
    ),
)
"""Pages by name: content, whether they fail, sections."""


def state(drawn: dict[str, tuple[str, bool, list[str]]]) -> Tables:
    rows, chunks = [], []
    for name, (content, fails, sections) in drawn.items():
        row = (unknown_row if fails else page_row)(name, name + content)
        rows.append(row)
        chunks += chunks_of(row, *(f"{section}={content}" for section in sections))
    return tables(rows, chunks)


@hypothesis_settings(max_examples=60, deadline=None)
@given(before=STATES, now=STATES)
def test_every_page_is_accounted_for_once(before: Any, now: Any) -> None:
    old, new = state(before), state(now)
    found = difference(old, new)
    assert {page.url for page in found.added} == {url_of(name) for name in now.keys() - before}
    assert {page.url for page in found.gone} == {url_of(name) for name in before.keys() - now}
    both = {url_of(name) for name in before.keys() & now.keys()}
    assert {page.url for page in found.changed} <= both
    assert {page.url for page in found.unknown} == {
        url_of(name) for name, (_, fails, _) in now.items() if fails
    }
    for count, name in ((found.chunks, "chunks"), (found.accepted, "questions")):
        earlier = len(getattr(old, name))
        assert earlier + count.added - count.removed == count.total == len(getattr(new, name))


@hypothesis_settings(max_examples=60, deadline=None)
@given(before=STATES, now=STATES)
def test_the_way_back_turns_every_count_around(before: Any, now: Any) -> None:
    there = difference(state(before), state(now))
    back = difference(state(now), state(before))
    assert {page.url for page in there.added} == {page.url for page in back.gone}
    assert {page.url for page in there.changed} == {page.url for page in back.changed}
    assert (there.chunks.added, there.chunks.removed) == (back.chunks.removed, back.chunks.added)
    assert not difference(state(now), state(now)).is_any


@hypothesis_settings(max_examples=30, deadline=None)
@given(drawn=STATES)
def test_a_page_comes_back_from_its_row_as_it_went_in(drawn: Any) -> None:
    for page in pages_of(state(drawn)):
        assert PublishedPage.from_row(page.to_row("docs", "id")) == page

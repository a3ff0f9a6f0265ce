"""Reports night after night: what is told once, what never, and what a dead run leaves."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from qindex_pipeline.changes.reports import KEPT, Calls, report_changes
from qindex_pipeline.changes.stored import read_memory, stored_report, write_report
from qindex_pipeline.errors import WorkError
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import CHANGE_REPORT, PUBLISHED_PAGES, Table
from qindex_pipeline_tests.changes.rows import (
    DAY,
    SITE,
    Nights,
    chunks_of,
    page_row,
    site,
    tables,
    unknown_row,
)
from qindex_pipeline_tests.conftest import NOON, Row, question_row

PAID = Calls(runs=1, llm_calls=3, tokens_in=300, tokens_out=30, cost_usd=0.5)


def added(row: Any) -> list[str]:
    return [page["title"] for page in row["added"]]


def gone(row: Any) -> list[str]:
    return [page["title"] for page in row["gone"]]


# --- night after night ----------------------------------------------------------------------


def test_a_first_report_lists_no_page_as_new() -> None:
    first = Nights().night(site("guide", "oil"), PAID)
    assert first.is_new
    assert (first.row["is_first"], first.row["pages"], first.row["chunks"]) == (True, 2, 2)
    assert (first.row["added"], first.row["chunks_added"], first.row["accepted_added"]) == (
        [],
        0,
        0,
    )
    assert (first.row["since"], first.row["cost_usd"]) == (None, 0.5)


def test_an_unchanged_night_adds_no_report_and_leaves_the_pages_as_they_were() -> None:
    nights = Nights()
    nights.night(site("guide"))
    reports, pages = nights.reports, nights.pages
    again = nights.night(site("guide"))
    assert not again.is_new
    assert (again.reports, again.pages) == (reports, pages)
    assert again.row["since"] == reports[0]["reported_at"]


def test_each_report_tells_what_changed_since_the_one_before() -> None:
    nights = Nights()
    nights.night(site("guide"))
    nights.night(site("guide", "oil"))
    nights.night(site("guide", "oil"))
    row = nights.night(site("oil")).row
    assert (added(row), gone(row)) == ([], ["Guide"])
    assert [added(report) for report in nights.reports] == [[], ["Oil"], []]
    assert row["since"] == nights.reports[1]["reported_at"]


def test_nights_without_a_report_are_told_by_the_next_one() -> None:
    nights = Nights()
    nights.night(site("guide"))
    # Two runs crawled, and failed before they published: nobody asked for a report.
    row = nights.night(site("oil", "rope")).row
    assert (added(row), gone(row)) == (["Oil", "Rope"], ["Guide"])


def test_only_the_last_reports_are_kept() -> None:
    nights = Nights()
    for number in range(KEPT + 3):
        nights.night(site(guide=str(number)))
    assert len(nights.reports) == KEPT
    assert nights.reports[-1]["since"] == nights.reports[-2]["reported_at"]
    assert not nights.night(site(guide=str(KEPT + 2))).is_new


# --- a run that dies between the two tables -------------------------------------------------


def test_the_run_after_a_dead_one_tells_the_same_once() -> None:
    nights = Nights()
    nights.night(site("guide"))
    dead = nights.night(site("guide", "oil"), PAID, dies=True)
    again = nights.night(site("guide", "oil"))
    assert [added(report) for report in nights.reports] == [[], ["Oil"]]
    assert again.row["report_id"] == dead.row["report_id"]
    assert (again.row["cost_usd"], again.row["llm_calls"], again.row["runs"]) == (0.5, 3, 2)
    assert not nights.night(site("guide", "oil")).is_new


def test_the_run_after_a_dead_one_tells_the_whole_way() -> None:
    nights = Nights()
    nights.night(site("guide"))
    for _ in range(2):
        nights.night(site("guide", "oil"), PAID, dies=True)
    row = nights.night(site("oil", "rope")).row
    assert (added(row), gone(row)) == (["Oil", "Rope"], ["Guide"])
    assert len(nights.reports) == 2
    assert row["since"] == nights.reports[0]["reported_at"]
    assert row["cost_usd"] == 1.0


def test_a_dead_run_whose_changes_were_taken_back_leaves_no_report() -> None:
    nights = Nights()
    nights.night(site("guide"))
    nights.night(site("guide", "oil"), dies=True)
    back = nights.night(site("guide"))
    assert not back.is_new
    assert len(nights.reports) == 1


def test_a_first_run_that_dies_is_followed_by_a_first_report() -> None:
    nights = Nights()
    nights.night(site("guide"), PAID, dies=True)
    row = nights.night(site("guide", "oil")).row
    assert (row["is_first"], row["pages"], row["cost_usd"]) == (True, 2, 0.5)
    assert len(nights.reports) == 1


def test_pages_that_somebody_deleted_begin_anew_behind_the_old_reports() -> None:
    nights = Nights()
    nights.night(site("guide"))
    nights.night(site("guide", "oil"))
    nights.pages = ()
    assert nights.night(site("guide", "oil", "rope")).row["is_first"]
    assert [report["is_first"] for report in nights.reports] == [True, False, True]


def test_reports_that_somebody_deleted_lose_the_past_alone() -> None:
    nights = Nights()
    nights.night(site("guide"))
    nights.reports = ()
    assert not nights.night(site("guide")).is_new
    row = nights.night(site("guide", "oil")).row
    assert (row["is_first"], added(row), row["since"]) == (False, ["Oil"], None)


class DyingStore(ParquetStore):
    """A store whose disk is full when the pages are written."""

    def write(self, table: Table, site: str, rows: Any) -> Any:
        if table is PUBLISHED_PAGES:
            raise WorkError("the disk is full")
        return super().write(table, site, rows)


def test_what_a_dead_run_left_on_disk_is_mended_and_an_unchanged_run_writes_nothing(
    tmp_path: Path,
) -> None:
    store = ParquetStore(str(tmp_path))

    def night(found: Any, number: int, to: ParquetStore = store) -> None:
        memory = read_memory(store, SITE)
        reported = report_changes(SITE, found, memory, PAID, NOON + number * DAY)
        write_report(to, SITE, memory, reported)

    def files() -> list[bytes]:
        paths = [Path(store.path(table, SITE)) for table in (CHANGE_REPORT, PUBLISHED_PAGES)]
        return [path.read_bytes() for path in paths]

    night(site("guide"), 1)
    with pytest.raises(WorkError):
        night(site("guide", "oil"), 2, DyingStore(str(tmp_path)))
    night(site("guide", "oil", "rope"), 3)
    rows = store.read(CHANGE_REPORT, SITE).to_pylist()
    assert [added(row) for row in rows] == [[], ["Oil", "Rope"]]
    assert stored_report(store, SITE, rows[1]["report_id"]) == rows[1]
    assert stored_report(store, SITE, "gone") is None
    before = files()
    night(site("guide", "oil", "rope"), 4)
    assert files() == before


NIGHTS = st.lists(
    st.tuples(st.sets(st.sampled_from("abcd"), min_size=1), st.booleans()), min_size=1, max_size=7
)
"""The pages of each night, and whether its run dies."""


@hypothesis_settings(max_examples=60, deadline=None)
@given(drawn=NIGHTS)
def test_the_reports_lead_from_the_first_pages_to_the_last_whatever_dies(drawn: Any) -> None:
    nights = Nights()
    for names, dies in drawn:
        nights.night(site(*sorted(names)), PAID, dies=dies)
    last = sorted(drawn[-1][0])
    nights.night(site(*last), PAID)
    first, *others = nights.reports
    found = set(starting_pages(drawn, last))
    assert first["is_first"]
    for row in others:
        found = (found | {title.lower() for title in added(row)}) - {
            title.lower() for title in gone(row)
        }
    assert found == set(last)
    assert [page.title.lower() for page in nights.published()] == last


def starting_pages(drawn: Any, last: list[str]) -> list[str]:
    """What the first report that stands counted: of the first run that did not die."""
    return next((sorted(names) for names, dies in drawn if not dies), last)


# --- what a report says besides pages -------------------------------------------------------


def test_a_page_that_still_fails_is_listed_and_makes_no_report() -> None:
    nights = Nights()
    nights.night(site("guide"))
    failing = tables([unknown_row("guide", "guide")], chunks_of(page_row("guide"), "guide"))
    assert nights.night(failing).is_new
    again = nights.night(failing)
    assert not again.is_new
    assert [page["is_new"] for page in again.row["unknown"]] == [False]


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        (PAID, (1, 3, 0.5)),
        (Calls(2, 3, 300, 30, None), (2, 3, None)),
        (None, (None, None, None)),
    ],
)
def test_a_price_that_is_not_known_is_not_0(calls: Calls | None, expected: Any) -> None:
    row = Nights().night(site("guide"), calls).row
    assert (row["runs"], row["llm_calls"], row["cost_usd"]) == expected


def calibration(threshold: float, fingerprint: str = "f") -> Row:
    figures = {"threshold": threshold, "auroc": 0.9, "false_accept": 0.1, "false_refuse": 0.05}
    return {"site": SITE, "fingerprint": fingerprint, "subject": None} | figures


def evaluation(mrr: float, questions: str = "q") -> list[Row]:
    fused = {"arm": "fused", "questions_hash": questions, "n": 20, "mrr_at_10": mrr}
    return [fused | {"arm": "passage", "mrr_at_10": 0.0}, fused]


FIGURES = [
    ({"calibrations": [calibration(0.4)]}, {"calibrations": [calibration(0.4)]}, False),
    ({"calibrations": [calibration(0.4)]}, {"calibrations": [calibration(0.401)]}, False),
    ({"calibrations": [calibration(0.4)]}, {"calibrations": [calibration(0.42)]}, True),
    ({"calibrations": [calibration(0.4)]}, {"calibrations": [calibration(0.4, "g")]}, True),
    ({"calibrations": [calibration(0.4)]}, {}, True),
    ({"evaluation": evaluation(0.5)}, {"evaluation": evaluation(0.501)}, False),
    ({"evaluation": evaluation(0.5)}, {"evaluation": evaluation(0.6)}, True),
    ({"evaluation": evaluation(0.5)}, {"evaluation": evaluation(0.5, "r")}, True),
]


@pytest.mark.parametrize(("before", "now", "is_new"), FIGURES)
def test_figures_that_read_differently_are_a_change(before: Any, now: Any, is_new: bool) -> None:
    nights, rows = Nights(), [page_row("guide")]
    first = nights.night(tables(rows, **before)).row
    second = nights.night(tables(rows, **now))
    assert second.is_new is is_new
    for name in ("confidence", "evaluation"):
        assert second.row[f"{name}_before"] == first[name]


# --- the worst pages ------------------------------------------------------------------------

LINKS = "\n".join(f"- [Page {number}](/{number}.html)" for number in range(9))


def test_the_worst_pages_are_those_without_accepted_questions_and_those_mostly_rejected() -> None:
    names = ("good", "half", "mostly", "silent", "long", "menu", "copy")
    rows = {name: page_row(name) for name in names}
    chunks = {name: chunks_of(row, name) for name, row in rows.items()}
    chunks["long"] = chunks_of(rows["long"], "one", "two")
    chunks["menu"] = chunks_of(rows["menu"], LINKS)
    chunks["copy"][0]["duplicate_of"] = chunks["good"][0]["chunk_id"]

    def asked(name: str, *reasons: str | None) -> list[Row]:
        return [
            question_row(
                chunks[name][0], f"{number}?", accepted=reason is None, reject_reason=reason
            )
            for number, reason in enumerate(reasons)
        ]

    questions = [
        *asked("good", None, None, "form"),
        *asked("half", None, "form"),
        *asked("mostly", None, "form", "grounding", "grounding"),
        *asked("long", "duplicate"),
    ]
    flat = [chunk for found in chunks.values() for chunk in found]
    found = Nights().night(tables(list(rows.values()), flat, questions)).row["worst"]
    assert [
        (page["title"], page["chunks"], page["accepted"], page["reason"]) for page in found
    ] == [
        ("Long", 2, 0, "duplicate"),
        ("Silent", 1, 0, None),
        ("Mostly", 1, 1, "grounding"),
    ]
    assert [page["proposed"] for page in found] == [1, 0, 4]


def test_no_more_than_ten_worst_pages_are_named() -> None:
    rows = [page_row(f"page{number}") for number in range(12)]
    chunks = [chunk for row in rows for chunk in chunks_of(row, row["title"])]
    assert len(Nights().night(tables(rows, chunks, [])).row["worst"]) == 10

"""How a report reads, and that words of a page stay words wherever it is read."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from qindex_pipeline.changes.reports import Calls
from qindex_pipeline.changes.wording import LIMIT, message_text, report_text, summary
from qindex_pipeline.crawl.outcomes import GONE, Outcome
from qindex_pipeline.escaping import address, as_markdown, as_message, as_plain
from qindex_pipeline.operations.alerts import harmless
from qindex_pipeline_tests.changes.rows import (
    Nights,
    chunks_of,
    gone_row,
    page_row,
    site,
    tables,
    unknown_row,
)
from qindex_pipeline_tests.changes.test_reports import PAID, calibration, evaluation

EVIL = "<!here> @channel [click](http://evil.example) www.evil.example `x` *b* & \x1b[31m\u202e"


def told(*found: Any, calls: Calls | None = PAID) -> dict[str, Any]:
    """The report of the last of these nights."""
    nights = Nights()
    rows = [nights.night(each, calls).row for each in found]
    return dict(rows[-1])


def lines_of(row: dict[str, Any]) -> list[str]:
    return report_text(row).splitlines()


# --- the text -------------------------------------------------------------------------------


def test_a_report_of_everything_reads_like_this() -> None:
    old, new = page_row("guide", "old"), page_row("guide", "new", h1="Handbook")
    before = tables(
        [old, page_row("oil"), page_row("storm"), page_row("rope"), unknown_row("wick")],
        chunks_of(old, "Oil=burns", "Glass=breaks"),
        calibrations=[calibration(0.4)],
        evaluation=evaluation(0.5),
    )
    now = tables(
        [
            new,
            gone_row("oil", "noindex", status=200),
            unknown_row("storm", outcome="read_timeout", status=None),
            page_row("ropes", "rope", url=page_row("rope")["url"]),
            page_row("wick"),
            page_row("bell"),
        ],
        chunks_of(new, "Oil=glows", "Glass=breaks"),
        calibrations=[calibration(0.45)],
        evaluation=evaluation(0.6),
    )
    assert (
        report_text(told(before, now))
        == """\
docs: 1 page added, 2 changed, 1 gone, 1 readable again, 1 not readable
2026-01-03 12:00 UTC, compared with 2026-01-02 12:00

Added (1)
- Bell https://docs.example.com/bell

Changed (2)
- Handbook (was “Guide”; chunks +1 −1 in “Oil”) https://docs.example.com/guide
- Ropes (moved from https://docs.example.com/rope; was “Rope”) https://docs.example.com/ropes

Gone (1)
- Oil (noindex) https://docs.example.com/oil

Readable again (1)
- Wick https://docs.example.com/wick

Not readable now, earlier content kept (1)
- Storm (read timeout since 2026-01-01; content of 2026-01-01) https://docs.example.com/storm

In all
- 5 pages, 2 chunks (+1 −1)
- 2 questions accepted (+1 −1) of 2 proposed (+1 −1)
- cost $0.5000: 3 LLM calls, 300 tokens in, 30 out
- threshold 0.45 (0.40 before): 10% of foreign questions pass, 5% of its own do not
- AUROC of the confidence 0.90
- evaluation: MRR@10 0.60 on 20 questions, 0.50 before"""
    )


SUMMARIES = [
    ((site("a"),), "first report, 1 page"),
    ((tables([page_row("a"), unknown_row("b")]),), "first report, 2 pages, 1 not readable"),
    ((site("a"), site("a", "b", "c")), "2 pages added"),
    ((site("a", "b"), site("a")), "1 page gone"),
    ((site("a"), site("b", a="other")), "1 page added, 1 changed"),
    ((tables([page_row("a")]), tables([unknown_row("a")])), "no page changed, 1 not readable"),
    ((tables([unknown_row("a")]), tables([page_row("a")])), "1 page readable again"),
    (
        (
            tables([unknown_row("a"), page_row("b")]),
            tables([unknown_row("a"), unknown_row("b")]),
        ),
        "no page changed, 2 not readable (1 of them new)",
    ),
]


@pytest.mark.parametrize(("nights", "line"), SUMMARIES, ids=[line for _, line in SUMMARIES])
def test_the_first_line_names_the_site_and_says_what_became_of_the_pages(
    nights: Any, line: str
) -> None:
    row = told(*nights)
    assert summary(row) == line
    assert lines_of(row)[0] == f"docs: {line}"


COSTS = [
    (PAID, "cost $0.5000: 3 LLM calls, 300 tokens in, 30 out"),
    (Calls(2, 1, 10, 5, 0.0), "cost $0: 1 LLM call in 2 runs, 10 tokens in, 5 out"),
    (Calls(1, 0, 0, 0, 0.0), "cost $0: 0 LLM calls"),
    (Calls(1, 3, 300, 30, None), "cost unknown price: 3 LLM calls, 300 tokens in, 30 out"),
    (None, "cost not known: Dagster has no record of the runs"),
]


@pytest.mark.parametrize(("calls", "line"), COSTS)
def test_a_cost_says_what_is_known_of_it(calls: Calls | None, line: str) -> None:
    assert f"- {line}" in lines_of(told(site("a"), calls=calls))


FIGURES = [
    ({"calibrations": [calibration(0.4, "g")]}, "(another embedder before, 0.40): 10%"),
    ({"calibrations": []}, "no threshold of its own any more"),
    ({"evaluation": evaluation(0.6, "r")}, "0.60 on 20 questions, other questions before"),
]


@pytest.mark.parametrize(("figures", "words"), FIGURES)
def test_figures_that_cannot_be_compared_say_so(figures: Any, words: str) -> None:
    rows = [page_row("a")]
    before = tables(rows, calibrations=[calibration(0.4)], evaluation=evaluation(0.5))
    assert words in report_text(told(before, tables(rows, **figures)))


@pytest.mark.parametrize("outcome", sorted(GONE))
def test_every_reason_for_which_a_page_goes_is_said_in_words(outcome: Outcome) -> None:
    row = told(site("a", "b"), tables([page_row("a", "a"), gone_row("b", outcome, status=None)]))
    (line,) = [line for line in lines_of(row) if line.startswith("- B (")]
    assert "_" not in line


def test_content_whose_date_nobody_knows_is_of_before() -> None:
    row = told(tables([unknown_row("a")]))
    assert "(HTTP 503 since 2026-01-01; content of before)" in report_text(row)


# --- its length -----------------------------------------------------------------------------


def test_a_long_list_is_cut_and_counted() -> None:
    shown = lines_of(told(site("a"), site("a", *(f"page{number:02}" for number in range(22)))))
    first = shown.index("Added (22)")
    assert shown[first + 1].startswith("- Page00 ")
    assert shown[first + 11] == "- and 12 more"


@pytest.mark.parametrize("length", [1, 50, 150, 400, 3000])
def test_a_message_fits_however_long_the_addresses_are(length: int) -> None:
    names = [f"page{number:02}" for number in range(30)]
    rows = [page_row(name, name, url=f"https://d/{name}/{'x' * length}") for name in names]
    for row in rows:
        row["final_url"] = row["url"]
    row = told(site("a"), tables([*rows[:20], *(unknown_row(name) for name in names[20:])]))
    text = message_text(row, harmless)
    assert len(text) <= LIMIT
    assert text.startswith("docs: 30 pages added, 1 gone, 10 not readable\n")
    assert len(message_text(row, lambda whole: "&amp;" * len(whole))) <= LIMIT


# --- words of a page ------------------------------------------------------------------------


def test_a_title_calls_no_channel_and_carries_no_link_in_a_message() -> None:
    row = told(site("a"), tables([page_row("a", "a"), page_row("b", title=EVIL, h1=EVIL)]))
    text = message_text(row, harmless)
    assert "<" not in text
    assert "@channel" not in text
    assert "http://evil" not in text
    assert "www.evil" not in text
    assert "](" not in text
    assert "\x1b" not in text and "\u202e" not in text
    assert "https://docs.example.com/b" in text  # the page's own address is one


def test_a_title_is_no_markup_in_markdown() -> None:
    found = as_markdown(EVIL)
    assert re.search(r"(?<!\\)[\[\]()<*`@:]", found) is None


def test_a_title_steers_no_terminal_and_is_one_short_line() -> None:
    assert as_plain("a\x1b[31m\n b\u202ec\u200b") == "a [31m b c"
    assert as_plain("word " * 50) == "word " * 15 + "word…"
    assert len(as_plain("x" * 200)) == 80


ADDRESSES = [
    ("https://d/a](http://evil)", "https://d/a%5D(http://evil)"),
    ("https://d/<!here>|x", "https://d/%3C!here%3E%7Cx"),
    ("https://d/@channel/@scope/pkg", "https://d/%40channel/@scope/pkg"),
    ("http://[::1]:8000/a[1]", "http://[::1]:8000/a%5B1%5D"),
    ("https://d", "https://d"),
]


@pytest.mark.parametrize(("url", "shown"), ADDRESSES)
def test_an_address_is_nothing_but_an_address(url: str, shown: str) -> None:
    assert address(url) == shown


@hypothesis_settings(max_examples=200)
@given(words=st.text(st.sampled_from("@<>[]():/w.!hereACh \n\x00\u200b&|")))
def test_no_words_are_active_in_a_message(words: str) -> None:
    shown = harmless(as_message(words))
    assert re.search(r"[<>\n\x00]|@\w|://|\]\(|www\.", shown, re.IGNORECASE) is None


@hypothesis_settings(max_examples=100)
@given(words=st.text())
def test_escaped_words_lose_no_letter(words: str) -> None:
    letters = re.sub(r"[^\w…]", "", as_plain(words))
    assert re.sub(r"[^\w…]", "", as_message(words)) == letters
    assert re.sub(r"[^\w…]", "", as_markdown(words)).replace("_", "") == letters.replace("_", "")

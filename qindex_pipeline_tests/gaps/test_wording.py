"""The report for people: what it says, how much of it, and what a question cannot do to it."""

import struct
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from qindex_pipeline.gaps.gap import Gap, GapReport, Unreached
from qindex_pipeline.gaps.kept import gap_rows, keep
from qindex_pipeline.gaps.picture import data_uri, picture_png
from qindex_pipeline.gaps.wording import report_markdown, shown_rows, spark, summary, trend
from qindex_pipeline.tables import DOCUMENTATION_GAPS, to_arrow

GAP = Gap(
    question="Using Git with Visual Studio",
    words=("Studio",),
    asks=4,
    questions=2,
    others=("Visual Studio projects",),
    nearest_url="http://docs/guide",
    nearest_title="Guide",
    confidence=0.66,
    refused=1,
    low=0,
    unknown=3,
    weeks=(0, 1, 0, 3),
    before=1,
    since=3,
    off_topic=False,
)
REPORT = GapReport(
    site="docs.example.com",
    first_day=date(2026, 3, 1),
    last_day=date(2026, 3, 28),
    asks=50,
    doubtful=5,
    gaps=(GAP,),
    off_topic=(replace(GAP, question="Boil an egg?", asks=1, others=(), off_topic=True),),
    pages=9,
    unreached=(Unreached("http://docs/old", "Old [page]"),),
    left_out=0,
    even=0.5,
)


def test_a_report_names_gaps_examples_other_subjects_and_pages() -> None:
    text = report_markdown(REPORT, "picture.png")
    for said in (
        "50 asks from 2026-03-01 to 2026-03-28: 5 that docs.example.com seems not to answer",
        "![Asks of the largest gaps, and asks a week](picture.png)",
        "| 4 | ·▃·█ +2 | Using Git with Visual Studio (+1 like it) | 1 refused; the docs",
        "[Guide](http://docs/guide) (0.66)",
        "- Visual Studio projects",
        "- 1 × Boil an egg?",
        "1 of 9 pages, after 50 asks.",
        r"- [Old \[page\]](http://docs/old)",
    ):
        assert said in text


def test_pages_are_listed_only_after_as_many_asks() -> None:
    text = report_markdown(replace(REPORT, asks=8))
    assert "8 asks are too few to say which of 9 pages" in text
    assert "http://docs/old" not in text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"first_day": None, "asks": 0}, "Nothing was asked of docs.example.com yet."),
        ({"doubtful": 0, "gaps": (), "off_topic": ()}, "docs.example.com seems to answer all."),
        ({"gaps": (), "doubtful": 1}, "in 0 gaps, and 1 about other subjects."),
    ],
)
def test_a_report_without_gaps_says_so(changes: dict[str, Any], said: str) -> None:
    assert summary(replace(REPORT, **changes)).endswith(said)
    assert "| asks |" not in report_markdown(replace(REPORT, **{"gaps": (), **changes}))


def test_a_question_is_words_and_no_markup() -> None:
    hostile = replace(GAP, question="a | b ![x](http://evil) `c` <img src=y>\x1b[31m")
    text = report_markdown(replace(REPORT, gaps=(hostile,)))
    assert r"a \| b \!\[x\]\(http\://evil\) \`c\` \<img src=y\> \[31m" in text
    (row,) = shown_rows([hostile])
    assert "\x1b" not in " ".join(row)


def test_the_table_the_examples_and_the_lists_are_bounded() -> None:
    many = replace(
        REPORT,
        gaps=tuple(replace(GAP, question=f"q{number}?") for number in range(60)),
        unreached=tuple(Unreached(f"http://docs/{number}", "t") for number in range(80)),
        asks=100,
    )
    text = report_markdown(many)
    assert "35 gaps more are in the table." in text
    assert "… and 30 more" in text
    assert len(text.splitlines()) < 200


@pytest.mark.parametrize(
    ("weeks", "drawn"), [((), ""), ((0, 0), "··"), ((1, 4, 8), "▂▅█"), ((3,), "█")]
)
def test_a_week_is_a_bar(weeks: tuple[int, ...], drawn: str) -> None:
    assert spark(weeks) == drawn


def test_a_trend_is_a_signed_number_of_asks() -> None:
    assert [trend(replace(GAP, before=b, since=s)) for b, s in ((1, 3), (3, 1), (2, 2))] == [
        "+2", "-2", "±0",
    ]  # fmt: skip


def test_the_picture_is_a_small_png_for_any_question() -> None:
    odd = replace(GAP, question="$x$ 你好 \\frac{1}{2} % & _ ^ " + "long " * 40)
    drawn = picture_png(replace(REPORT, gaps=tuple([GAP, odd] * 10)))
    assert drawn is not None
    assert drawn.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", drawn[16:24])
    assert (width, height < 600, len(drawn) < 80_000) == (940, True, True)
    assert drawn == picture_png(replace(REPORT, gaps=tuple([GAP, odd] * 10)))
    assert data_uri(drawn).startswith("data:image/png;base64,iVBOR")


def test_without_a_gap_there_is_no_picture() -> None:
    assert picture_png(replace(REPORT, gaps=())) is None


def test_the_rows_of_a_report_fit_its_table() -> None:
    rows = gap_rows(REPORT)
    assert to_arrow(DOCUMENTATION_GAPS, rows).num_rows == 2
    assert [(row["rank"], row["off_topic"]) for row in rows] == [(1, False), (1, True)]


def test_a_kept_report_without_a_picture_takes_the_last_ones_away(tmp_path: Path) -> None:
    keep(tmp_path / "gaps", "docs", "first", b"png")
    file = keep(tmp_path / "gaps", "docs", "second", None)
    assert file.read_text() == "second"
    assert [path.name for path in file.parent.iterdir()] == ["docs.md"]

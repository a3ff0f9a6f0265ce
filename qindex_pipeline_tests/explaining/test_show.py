"""A page's chunks with their questions, from the tables or from the collection alone."""

import sys
from dataclasses import replace

import pytest

from qindex_pipeline.crawl.outcomes import Outcome
from qindex_pipeline.errors import UsageError, WorkError
from qindex_pipeline.explaining.explain import Request, explain
from qindex_pipeline.explaining.shown import show
from qindex_pipeline.explaining.text.show_text import shown_lines
from qindex_pipeline.settings import Settings
from qindex_pipeline_tests.explaining.lantern import (
    QUESTION,
    ROOT,
    Asked,
    Entry,
    page,
    publish,
    write_tables,
)

MIRROR = Entry(
    "mirror",
    "Chalk and vinegar\x1b[2J clean it.",
    0.3,
    [
        Asked("How is the mirror cleaned?", 0.9),
        Asked("What cleans the mirror?", 0.8, origin="human"),
        Asked("This page?", objections=["stand_alone", "grounding"]),
    ],
)
COPY = replace(MIRROR, name="copy", questions=[], repeats="mirror")
OIL = Entry("oil", "It is filled to the brim.", 0.2, [Asked("How is the oil lamp filled?", 0.4)])


def with_tables(settings: Settings) -> None:
    publish(settings, MIRROR, OIL)
    gone = page("attic", Outcome.HTTP_404, status=404)
    write_tables(settings, MIRROR, COPY, OIL, pages=[gone])


@pytest.mark.parametrize("asked", ["mirror", f"{ROOT}mirror", "/mirror/", "mirror#use"])
def test_a_page_shows_its_chunks_with_all_questions_and_verdicts(
    settings_of: Settings, asked: str
) -> None:
    with_tables(settings_of)
    (found,) = show(settings_of, asked, None)
    (chunk,) = found.chunks
    assert (chunk.kind, chunk.text) == ("section", MIRROR.text)
    assert [(one.question, one.accepted, one.objections) for one in chunk.questions] == [
        ("How is the mirror cleaned?", True, []),
        ("What cleans the mirror?", True, []),
        ("This page?", False, ["stand_alone", "grounding"]),
    ]
    assert found.crawled is not None
    assert found.crawled.outcome == "ok"
    assert found.note is None


@pytest.mark.parametrize(
    ("wanted", "listed"),
    [
        (
            "accepted",
            [
                "  - accepted: How is the mirror cleaned?  (generated, rules, prompt 1)",
                "  - human: What cleans the mirror?  (human, rules, prompt 1)",
                "  - 1 was rejected: stand_alone 1",
            ],
        ),
        (
            "rejected",
            ["  - rejected: stand_alone, grounding: This page?  (generated, rules, prompt 1)"],
        ),
    ],
)
def test_people_see_the_questions_that_they_ask_for(
    settings_of: Settings, wanted: str, listed: list[str]
) -> None:
    with_tables(settings_of)
    lines = list(shown_lines(show(settings_of, "mirror", None), wanted))
    assert [line for line in lines if line.startswith("  - ")] == listed
    every = list(shown_lines(show(settings_of, "mirror", None), "all"))
    assert sum(line.startswith("  - ") for line in every) == 3


def test_a_chunk_is_shown_with_its_text_by_the_first_digits_of_its_id(
    settings_of: Settings,
) -> None:
    with_tables(settings_of)
    chunk_id = MIRROR.chunk["chunk_id"]
    (found,) = show(settings_of, chunk_id[:6], None)
    assert [chunk.section.chunk_id for chunk in found.chunks] == [chunk_id]
    lines = list(shown_lines([found], "accepted"))
    assert "    Chalk and vinegar[2J clean it." in lines


def test_a_chunk_that_repeats_another_says_which(settings_of: Settings) -> None:
    with_tables(settings_of)
    lines = list(shown_lines(show(settings_of, "copy", "docs"), "accepted"))
    assert f"    repeats {MIRROR.chunk['chunk_id'][:8]}: same text" in lines


def test_a_page_that_is_gone_is_shown_without_chunks(settings_of: Settings) -> None:
    with_tables(settings_of)
    lines = list(shown_lines(show(settings_of, "attic", None), "accepted"))
    assert lines[1] == f"Crawl: http_404, gone (HTTP 404): {ROOT}attic"
    assert lines[2].startswith("No chunk")


@pytest.mark.parametrize(
    ("asked", "site", "message"),
    [
        ("miror", None, rf"no page 'miror' in docs; did you mean {ROOT}mirror of docs\?"),
        ("zzz", None, "no page 'zzz' in docs$"),
        ("ffffffff", None, "no chunk and no page 'ffffffff' in docs"),
        ("mirror", "other", "there is no site 'other'; there are docs"),
        ("mirror#usage", None, "has no section #usage with a text of its own: did you mean #use"),
    ],
)
def test_what_is_not_there_is_a_wrong_call_that_names_the_nearest(
    settings_of: Settings, asked: str, site: str | None, message: str
) -> None:
    with_tables(settings_of)
    with pytest.raises(UsageError, match=message):
        show(settings_of, asked, site)


@pytest.mark.parametrize("settings_of", ["edge", "server"], indirect=True)
def test_without_tables_the_collection_alone_is_shown(settings_of: Settings) -> None:
    publish(settings_of, MIRROR, OIL)
    (found,) = show(settings_of, "mirror", None)
    (chunk,) = found.chunks
    assert (chunk.text, chunk.kind) == (MIRROR.text, None)
    assert [one.question for one in chunk.questions] == [
        "How is the mirror cleaned?",
        "What cleans the mirror?",
    ]
    assert found.note is not None
    assert "Note: docs: no table raw_pages" in "\n".join(shown_lines([found], "all"))


def test_without_what_reads_the_tables_one_line_says_so(
    settings_of: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(settings_of, MIRROR, OIL)
    write_tables(settings_of, MIRROR, OIL)
    for module in ("store", "tables", "sites"):
        monkeypatch.delitem(sys.modules, f"qindex_pipeline.{module}")
    for package in ("pyarrow", "ruamel.yaml"):
        monkeypatch.setitem(sys.modules, package, None)
    found = explain(settings_of, Request(QUESTION, page="mirror"))
    assert found.page is not None
    assert found.page.verdict.kind == "won"
    (note,) = found.notes
    assert "pyarrow is not installed" in note
    assert show(settings_of, "mirror", None)[0].note == note


def test_tables_without_an_index_are_shown(settings_of: Settings) -> None:
    write_tables(settings_of, MIRROR)
    settings_of.sites.write_text(f"sites:\n  docs:\n    start_url: {ROOT}\n")
    (found,) = show(settings_of, "mirror", None)
    assert found.chunks[0].text == MIRROR.text
    assert len(found.chunks[0].questions) == 3


def test_with_neither_tables_nor_an_index_the_work_failed(settings_of: Settings) -> None:
    with pytest.raises(WorkError, match="there is no index"):
        show(settings_of, "mirror", None)

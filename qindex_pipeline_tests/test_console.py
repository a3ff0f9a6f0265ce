"""The progress line, rewritten in place on a terminal; answers, printed while they are written."""

import io
from collections.abc import Iterator

import pytest

from qindex_pipeline.console import ConsoleProgress, answer_lines, print_answer
from qindex_pipeline.retrieval.answering.answerer import Cited, Ended, Part
from qindex_pipeline.retrieval.result_stream import AnswerStream
from qindex_pipeline_tests.retrieval.test_result_stream import RANKED, stream

NOTE = "12 fetched, 40 queued, 1 failed, 3.1 pages/s"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_without_a_terminal_the_note_of_a_crawl_is_printed_in_full():
    stream = io.StringIO()
    progress = ConsoleProgress(stream, interval=0)
    progress("raw_pages", 9, 30, NOTE)
    assert stream.getvalue() == f"raw_pages 9/30 ({NOTE})\n"


@pytest.mark.parametrize("columns", [80, 40])
def test_on_a_terminal_the_line_never_wraps_and_is_whole_at_its_end(
    columns: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", str(columns))
    stream, line = Terminal(), f"raw_pages 9/30 ({NOTE})"
    progress = ConsoleProgress(stream)
    progress("raw_pages", 9, 30, NOTE)
    assert stream.getvalue() == f"\r\x1b[K{line[: columns - 1]}"
    progress.close()
    last = stream.getvalue().rpartition("\x1b[K")[2]
    assert last.startswith(line)
    assert last.endswith(" s\n")


def test_an_answer_is_printed_while_it_is_written(capsys: pytest.CaptureFixture[str]):
    shown: list[str] = []

    def parts() -> Iterator[Part]:
        for word in ("One ", "two ", "three"):
            yield word
            shown.append(capsys.readouterr().out)

    print_answer(AnswerStream(RANKED, parts(), 0.0))
    assert shown == ["One ", "two ", "three"]


@pytest.mark.parametrize(
    "parts",
    [["x ", Cited(2), " y ", Cited(1)], [Ended(True, "no")], ["cut", Ended(False, "cut off")]],
    ids=["answer", "refusal", "cut off"],
)
def test_a_streamed_answer_prints_what_a_whole_one_does(
    parts: list[Part], capsys: pytest.CaptureFixture[str]
):
    print_answer(stream(*parts))
    assert capsys.readouterr().out.splitlines() == answer_lines(stream(*parts).answer)


def test_sources_are_numbered_as_in_the_text_and_a_cut_answer_is_noted():
    lines = answer_lines(stream("x ", Cited(2), Ended(False, "cut off")).answer)
    assert lines[:5] == ["x [1] …", "", "Note: cut off", "Sources", "  [1] b  http://docs/b#top"]


def test_control_characters_of_a_page_do_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str],
):
    print_answer(stream("a\x1b[2J", "\x9b2J\rb\tc\nd \x07é"))
    assert capsys.readouterr().out.startswith("a[2J2Jb\tc\nd é\n")

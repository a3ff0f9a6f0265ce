"""The progress line: shown in full, rewritten in place on a terminal."""

import io

import pytest

from qindex_pipeline.console import ConsoleProgress

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

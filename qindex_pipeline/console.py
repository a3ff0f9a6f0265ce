"""What the command line prints: progress, tables and answers."""

import re
import shutil
import sys
import time
from collections.abc import Sequence
from typing import TextIO

from qindex_pipeline.progress import progress_line
from qindex_pipeline.retrieval.result import Answer, Result
from qindex_pipeline.retrieval.result_stream import AnswerStream

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class ConsoleProgress:
    """One line a stage: rewritten in place on a terminal, else every few seconds and at its end."""

    def __init__(self, stream: TextIO = sys.stderr, interval: float = 2.0) -> None:
        """Write to `stream`; without a terminal at most one line per `interval` seconds."""
        self._stream, self._interval = stream, interval
        self._stage, self._line = "", ""
        self._started = self._shown = time.monotonic()

    def __call__(self, stage: str, done: int, total: int | None, note: str = "") -> None:
        """Show where `stage` is."""
        if stage != self._stage:
            self.close()
            self._stage, self._started = stage, time.monotonic()
            self._shown = self._started
        self._line = progress_line(stage, done, total, note)
        if self._stream.isatty():
            # A line that wraps could not be taken back by a carriage return.
            columns = shutil.get_terminal_size().columns
            self._stream.write(f"\r\x1b[K{self._line[: columns - 1]}")
            self._stream.flush()
        elif time.monotonic() - self._shown >= self._interval:
            self._shown = time.monotonic()
            self._stream.write(f"{self._line}\n")

    def warn(self, line: str) -> None:
        """Print the line, beside whatever stage is shown."""
        clear = "\r\x1b[K" if self._stream.isatty() else ""
        self._stream.write(f"{clear}warning: {line}\n")
        self._stream.flush()

    def close(self) -> None:
        """End the line of the stage that was shown last."""
        if self._stage:
            clear = "\r\x1b[K" if self._stream.isatty() else ""
            seconds = time.monotonic() - self._started
            self._stream.write(f"{clear}{self._line} {seconds:.1f} s\n")
            self._stream.flush()
        self._stage = ""


def printable(text: str) -> str:
    """The text without control characters: a page must not steer the terminal."""
    return _CONTROL.sub("", text)


def write_line(text: str) -> None:
    """Print a line to standard output, as long as it is."""
    sys.stdout.write(f"{text}\n")


def table(title: str, rows: Sequence[tuple[str, ...]], header: Sequence[str] = ()) -> None:
    """Print rows under a title to standard output; nothing in a cell is markup."""
    from rich.console import Console
    from rich.table import Table

    shown = Table(title=title, title_justify="left", show_header=bool(header))
    for name in header or [""] * len(rows[0] if rows else ()):
        shown.add_column(name, overflow="fold")
    for row in rows:
        shown.add_row(*row)
    Console(markup=False, emoji=False).print(shown)


def print_answer(stream: AnswerStream) -> None:
    """Print an answer to standard output while it is written, then what stands under it."""
    for text in stream:
        sys.stdout.write(printable(text))
        sys.stdout.flush()
    write_line("\n\n" + "\n".join(source_lines(stream.answer)))


def answer_lines(answer: Answer) -> list[str]:
    """An answer for people: the text, its sources, and every result with its confidence."""
    if answer.answer is None:
        return source_lines(answer)
    return [printable(answer.answer), "", *source_lines(answer)]


def source_lines(answer: Answer) -> list[str]:
    """What stands under an answer: its sources, and every result with its confidence."""
    lines: list[str] = []
    if answer.reason and not answer.refused:
        lines.append(f"Note: {answer.reason}")
    if answer.citations:
        lines.append("Sources")
        numbered = enumerate(answer.citations, start=1)
        lines += [f"  [{number}] {source.title}  {source.url}" for number, source in numbered]
    lines.append(f"Results (threshold {answer.threshold:.2f})")
    lines += [_result_line(result) for result in answer.results] or ["  none"]
    return [printable(line) for line in lines]


def _result_line(result: Result) -> str:
    mark = "" if result.confident else "  below the threshold"
    asked = f'  "{result.matched_question}"' if result.matched_question else ""
    return f"  {result.rank}. {result.confidence:.2f}{mark}  {result.citation}{asked}"

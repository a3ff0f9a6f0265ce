"""Taking down what is asked: behind the asker's back, never in their way."""

import gc
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qindex_pipeline.errors import UsageError, WorkError
from qindex_pipeline.query_log import recorder, segments
from qindex_pipeline.query_log.folders import LocalFolder
from qindex_pipeline.query_log.recorder import NoLog, QueryLog, open_recorder
from qindex_pipeline.retrieval.answering.answerer import Cited, Ended, Part
from qindex_pipeline.retrieval.result import Answer
from qindex_pipeline.retrieval.result_stream import AnswerStream
from qindex_pipeline_tests.conftest import MakeSettings
from qindex_pipeline_tests.query_log.asked import answer, result

BIG = 1024**3
NEVER = 3600.0
A, B, C = (result(f"http://docs/{name}") for name in "abc")
LOW = result("http://docs/low", 0.2)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[QueryLog]:
    made = QueryLog(LocalFolder(tmp_path / "log"), BIG, NEVER)
    yield made
    made.close()


def rows(log: QueryLog, folder: Path) -> list[Any]:
    log.close()
    found = LocalFolder(folder / "log")
    days = {name.partition("/")[0] for name in found.sizes()}
    if not days:
        return []
    first, last = (segments.date.fromisoformat(day) for day in (min(days), max(days)))
    return list(segments.read(found, first, last))


def test_an_ask_without_a_text_keeps_what_was_found(log: QueryLog, tmp_path: Path) -> None:
    log.record(answer("How do I reach ann@example.com?", A, B, LOW))
    (row,) = rows(log, tmp_path)
    assert row["question"] == "How do I reach [e-mail]?"
    assert (row["site"], row["confidence"], row["threshold"]) == ("docs", 0.7, 0.4)
    assert (row["refused"], row["pages"], row["nearest"]) == (False, [A.url, B.url], A.url)


def test_an_ask_that_found_nothing_has_no_confidence(log: QueryLog, tmp_path: Path) -> None:
    log.record(answer("What?", site="other"))
    (row,) = rows(log, tmp_path)
    assert (row["site"], row["confidence"], row["nearest"]) == ("other", None, None)
    assert row["refused"]


@pytest.mark.parametrize(
    ("parts", "pages", "refused"),
    [
        (["A text ", Cited(2), " and ", Cited(2), "."], [B.url], False),
        (["A text."], [A.url, B.url], False),
        (["Half a ", Ended(refused=False, reason="cut off")], [A.url, B.url], False),
        (["Well", Cited(1), Ended(refused=True, reason="not in it")], [], True),
    ],
)
def test_an_answer_is_taken_down_with_the_pages_it_cites(
    log: QueryLog, tmp_path: Path, parts: list[Part], pages: list[str], refused: bool
) -> None:
    ranked = answer("How?", A, B, LOW)
    whole = AnswerStream(ranked, log.follow(ranked, parts), 0.0).answer
    (row,) = rows(log, tmp_path)
    assert whole.refused is row["refused"] is refused
    assert row["pages"] == pages


def broken() -> Iterator[Part]:
    yield "Half"
    raise WorkError("the provider hung up")


def test_an_answer_that_breaks_off_was_asked_all_the_same(log: QueryLog, tmp_path: Path) -> None:
    ranked = answer("How?", A)
    with pytest.raises(WorkError, match="hung up"):
        _ = AnswerStream(ranked, log.follow(ranked, broken()), 0.0).answer
    assert [row["question"] for row in rows(log, tmp_path)] == ["How?"]


@pytest.mark.parametrize("read", [0, 1])
def test_a_stream_that_nobody_reads_to_its_end_is_taken_down(
    log: QueryLog, tmp_path: Path, read: int
) -> None:
    def abandon(ranked: Answer) -> None:
        stream = AnswerStream(ranked, log.follow(ranked, ["One ", "two"]), 0.0)
        for _ in range(read):
            next(iter(stream))

    abandon(answer("How?", A))
    gc.collect()
    assert len(rows(log, tmp_path)) == 1


def test_rows_are_written_after_a_time_and_when_they_are_many(tmp_path: Path) -> None:
    folder = LocalFolder(tmp_path / "log")
    for log, asks in ((QueryLog(folder, BIG, 0.05), 1), (QueryLog(folder, BIG, NEVER), 500)):
        before = len(folder.sizes())
        written = threading.Event()
        for _ in range(asks):
            log.record(answer("How?", A))
        for _ in range(1000):
            if len(folder.sizes()) > before:
                written.set()
                break
            written.wait(0.02)
        assert written.is_set()
        log.close()


def test_threads_record_at_once_and_nothing_is_lost(log: QueryLog, tmp_path: Path) -> None:
    def ask(number: int) -> None:
        for count in range(200):
            log.record(answer(f"{number}-{count}", A))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = rows(log, tmp_path)
    assert len({row["question"] for row in found}) == len(found) == 1600


def test_a_log_that_cannot_be_written_warns_once_and_keeps_the_newest_rows(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "MAX_ROWS", 5)
    (tmp_path / "log").write_text("in the way")
    log = QueryLog(LocalFolder(tmp_path / "log"), BIG, NEVER)
    with caplog.at_level(logging.WARNING):
        for number in range(9):
            log.record(answer(str(number), A))
            log.close()
    (warning,) = caplog.messages
    assert "not being logged" in warning
    (tmp_path / "log").unlink()
    assert [row["question"] for row in rows(log, tmp_path)] == ["4", "5", "6", "7", "8"]


def test_a_log_is_kept_within_its_size(tmp_path: Path) -> None:
    log = QueryLog(LocalFolder(tmp_path / "log"), 1, NEVER)
    log.record(answer("How?", A))
    assert rows(log, tmp_path) == []


AT_EXIT = """
import sys
from pathlib import Path
from qindex_pipeline.query_log.folders import LocalFolder
from qindex_pipeline.query_log.recorder import QueryLog
from qindex_pipeline_tests.query_log.asked import answer, result
log = QueryLog(LocalFolder(Path(sys.argv[1]) / "log"), 10**9, 3600)
log.record(answer("How?", result("http://docs/a")))
ranked = answer("Abandoned?", result("http://docs/a"))
kept = log.follow(ranked, ["never read"])
log.close()
print("pandas" in sys.modules)
log.record(answer("And how?", result("http://docs/a")))
"""


def test_a_process_that_ends_writes_what_it_has(log: QueryLog, tmp_path: Path) -> None:
    command = [sys.executable, "-c", AT_EXIT, tmp_path]
    ended = subprocess.run(command, check=True, timeout=60, capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("False\n", "")
    assert [row["question"] for row in rows(log, tmp_path)] == ["How?", "And how?"]


def test_without_the_setting_there_is_no_log(settings: MakeSettings) -> None:
    nothing = open_recorder(settings())
    assert isinstance(nothing, NoLog)
    nothing.record(answer("How?", A))
    assert list(nothing.follow(answer("How?", A), ["text"])) == ["text"]
    nothing.close()


def test_a_log_without_its_library_says_what_to_install(
    settings: MakeSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"pyarrow.*pip install 'qindex_pipeline\[log\]'"):
        open_recorder(settings(QINDEX_QUERY_LOG=tmp_path / "log"))

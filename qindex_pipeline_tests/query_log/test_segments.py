"""The log's segments: whole, counted once, merged and bounded, whoever writes meanwhile."""

import io
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pyarrow.parquet as pq
import pytest

from qindex_pipeline.errors import UsageError, WorkError
from qindex_pipeline.query_log import segments
from qindex_pipeline.query_log.folders import Folder, LocalFolder, open_folder
from qindex_pipeline_tests.fakes.s3_server import s3_server
from qindex_pipeline_tests.query_log.asked import MONDAY, log_row
from qindex_pipeline_tests.small_disk import needs_a_disk, small_disk

FIRST = MONDAY.date()
BIG = 1024**3


@pytest.fixture(params=["local", "object store"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    if request.param == "local":
        return LocalFolder(tmp_path / "log")
    return open_folder(f"memory://log-{uuid4().hex}")


def questions(folder: Folder, days: int = 1) -> list[str]:
    rows = segments.read(folder, FIRST, FIRST + timedelta(days=days - 1))
    return [row["question"] for row in rows]


def test_rows_lie_under_their_days_and_come_back_in_the_order_of_asking(folder: Folder) -> None:
    later = MONDAY + timedelta(days=1)
    segments.write(folder, [log_row("second", later), log_row("first"), log_row("third", later)])
    assert sorted(name.partition("/")[0] for name in folder.sizes()) == ["2026-03-02", "2026-03-03"]
    assert questions(folder) == ["first"]
    assert questions(folder, 2)[0] == "first"
    assert set(questions(folder, 2)) == {"first", "second", "third"}


def test_an_ask_that_stands_in_two_segments_counts_once(folder: Folder) -> None:
    row = log_row()
    segments.write(folder, [row])
    segments.write(folder, [row])
    assert len(folder.sizes()) == 2
    assert questions(folder) == ["How?"]


def test_many_small_segments_become_one_and_hold_the_same_rows(folder: Folder) -> None:
    for number in range(segments.MANY):
        segments.write(folder, [log_row(f"{number:02}", MONDAY + timedelta(seconds=number))])
    before = questions(folder)
    segments.tidy(folder, BIG, FIRST)
    assert len(folder.sizes()) == 1
    assert questions(folder) == before


def test_a_day_that_is_over_is_merged_whole_and_the_current_one_waits(folder: Folder) -> None:
    for day in (MONDAY, MONDAY + timedelta(days=1)):
        segments.write(folder, [log_row("a", day)])
        segments.write(folder, [log_row("b", day)])
    segments.tidy(folder, BIG, FIRST + timedelta(days=1))
    days = [name.partition("/")[0] for name in folder.sizes()]
    assert (days.count("2026-03-02"), days.count("2026-03-03")) == (1, 2)


def test_a_merge_that_was_killed_before_it_deleted_loses_and_doubles_nothing(
    folder: Folder,
) -> None:
    rows = [log_row(str(number)) for number in range(3)]
    for row in rows:
        segments.write(folder, [row])
    segments.write(folder, rows)  # what the merge had written
    assert sorted(questions(folder)) == ["0", "1", "2"]
    segments.tidy(folder, BIG, FIRST + timedelta(days=1))
    assert sorted(questions(folder)) == ["0", "1", "2"]
    assert len(folder.sizes()) == 1


def test_the_oldest_segments_go_until_the_rest_fits(folder: Folder) -> None:
    for day in range(5):
        segments.write(folder, [log_row(str(day), MONDAY + timedelta(days=day))])
    size = max(folder.sizes().values())
    segments.tidy(folder, 2 * size, FIRST + timedelta(days=4))
    assert questions(folder, 5) == ["3", "4"]


def test_a_day_to_come_is_no_last_day(folder: Folder) -> None:
    assert segments.last_day(folder, FIRST) is None
    segments.write(folder, [log_row(), log_row(at=MONDAY + timedelta(days=900))])
    assert segments.last_day(folder, FIRST) == FIRST


def test_what_is_no_segment_is_left_alone_or_named(folder: Folder) -> None:
    segments.write(folder, [log_row()])
    folder.put("notes/readme.parquet", b"no segment")
    assert questions(folder) == ["How?"]
    folder.put("2026-03-02/broken.parquet", b"no Parquet file")
    with pytest.raises(WorkError, match=r"2026-03-02/broken\.parquet .* delete it"):
        questions(folder)


def test_threads_that_write_merge_and_read_at_once_lose_nothing(folder: Folder) -> None:
    def work(number: int) -> None:
        segments.write(folder, [log_row(f"{number}")])
        if number % 10 == 0:
            segments.tidy(folder, BIG, FIRST + timedelta(days=1))
            assert questions(folder)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(80)))
    assert sorted(map(int, questions(folder))) == list(range(80))


def test_a_log_on_s3_is_written_read_merged_and_bounded() -> None:
    with s3_server() as root:
        folder = open_folder(f"{root}/query_log")
        for number in range(3):
            segments.write(folder, [log_row(str(number), MONDAY + timedelta(seconds=number))])
        segments.tidy(folder, BIG, FIRST + timedelta(days=1))
        assert len(folder.sizes()) == 1
        assert questions(folder) == ["0", "1", "2"]
        segments.tidy(folder, 1, FIRST)
        assert segments.last_day(folder, FIRST) is None


WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from qindex_pipeline.query_log import segments
from qindex_pipeline.query_log.folders import LocalFolder
from qindex_pipeline_tests.query_log.asked import log_row
folder = LocalFolder(Path(sys.argv[1]))
while True:
    now = datetime.now(UTC)
    segments.write(folder, [log_row(str(number), now) for number in range(200)])
    segments.tidy(folder, 10**9)
"""


def test_a_writer_that_is_killed_leaves_only_whole_segments(tmp_path: Path) -> None:
    folder = LocalFolder(tmp_path)
    for _ in range(2):
        process = subprocess.Popen([sys.executable, "-c", WRITER, tmp_path])
        before = set(folder.sizes())
        while len(set(folder.sizes()) - before) < 3:
            time.sleep(0.005)
            assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        for name in folder.sizes():
            data = folder.read(name)
            assert data is not None
            assert pq.read_table(io.BytesIO(data)).num_rows > 0
    today = datetime.now(UTC).date()
    assert len(segments.read(folder, segments.days_before(today, 2), today)) % 200 == 0


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("a file")
    with pytest.raises(WorkError, match=r"log/2026-03-02/.* cannot be written"):
        segments.write(LocalFolder(tmp_path / "log"), [log_row()])


@needs_a_disk
def test_a_full_disk_leaves_what_is_there_and_no_piece(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 64 * 1024) as disk:
        folder = LocalFolder(disk / "log")
        with pytest.raises(WorkError, match="No space left"):
            for _ in range(100):
                segments.write(folder, [log_row(uuid4().hex * 20) for _ in range(20)])
        assert len(questions(folder)) == 20 * len(folder.sizes())
        assert not list(disk.rglob("*.tmp"))


def test_an_address_without_a_driver_says_what_to_install() -> None:
    with pytest.raises(UsageError, match=r"QINDEX_QUERY_LOG=nope://.*qindex_pipeline\[log\]"):
        open_folder("nope://bucket/log")


def test_the_days_of_a_window_end_with_its_last(folder: Folder) -> None:
    assert segments.days_before(date(2026, 3, 28), 28) == date(2026, 3, 1)
    late = datetime(2026, 3, 2, 23, 59, 59, tzinfo=UTC)
    segments.write(folder, [log_row("late", late)])
    assert questions(folder) == ["late"]

"""The ledger: an answer that arrived is never asked for again, whatever happens to the run."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from qindex_pipeline.errors import WorkError
from qindex_pipeline.questions.asking import ledger as ledger_module
from qindex_pipeline.questions.asking.entries import Entry, Question, Source, input_hash
from qindex_pipeline.questions.asking.ledger import Ledger
from qindex_pipeline.questions.generators.generator import Usage
from qindex_pipeline.questions.generators.proposal import Proposal
from qindex_pipeline.questions.generators.rules import RulesGenerator
from qindex_pipeline_tests.conftest import NOON, chunk_row
from qindex_pipeline_tests.small_disk import needs_a_disk, small_disk

PLACE = Source("openai:m", "questions-2", "Guide", ("Setup", "Linux"), "")


def entry(number: int = 1, **values: Any) -> Entry:
    questions = (
        Question(Proposal(f"What is {number}?", "evidence\nof two lines")),
        Question(Proposal("Größe “✓”?", 'a "quoted" \\ text'), "kept"),
    )
    source = replace(PLACE, text=f"Text number {number}.\nÖ")
    return replace(Entry(questions, NOON, Usage(number, 2, 1), source), **values)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.jsonl"))


def test_a_new_ledger_knows_nothing_and_writes_nothing(folder: Path) -> None:
    ledger = Ledger(folder)
    assert ledger.get("a") is None
    assert ledger.answers_at("a") == []
    ledger.compact()
    assert not folder.exists()


@pytest.mark.parametrize(
    "stored",
    [
        entry(),
        Entry((), NOON),
        entry(failure="refused", tries=2),
        entry(failure="unanswered", tries=1, batch=True),
        entry(source=replace(PLACE, text="half a character \ud83d")),
    ],
    ids=["whole", "no questions", "failure", "batch", "half a character"],
)
def test_what_was_put_is_there_at_once_for_this_run_and_the_next(
    folder: Path, stored: Entry
) -> None:
    ledger = Ledger(folder)
    ledger.put("a", stored)
    assert ledger.get("a") == stored
    assert Ledger(folder).get("a") == stored
    ledger.compact()
    assert ledger.get("a") == stored
    assert Ledger(folder).get("b") is None


def test_lines_of_the_first_release_are_read(folder: Path) -> None:
    folder.mkdir()
    line = {
        "input_hash": "a",
        "created_at": NOON.isoformat(),
        "tokens_in": 3,
        "tokens_out": 2,
        "questions": [["What?", "this"]],
    }
    (folder / "old.jsonl").write_text(json.dumps(line) + "\n")
    expected = Entry((Question(Proposal("What?", "this")),), NOON, Usage(3, 2))
    ledger = Ledger(folder)
    assert ledger.get("a") == expected
    ledger.put("b", entry())
    ledger.compact()
    assert Ledger(folder).get("a") == expected


KILLED_RUN = """
import os, signal, sys
from pathlib import Path
from qindex_pipeline.questions.asking.ledger import Ledger
from qindex_pipeline_tests.questions.test_ledger import entry

Ledger(Path(sys.argv[1])).put("a", entry())
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_an_answer_survives_a_kill_right_after_it(folder: Path) -> None:
    command = [sys.executable, "-c", KILLED_RUN, str(folder)]
    killed = subprocess.run(command, cwd=Path(__file__).parents[2], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert Ledger(folder).get("a") == entry()


def test_a_line_torn_at_any_byte_is_skipped_with_one_line_and_the_rest_is_read(
    folder: Path,
) -> None:
    ledger = Ledger(folder)
    ledger.put("whole", entry())
    (file,) = files(folder)
    size = file.stat().st_size
    ledger.put("torn", entry(2))
    data = file.read_bytes()
    ledger.compact()  # ends its file
    for end in range(size + 1, len(data) - 1):
        file.write_bytes(data[:end])
        said: list[str] = []
        reopened = Ledger(folder, said.append)
        assert reopened.get("whole") == entry()
        assert reopened.get("torn") is None
        (line,) = said
        assert str(file) in line
        assert "\n" not in line


def test_a_line_that_its_writer_is_about_to_end_is_no_reason_to_warn(folder: Path) -> None:
    writer = Ledger(folder)
    writer.put("a", entry())
    (file,) = files(folder)
    with file.open("ab") as half:
        half.write(b'{"key": "b", ')
    said: list[str] = []
    assert Ledger(folder, said.append).get("a") == entry()
    assert said == []


@pytest.mark.parametrize("damage", [b"\0" * 40, b"[]", b"{}", b'{"key": 1}', b"\xff\xfe"])
def test_a_damaged_line_costs_itself_alone(folder: Path, damage: bytes) -> None:
    ledger = Ledger(folder)
    ledger.put("a", entry())
    ledger.compact()
    (file,) = files(folder)
    file.write_bytes(damage + b"\n" + file.read_bytes())
    said: list[str] = []
    assert Ledger(folder, said.append).get("a") == entry()
    assert len(said) == 1


def test_the_files_of_several_runs_are_read_together(folder: Path) -> None:
    ledgers = [Ledger(folder) for _ in range(3)]
    for number, ledger in enumerate(ledgers):
        ledger.put(f"key-{number}", entry(number))
    assert len(files(folder)) == 3
    together = Ledger(folder)
    assert [together.get(f"key-{number}") for number in range(3)] == [entry(n) for n in range(3)]


def test_threads_may_write_at_once(folder: Path) -> None:
    ledger = Ledger(folder)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: ledger.put(f"key-{number}", entry(number)), range(200)))
    reopened = Ledger(folder)
    assert all(reopened.get(f"key-{number}") == entry(number) for number in range(200))


LATER = NOON + timedelta(hours=1)


@pytest.mark.parametrize(
    ("one", "better"),
    [
        (entry(failure="malformed", tries=1), entry()),
        (entry(failure="malformed", tries=3, created_at=LATER), entry()),
        (entry(failure="malformed", tries=1), entry(failure="refused", tries=2)),
        (entry(), entry(2, created_at=LATER)),
    ],
    ids=["answer", "answer before a later failure", "later try", "later answer"],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_of_two_entries_the_better_counts_in_whatever_order_they_stand(
    folder: Path, one: Entry, better: Entry, swapped: bool
) -> None:
    for stored in (better, one) if swapped else (one, better):
        ledger = Ledger(folder)
        ledger.put("a", stored)
        assert Ledger(folder).get("a") in (one, better)
        del ledger
    assert Ledger(folder).get("a") == better
    Ledger(folder).compact()
    assert len(files(folder)) == 1
    assert Ledger(folder).get("a") == better


def test_the_files_of_ended_writers_become_one_and_a_living_writers_stays(folder: Path) -> None:
    living = Ledger(folder)
    living.put("living", entry(0))
    (own,) = files(folder)
    for number in range(1, 4):
        ledger = Ledger(folder)
        ledger.put(f"key-{number}", entry(number))
        ledger.compact()
    assert own in files(folder)
    assert len(files(folder)) == 2
    living.put("more", entry(9))
    assert living.get("key-1") is None  # of a run that began later
    reopened = Ledger(folder)
    for key, number in {"living": 0, "key-1": 1, "key-2": 2, "key-3": 3, "more": 9}.items():
        assert reopened.get(key) == entry(number)
    living.compact()
    assert len(files(folder)) == 1
    assert sorted(path.suffix for path in folder.iterdir() if path.suffix != ".lock") == [".jsonl"]


def test_a_reader_goes_on_reading_what_another_process_merges_away(folder: Path) -> None:
    for number in range(2):
        Ledger(folder).put(f"key-{number}", entry(number))
    reader = Ledger(folder)
    assert reader.get("key-0") == entry(0)
    before = files(folder)
    Ledger(folder).compact()
    assert not set(before) & set(files(folder))
    assert reader.get("key-1") == entry(1)


def test_what_is_being_merged_is_not_merged_twice(folder: Path) -> None:
    for number in range(2):
        Ledger(folder).put(f"key-{number}", entry(number))
    from qindex_pipeline.questions.asking.segments import held_if_free

    with held_if_free(folder / "merging") as held:
        assert held
        Ledger(folder).compact()
        assert len(files(folder)) == 2
    Ledger(folder).compact()
    assert len(files(folder)) == 1


MERGE_KILLED = """
import os, signal, sys
from pathlib import Path
from qindex_pipeline.questions.asking.ledger import Ledger

def dies(self, *arguments, **values):
    os.kill(os.getpid(), signal.SIGKILL)

setattr(Path, sys.argv[2], dies)
Ledger(Path(sys.argv[1])).compact()
"""


@pytest.mark.parametrize("step", ["rename", "unlink"])
def test_a_merge_that_is_killed_loses_nothing(folder: Path, step: str) -> None:
    for number in range(3):
        Ledger(folder).put(f"key-{number}", entry(number))
    command = [sys.executable, "-c", MERGE_KILLED, str(folder), step]
    killed = subprocess.run(command, cwd=Path(__file__).parents[2], check=False)
    assert killed.returncode == -signal.SIGKILL
    for _ in range(2):
        ledger = Ledger(folder)
        assert [ledger.get(f"key-{number}") for number in range(3)] == [entry(n) for n in range(3)]
        ledger.compact()
    assert len(files(folder)) == 1
    assert not list(folder.glob("*.tmp"))


def test_many_files_are_merged_before_they_are_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "MANY_SEGMENTS", 3)
    for number in range(4):
        Ledger(folder).put(f"key-{number}", entry(number))
    assert Ledger(folder).get("key-2") == entry(2)
    assert len(files(folder)) == 1


def test_an_unchanged_night_writes_nothing(folder: Path) -> None:
    ledger = Ledger(folder)
    ledger.put("a", entry())
    ledger.compact()
    before = {path: path.stat() for path in folder.iterdir()}
    night = Ledger(folder)
    assert night.get("a") == entry()
    night.compact()
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == {
        path: found.st_mtime_ns for path, found in before.items()
    }


def test_the_answers_of_a_place_are_the_valid_ones(folder: Path) -> None:
    ledger = Ledger(folder)
    elsewhere = replace(PLACE, heading_path=("Setup",), text="Elsewhere.")
    for key, stored in {
        "a": entry(1),
        "b": entry(2),
        "failed": entry(3, failure="refused", tries=1),
        "elsewhere": entry(4, source=elsewhere),
        "old": entry(5, source=None),
    }.items():
        ledger.put(key, stored)
    ledger.put("a", entry(1, created_at=LATER))
    for known in (ledger, Ledger(folder)):
        assert known.answers_at(PLACE.place) == [entry(1, created_at=LATER), entry(2)]


@contextmanager
def full_disk(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """A folder on a disk that has room for a few lines, and the ballast that fills the rest."""
    with small_disk(tmp_path / "disk", 256 * 1024) as disk:
        ballast = disk / "ballast"
        ballast.write_bytes(b"x" * 190_000)
        yield disk / "ledger", ballast


@needs_a_disk
def test_a_full_disk_is_one_line_and_loses_nothing_that_was_stored(tmp_path: Path) -> None:
    with full_disk(tmp_path) as (folder, ballast):
        ledger, stored = Ledger(folder), 0
        with pytest.raises(WorkError) as full:
            for stored in range(1000):
                ledger.put(f"key-{stored}", entry(stored))
        assert 10 < stored < 999
        assert "\n" not in str(full.value)
        assert str(folder) in str(full.value)
        assert "No space left on device" in str(full.value)
        assert "free some space" in str(full.value)
        said: list[str] = []
        reopened = Ledger(folder, said.append)
        assert [reopened.get(f"key-{n}") for n in range(stored)] == [
            entry(n) for n in range(stored)
        ]
        assert reopened.get(f"key-{stored}") is None
        reopened.compact()  # needs room that is not there
        assert all("nothing is lost" in line for line in said)
        ballast.unlink()
        ledger.put("after", entry())
        ledger.compact()
        last = Ledger(folder, said.append)
        assert [last.get(key) for key in ("after", "key-0")] == [entry(), entry(0)]
        assert not any("cannot be read" in line for line in said)
        last.compact()


CHUNK = chunk_row("Some text.")


@pytest.mark.parametrize(
    ("values", "same"),
    [
        ({"site": "other", "url": "http://moved/", "chunk_id": "x", "anchor": None}, True),
        ({"text": "Some other text."}, False),
        ({"title": "Another page"}, False),
        ({"heading_path": ["Setup", "Linux"]}, False),
        ({"heading_path": []}, False),
    ],
    ids=["moved", "text", "title", "deeper", "no heading"],
)
def test_the_key_is_what_the_model_reads_not_where_it_stands(
    values: dict[str, Any], same: bool
) -> None:
    generator = RulesGenerator(limit=8)
    assert (input_hash(CHUNK | values, generator) == input_hash(CHUNK, generator)) is same


@pytest.mark.parametrize("attribute", ["spec", "prompt_version"])
def test_another_model_or_prompt_is_another_key(attribute: str) -> None:
    other = RulesGenerator(limit=8)
    setattr(other, attribute, "another")
    assert input_hash(CHUNK, other) != input_hash(CHUNK, RulesGenerator(limit=8))


def test_a_file_that_cannot_be_read_is_named_and_not_passed_over(folder: Path) -> None:
    (folder / "broken.jsonl").mkdir(parents=True)
    with pytest.raises(WorkError, match=r"broken\.jsonl of the ledger cannot be read"):
        Ledger(folder).get("a")

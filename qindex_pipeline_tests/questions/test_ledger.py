"""The ledger: an answer that arrived is never asked for again, whatever happens to the run."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from qindex_pipeline.questions.generator import Answer
from qindex_pipeline.questions.ledger import Entry, Ledger, input_hash
from qindex_pipeline.questions.proposal import Proposal
from qindex_pipeline.questions.rules_generator import RulesGenerator
from qindex_pipeline_tests.conftest import NOON, chunk_row


def entry(number: int = 1) -> Entry:
    proposals = (
        Proposal(f"What is {number}?", "evidence\nof two lines"),
        Proposal("Größe “✓”?", 'a "quoted" \\ text'),
    )
    return Entry(Answer(proposals, tokens_in=number, tokens_out=2), NOON)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


def only_file(folder: Path) -> Path:
    (file,) = folder.glob("*.jsonl")
    return file


def test_a_new_ledger_knows_nothing_and_writes_nothing(folder: Path) -> None:
    assert Ledger(folder).get("a") is None
    assert not folder.exists()


def test_what_was_put_is_there_at_once_for_this_run_and_the_next(folder: Path) -> None:
    ledger = Ledger(folder)
    ledger.put("a", entry())
    assert ledger.get("a") == entry()
    assert Ledger(folder).get("a") == entry()
    assert Ledger(folder).get("b") is None


def test_an_answer_without_questions_is_remembered_too(folder: Path) -> None:
    Ledger(folder).put("a", Entry(Answer(()), NOON))
    assert Ledger(folder).get("a") == Entry(Answer(()), NOON)


KILLED_RUN = """
import os, signal, sys
from pathlib import Path
from qindex_pipeline.questions.ledger import Ledger
from qindex_pipeline_tests.questions.test_ledger import entry

Ledger(Path(sys.argv[1])).put("a", entry())
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_an_answer_survives_a_kill_right_after_it(folder: Path) -> None:
    command = [sys.executable, "-c", KILLED_RUN, str(folder)]
    killed = subprocess.run(command, cwd=Path(__file__).parents[2], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert Ledger(folder).get("a") == entry()


def test_a_line_torn_at_any_byte_is_skipped_and_the_rest_is_read(folder: Path) -> None:
    ledger = Ledger(folder)
    ledger.put("whole", entry())
    size = only_file(folder).stat().st_size
    ledger.put("torn", entry())
    file = only_file(folder)
    data = file.read_bytes()
    for end in range(size, len(data) - 1):
        file.write_bytes(data[:end])
        reopened = Ledger(folder)
        assert reopened.get("whole") == entry()
        assert reopened.get("torn") is None


def test_a_run_after_a_torn_line_writes_a_file_of_its_own(folder: Path) -> None:
    Ledger(folder).put("a", entry())
    file = only_file(folder)
    file.write_bytes(file.read_bytes()[:-20])
    ledger = Ledger(folder)
    ledger.put("a", entry(2))
    assert len(list(folder.glob("*.jsonl"))) == 2
    assert Ledger(folder).get("a") == entry(2)


def test_the_files_of_several_runs_are_read_together(folder: Path) -> None:
    ledgers = [Ledger(folder) for _ in range(3)]
    for number, ledger in enumerate(ledgers):
        ledger.put(f"key-{number}", entry(number))
    assert len(list(folder.glob("*.jsonl"))) == 3
    together = Ledger(folder)
    assert [together.get(f"key-{number}") for number in range(3)] == [entry(n) for n in range(3)]


def test_threads_may_write_at_once(folder: Path) -> None:
    ledger = Ledger(folder)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: ledger.put(f"key-{number}", entry(number)), range(200)))
    reopened = Ledger(folder)
    assert all(reopened.get(f"key-{number}") == entry(number) for number in range(200))


def test_a_text_with_half_a_character_is_stored(folder: Path) -> None:
    broken = Entry(Answer((Proposal("What is \ud83d?", "\ud83d"),)), NOON)
    Ledger(folder).put("a", broken)
    assert Ledger(folder).get("a") == broken


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

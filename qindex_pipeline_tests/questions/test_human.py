"""Questions that people pin, add or ban: where they belong, and what becomes of them."""

from pathlib import Path
from typing import Any

import pytest

from qindex_pipeline.ids import content_hash
from qindex_pipeline.questions.human import NO_CHUNK, load_human
from qindex_pipeline.tables import CANDIDATE_QUESTIONS, to_arrow
from qindex_pipeline_tests.conftest import candidate_row, chunk_row, question_row

FIRST = chunk_row("Trim the wick before you light the lamp.", chunk_index=0)
SECOND = chunk_row("Fill the lamp with oil. Trim the wick before each use.", chunk_index=1)
OTHER = chunk_row("Lamps are kept dry.", url="http://docs.example.com/store")
CHUNKS = [FIRST, SECOND, OTHER]


def human(folder: Path, text: str):
    (folder / "docs.yaml").write_text(f"pages:\n{text}")
    return load_human(folder, "docs")


def adding(page: str, evidence: str) -> str:
    entry = f"{{question: How do I care for a wick?, evidence: {evidence!r}}}"
    return f"  {page}:\n    add: [{entry}]\n"


def proposed(chunk: dict[str, Any], question: str, **values: Any) -> dict[str, Any]:
    """A candidate with the id that the stage gives it."""
    name = question.casefold().rstrip("?")
    return candidate_row(chunk, question, **values) | {
        "question_id": content_hash(chunk["chunk_id"], name, "1")
    }


@pytest.mark.parametrize(
    ("page", "evidence", "chunk"),
    [
        ("/guide", "Trim the wick before", FIRST),
        ("guide/", "Trim the wick before each use.", SECOND),
        ("http://docs.example.com/guide", "Fill the  lamp", SECOND),
        ("/store", "kept dry", OTHER),
        ("/guide", "kept dry", FIRST),  # not on the page: its first chunk, to be rejected there
    ],
)
def test_a_question_belongs_to_the_first_chunk_of_its_page_that_holds_its_evidence(
    tmp_path: Path, page: str, evidence: str, chunk: dict[str, Any]
):
    (row,) = human(tmp_path, adding(page, evidence)).rows(CHUNKS)
    assert row["chunk_id"] == chunk["chunk_id"]
    assert row["evidence"] == " ".join(evidence.split())
    assert (row["origin"], row["cost_usd"], row["tokens_in"]) == ("human", 0.0, 0)
    to_arrow(CANDIDATE_QUESTIONS, [row])


def test_a_page_that_the_site_does_not_have_gives_a_row_without_a_chunk(tmp_path: Path):
    (row,) = human(tmp_path, adding("/gone", "Trim the wick")).rows(CHUNKS)
    assert row["chunk_id"] == NO_CHUNK
    assert row["evidence"] == "Trim the wick"


def test_evidence_in_a_repeated_chunk_belongs_to_the_chunk_that_is_indexed(tmp_path: Path):
    repeated = chunk_row(FIRST["text"], chunk_id="r" * 32, url="http://docs.example.com/copy")
    repeated["duplicate_of"] = FIRST["chunk_id"]
    (row,) = human(tmp_path, adding("/copy", "Trim the wick")).rows([FIRST, repeated])
    assert row["chunk_id"] == FIRST["chunk_id"]


PIN = "  /guide:\n    pin:\n    - When do I trim a wick?\n"


def test_a_pinned_question_that_is_proposed_stays_one_row_with_its_price(tmp_path: Path):
    same = proposed(
        SECOND, "when do I trim a wick", evidence="Trim the wick", tokens_in=90, cost_usd=0.01
    )
    beside = proposed(FIRST, "What is lit?")
    rows = human(tmp_path, PIN).joined(CHUNKS, [beside, same])
    # Its evidence stands in the first chunk too, where nobody proposed it.
    assert [row["question"] for row in rows] == ["When do I trim a wick?", "What is lit?"]
    assert rows[0] == same | {"question": "When do I trim a wick?", "origin": "human"}
    assert rows[1] == beside


def test_a_pinned_question_survives_a_model_that_no_longer_proposes_it_and_a_new_chunk(
    tmp_path: Path,
):
    last = proposed(FIRST, "When do I trim a wick?", evidence="Trim the wick", tokens_in=90)
    edited = chunk_row("Always trim. Trim the wick before you light the lamp.")
    (row,) = human(tmp_path, PIN).joined([edited, OTHER], [], [last])
    assert row["chunk_id"] == edited["chunk_id"]
    assert row["evidence"] == "Trim the wick"
    assert (row["origin"], row["tokens_in"]) == ("human", 0)
    # And the run after that finds it among its own rows.
    (again,) = human(tmp_path, PIN).joined([edited, OTHER], [], [row])
    assert again == row | {"created_at": again["created_at"]}


def test_a_pinned_question_that_nobody_ever_proposed_has_no_evidence(tmp_path: Path):
    (row,) = human(tmp_path, PIN).joined(CHUNKS, [proposed(FIRST, "What is lit?")])[:1]
    assert (row["chunk_id"], row["evidence"]) == (FIRST["chunk_id"], "")


def test_the_same_file_gives_the_same_rows_and_a_new_entry_changes_no_other(tmp_path: Path):
    text = adding("/guide", "Trim the wick")
    before = human(tmp_path, text).rows(CHUNKS)
    assert load_human(tmp_path, "docs").rows(CHUNKS) == before
    after = human(tmp_path, text + PIN.replace("/guide", "/store")).rows(CHUNKS)
    assert [row["question_id"] for row in after][:1] == [before[0]["question_id"]]
    assert len(after) == 2


def test_a_ban_holds_for_its_page_whatever_the_case_and_the_mark(tmp_path: Path):
    banning = human(tmp_path, "  /guide:\n    ban: [What is this page about?]\n")
    assert banning.is_banned("http://docs.example.com/guide", "what is  this page about")
    assert not banning.is_banned("http://docs.example.com/guide", "What is this about?")
    assert not banning.is_banned("http://docs.example.com/store", "What is this page about?")


def test_without_a_file_nothing_is_wanted_and_nothing_banned(tmp_path: Path):
    nobody = load_human(tmp_path, "docs")
    rows = [proposed(FIRST, "What is lit?")]
    assert nobody.joined(CHUNKS, rows) == rows
    assert not nobody.is_banned("http://docs.example.com/guide", "What is lit?")
    assert list(nobody.not_standing([])) == []


def test_wanted_questions_that_are_rejected_are_named_with_page_and_reason(tmp_path: Path):
    wanting = human(tmp_path, PIN + adding("/gone", "Trim the wick"))
    verdicts = [
        question_row(FIRST, "When do I trim a wick?", origin="human"),
        question_row(
            FIRST, "How do I care for a wick?", origin="human", accepted=False,
            reject_reason="evidence",
        ),
        question_row(FIRST, "Who?", accepted=False, reject_reason="evidence"),
    ]  # fmt: skip
    assert list(wanting.not_standing(verdicts)) == ["/gone: 'How do I care for a wick?' (evidence)"]

"""Grounding: the verdict on every candidate, and its reason."""

from collections.abc import Sequence

import pytest

from qindex_pipeline.questions.grounding import (
    DUPLICATE,
    EVIDENCE,
    GROUNDING,
    MIN_SHARED_WORDS,
    ground,
    shared_words,
)
from qindex_pipeline.tables import GROUNDED_QUESTIONS, to_arrow
from qindex_pipeline_tests.conftest import Row, candidate_row, chunk_row

PAIRS: list[tuple[str, str, list[str]]] = [
    # question, the chunk's own text, words of more than 4 characters that they share
    ("How do I install the package?", "Install the package with pip.", ["install", "package"]),
    ("How do I install it?", "Install the package with pip.", ["install"]),
    ("What is the default port?", "The default is 8080.", ["default"]),
    ("What is the default port number?", "The default number is 8080.", ["default", "number"]),
    ("Can I run it as root?", "You can run it as root.", []),
    ("INSTALL the PACKAGE?", "install the package.", ["install", "package"]),
    ("Which packages are installed?", "Install the package with pip.", []),
    ("Which theme has a style?", "A theme sets a style.", ["style", "theme"]),
    ("Theme, theme and theme?", "A theme is a theme.", ["theme"]),
    ("What does --verbose print?", "`--verbose`: print more.", ["print", "verbose"]),
    ("What does max_pages limit?", "max_pages: the limit", ["limit", "max_pages"]),
    ("Wie ändert man die Größe?", "Die Größe ändert sich.", ["ändert", "größe"]),
]
"""Twelve pairs that pin the seed's rule; words are compared casefolded."""


def verdicts(candidates: Sequence[Row], chunks: Sequence[Row]) -> list[tuple[bool, str | None]]:
    return [(row["accepted"], row["reject_reason"]) for row in ground(candidates, chunks)]


@pytest.mark.parametrize(("question", "text", "shared"), PAIRS)
def test_a_question_needs_two_long_words_of_its_chunk(
    question: str, text: str, shared: list[str]
) -> None:
    chunk = chunk_row(text)
    (row,) = ground([candidate_row(chunk, question)], [chunk])
    assert row["shared_words"] == sorted(word.casefold() for word in shared)
    is_grounded = len(shared) >= 2
    assert row["accepted"] is is_grounded
    assert row["reject_reason"] == (None if is_grounded else GROUNDING)


def test_the_table_has_twelve_pairs_on_both_sides_of_the_rule() -> None:
    counts = [len(shared) for _, _, shared in PAIRS]
    assert len(counts) == 12
    assert MIN_SHARED_WORDS == 2
    assert {1, 2} <= set(counts)


@pytest.mark.parametrize(("word", "counts"), [("four", False), ("fives", True)])
def test_a_word_counts_from_five_characters(word: str, counts: bool) -> None:
    assert (shared_words(f"Is it {word}?", f"It is {word}.") == [word]) is counts


def test_words_of_the_prefix_do_not_count() -> None:
    chunk = chunk_row(
        "Use pip for it.",
        title="Install the package",
        heading_path=["Install the package"],
        text_for_llm="Source: Install the package\n\nInstall the package\n\nUse pip for it.",
        overlap="install the package",
    )
    candidate = candidate_row(chunk, "How do I install the package?")
    assert verdicts([candidate], [chunk]) == [(False, GROUNDING)]


TEXT = "To install the package,\nrun   `pip install`.\n\nThen restart the service."


@pytest.mark.parametrize(
    ("evidence", "accepted"),
    [
        ("run   `pip install`", True),
        ("run `pip install`.\nThen restart", True),
        ("install the package, run", True),
        ("  run\t`pip install`  ", True),
        ("run pip install", False),
        ("Run `pip install`", False),
        ("restart the server", False),
        ("", False),
        ("  \n", False),
    ],
    ids=[
        "verbatim",
        "across paragraphs",
        "across a line",
        "other spaces",
        "without marks",
        "other case",
        "other word",
        "empty",
        "blank",
    ],
)
def test_evidence_stands_verbatim_in_the_chunk_but_for_spaces(
    evidence: str, accepted: bool
) -> None:
    chunk = chunk_row(TEXT)
    candidate = candidate_row(chunk, "How do I install the package?", evidence=evidence)
    expected = (True, None) if accepted else (False, EVIDENCE)
    assert verdicts([candidate], [chunk]) == [expected]


def test_the_first_of_equal_questions_stays_and_the_others_name_it() -> None:
    chunk = chunk_row(TEXT)
    asked = ["How do I install the package?", "how do I  install the PACKAGE", "Restart service?"]
    candidates = [candidate_row(chunk, question) for question in asked]
    first, second, third = ground(candidates, [chunk])
    assert (first["accepted"], first["duplicate_of"]) == (True, None)
    assert (second["accepted"], second["reject_reason"]) == (False, DUPLICATE)
    assert second["duplicate_of"] == first["question_id"]
    assert (third["accepted"], third["duplicate_of"]) == (True, None)


def test_a_rejected_question_makes_no_duplicates() -> None:
    chunk = chunk_row(TEXT)
    question = "How do I install the package?"
    candidates = [
        candidate_row(chunk, question, evidence="not in the chunk", question_id="1" * 32),
        candidate_row(chunk, question, question_id="2" * 32),
    ]
    assert verdicts(candidates, [chunk]) == [(False, EVIDENCE), (True, None)]


def test_the_same_question_of_two_chunks_is_kept_twice() -> None:
    chunks = [chunk_row(TEXT), chunk_row(f"{TEXT} Twice.")]
    candidates = [candidate_row(chunk, "How do I install the package?") for chunk in chunks]
    assert verdicts(candidates, chunks) == [(True, None)] * 2


def test_every_candidate_comes_back_in_its_order_with_its_columns() -> None:
    chunk = chunk_row(TEXT)
    candidates = [candidate_row(chunk, q) for q in ("Install the package?", "Why?", "Where?")]
    rows = ground(candidates, [chunk])
    assert to_arrow(GROUNDED_QUESTIONS, rows).num_rows == len(candidates)
    assert [{name: row[name] for name in candidates[0]} for row in rows] == candidates
    assert ground([], []) == []

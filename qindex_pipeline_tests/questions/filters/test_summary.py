"""What the stage shows of its verdicts."""

from qindex_pipeline.questions.filters.summary import (
    Verdicts,
    accepted_examples,
    rejected_examples,
)
from qindex_pipeline_tests.conftest import Row, chunk_row, question_row

CHUNK = chunk_row("Install the package with pip | conda and <name>.")


def rejected(question: str, *objections: str) -> Row:
    values = {"accepted": False, "objections": list(objections), "reject_reason": objections[0]}
    return question_row(CHUNK, question, **values)


ROWS = [
    question_row(CHUNK, "How do I install it?", seed_grounded=True),
    rejected("this?", "form", "grounding"),
    rejected("What does this page say?", "stand_alone", "grounding"),
    rejected("How do I fly?", "grounding"),
]


def test_a_question_is_rejected_by_one_filter_and_objected_to_by_all() -> None:
    found = Verdicts.of(ROWS)
    assert (found.proposed, found.accepted, found.seed_grounded) == (4, 1, 1)
    assert found.rejected == {"form": 1, "stand_alone": 1, "grounding": 1}
    assert found.objected == {"form": 1, "stand_alone": 1, "grounding": 3}
    assert found.rejected_share["form"] == 0.25
    assert Verdicts.of([]).rejected_share == {}


def test_the_table_leads_from_all_candidates_to_the_accepted_ones() -> None:
    lines = Verdicts.of(ROWS).markdown.splitlines()
    assert lines[2:6] == [
        "| proposed | | | 4 |",
        "| form | 1 | 1 | 3 |",
        "| language | 0 | 0 | 3 |",
        "| stand_alone | 1 | 1 | 2 |",
    ]
    assert "| grounding | 1 | 3 | 1 |" in lines
    assert lines[-2:] == [
        "| **accepted** | | | **1** |",
        "| the seed's rule, counted only | | 3 | 1 |",
    ]


def test_a_filter_of_an_earlier_release_keeps_its_line() -> None:
    assert "| too_few | 1 | 1 | 0 |" in Verdicts.of([rejected("Why?", "too_few")]).markdown


def test_examples_are_the_same_whatever_the_order_and_show_every_reason() -> None:
    rows = ROWS + [rejected(f"Question {number}?", "grounding") for number in range(30)]
    shown = rejected_examples(rows)
    assert shown == rejected_examples(rows[::-1])
    lines = shown.splitlines()[2:]
    assert len(lines) == 10
    for reason in ("| form, grounding |", "| stand_alone, grounding |", "| grounding |"):
        assert any(reason in line for line in lines)


def test_a_cell_keeps_its_table_whole() -> None:
    (line,) = accepted_examples(ROWS).splitlines()[2:]
    assert line == (
        "| How do I install it? | Install the package with pip \\| conda and &lt;name>. |"
    )
    long = accepted_examples([question_row(CHUNK, "Why?\nWhy?", evidence="word " * 100)])
    assert long.splitlines()[2].startswith("| Why? Why? | word word")
    assert long.endswith("word … |")
    assert accepted_examples([]).count("\n") == 1

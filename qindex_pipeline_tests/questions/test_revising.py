"""After an edit: what is kept, and when the model is asked."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.questions.asking.entries import Entry, Question, Source
from qindex_pipeline.questions.asking.revising import Revision, predecessor, revise
from qindex_pipeline.questions.generators.proposal import Proposal
from qindex_pipeline_tests.conftest import NOON

WICK = "Trim the wick to five millimetres before each use of the lantern."
OIL = "Fill the tank with lamp oil up to the red mark, never above it."
GLASS = "Clean the glass with vinegar once a week; `lantern --polish` reminds you of it."
TEXT = f"{WICK}\n\n{OIL}\n\n{GLASS}"
ADDED = "A blue flame means that the burner gets too much air."


def entry_of(text: str, *evidence: str, hours: int = 0) -> Entry:
    questions = tuple(
        Question(Proposal(f"Question {number}?", found)) for number, found in enumerate(evidence)
    )
    source = Source("openai:m", "1", "Guide", ("Setup",), text)
    return Entry(questions, NOON + timedelta(hours=hours), source=source)


OLD = entry_of(TEXT, WICK, "up to the red mark", "Clean the glass with vinegar once a week")


@pytest.mark.parametrize(
    ("text", "kept", "asks"),
    [
        (TEXT, "012", False),
        (f"{WICK}\n\n{GLASS}", "02", False),
        (f"{OIL}\n\n{GLASS}\n\n{WICK}", "012", False),
        (TEXT.replace(" ", "\n"), "012", False),
        (TEXT.replace("week;", "week.").replace("use of", "use – of"), "012", False),
        (TEXT.replace("\n\n", "\n\n- ").replace("Fill", "**Fill**"), "012", False),
        (TEXT.replace("Trim the wick", "Trim the *wick*"), "012", False),
        (f"{TEXT}\n\n{ADDED}", "012", True),
        (f"{TEXT.replace(OIL, ADDED)}", "02", True),
        (TEXT.replace("five", "six"), "12", True),
        (TEXT.replace("--polish", "--shine"), "012", True),
        (TEXT.replace("never above it", "above it"), "012", False),
        (TEXT.replace("Fill the", "Do not fill the"), "012", True),
        (TEXT.replace("red mark", "green mark"), "02", True),
    ],
    ids=[
        "unchanged",
        "deleted",
        "moved",
        "line breaks",
        "punctuation",
        "marked up",
        "marked up in evidence",
        "added",
        "replaced",
        "a word of evidence",
        "an option outside of evidence",
        "deleted words",
        "a negation",
        "a word of a short evidence",
    ],
)
def test_what_an_edit_keeps_and_whether_it_asks(text: str, kept: str, asks: bool) -> None:
    revision = revise(OLD, text, 8)
    assert [item.question for item in revision.kept] == [f"Question {number}?" for number in kept]
    assert revision.asks is asks


def test_kept_evidence_is_what_stands_in_the_text_now() -> None:
    (kept, *_) = revise(OLD, TEXT.replace("the wick", "the\n`wick`"), 8).kept
    assert kept.evidence == WICK.replace("the wick", "the\n`wick`")


def test_new_words_within_kept_evidence_ask_nothing() -> None:
    # The sentence stood there once, and stands there twice now.
    old = entry_of(f"{WICK} {OIL}", OIL)
    assert revise(old, f"{WICK} {OIL} {OIL}", 8) == Revision((Proposal("Question 0?", OIL),), False)


def test_a_deletion_that_leaves_no_question_asks() -> None:
    assert revise(entry_of(TEXT, GLASS), f"{WICK}\n\n{OIL}", 8) == Revision((), True)


def test_an_answer_without_questions_stands_when_words_are_deleted() -> None:
    assert revise(entry_of(TEXT), f"{WICK}\n\n{OIL}", 8) == Revision((), False)


def test_as_many_kept_questions_as_may_be_leave_nothing_to_ask_for() -> None:
    revision = revise(OLD, f"{TEXT}\n\n{ADDED}", 2)
    assert len(revision.kept) == 2
    assert not revision.asks


def test_an_edited_text_without_spaces_asks_for_what_is_new() -> None:
    old = entry_of("灯油は赤い印まで入れます。芯は毎回切ります。", "灯油は赤い印まで入れます")
    same = revise(old, "芯は毎回切ります。灯油は赤い印まで入れます。", 8)
    assert (len(same.kept), same.asks) == (1, False)
    new = revise(old, "灯油は赤い印まで入れます。芯は毎週切ります。", 8)
    assert (len(new.kept), new.asks) == (1, True)
    assert predecessor("灯油は赤い印まで入れます。芯は毎週切ります。", [old]) is old


SIBLING = (
    "The `lantern` package needs a compiler of its own and two environment variables, which the "
    "installer sets on every platform but one."
)


def test_the_predecessor_is_the_most_similar_text() -> None:
    other, near = entry_of(SIBLING), entry_of(f"{WICK}\n\n{OIL}")
    assert predecessor(f"{WICK}\n\n{OIL}\n\n{ADDED}", [other, near, OLD]) is near


def test_of_equally_similar_texts_the_newest_counts() -> None:
    older, newer = entry_of(TEXT), entry_of(f"{OIL}\n\n{WICK}\n\n{GLASS}", hours=1)
    for answers in ([older, newer], [newer, older]):
        assert predecessor(f"{TEXT} {ADDED}", answers) is newer


@pytest.mark.parametrize("answers", [[], [entry_of(SIBLING)], [Entry((), NOON)]])
def test_what_is_not_alike_is_no_predecessor(answers: list[Entry]) -> None:
    assert predecessor(TEXT, answers) is None


WORDS = st.lists(st.sampled_from("wick oil glass lamp a the - `x` C# 灯油 .".split()), max_size=30)


@given(WORDS, WORDS)
def test_whatever_is_kept_stands_in_the_text(before: list[str], now: list[str]) -> None:
    old, text = " ".join(before), " ".join(now)
    revision = revise(entry_of(old, *(" ".join(before[n : n + 3]) for n in range(5))), text, 4)
    assert len(revision.kept) <= 4
    assert all(" ".join(item.evidence.split()) in text for item in revision.kept)
    if not revision.asks and len(revision.kept) < 4:
        new = {word for word in now if word.isalpha()} - set(before)
        assert not new

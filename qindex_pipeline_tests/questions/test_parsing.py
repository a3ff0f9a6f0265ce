"""Parsing: what a model may put around its answer, and what is no answer."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.questions.generators.generator import InvalidAnswerError, Usage
from qindex_pipeline.questions.generators.parsing import paid, parse_json, proposals_of
from qindex_pipeline.questions.generators.proposal import Proposal

SPEC = "ollama:qwen2.5:14b"
ITEMS = [
    {"question": "How do I [start]?", "evidence": 'Run `go {x}`,\n"now"'},
    {"question": "Why?", "evidence": "Because, } ]"},
]
WHOLE = json.dumps({"questions": ITEMS})
READ = (
    Proposal("How do I [start]?", 'Run `go {x}`,\n"now"'),
    Proposal("Why?", "Because, } ]"),
)
EMPTY = '{"questions": []}'


def read(text: str) -> tuple[Proposal, ...]:
    return proposals_of(parse_json(text, SPEC), 8, SPEC)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "\n  {}  \n",
        "```json\n{}\n```",
        "```\n{}\n```",
        '<think>The user wants {{"json"}}.</think>\n{}',
        "<think>\nfirst\n</think>\n\n```json\n{}\n```\n",
        "<think>one</think><think>two</think>{}",
        "<thinking>one</thinking>{}",
        "the opening tag is the server's</think>\n{}",
        '<think>A draft: {{"questions": []}}</think>{}',
        "Here it is [1], from the set {{a, b}}: {} I hope that it helps.",
        '{{"questions": []}} was my first thought, but: {}',
    ],
)
def test_an_answer_is_found_past_what_a_model_puts_around_it(text: str) -> None:
    assert read(text.format(WHOLE)) == READ


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ITEMS),
        f"Sure: {json.dumps(ITEMS)}",
        WHOLE.replace("}, {", "},\n{").replace("}]", ",},]").replace("]}", "],}"),
        WHOLE.replace("\\n", "\n"),
        json.dumps({"questions": json.dumps(ITEMS)}),
        json.dumps({"answer": "yes", "questions": [*ITEMS, {"question": " ", "evidence": "x"}]}),
    ],
    ids=["bare list", "bare list, remark", "trailing commas", "line breaks", "as text", "more"],
)
def test_an_answer_is_read_in_a_bent_shape(text: str) -> None:
    assert read(text) == READ


@pytest.mark.parametrize("text", [EMPTY, "[]", "```json\n[]\n```", f"Nothing here: {EMPTY}"])
def test_no_question_is_an_answer(text: str) -> None:
    assert read(text) == ()


@given(st.integers(min_value=0, max_value=len(WHOLE) - 1), st.sampled_from(["", "```json\n"]))
def test_an_answer_that_is_cut_off_is_refused_as_a_whole(length: int, fence: str) -> None:
    with pytest.raises(InvalidAnswerError):
        read(fence + WHOLE[:length])


@pytest.mark.parametrize(
    "text", [WHOLE[:-1], WHOLE[:-30], WHOLE[:40], f"```json\n{WHOLE[:-1]}\n```", '{"questions": [']
)
def test_an_answer_that_is_cut_off_is_said_to_be_truncated(text: str) -> None:
    with pytest.raises(InvalidAnswerError, match="it ends in the middle") as refused:
        read(text)
    assert refused.value.failure == "truncated"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot do that.",
        "Here it is: {}",
        f"<think>so {WHOLE}",
        "```json\n```",
        "See [1] and []. Nothing else.",
        '{"questions": [{"question": "Use "x"?", "evidence": "a", "tags": []}]} Done.',
        '{"question": "Only one?", "evidence": "a"}',
    ],
)
def test_what_is_no_answer_is_refused_with_the_models_name(text: str) -> None:
    with pytest.raises(InvalidAnswerError, match=f"^{SPEC} answered no valid JSON: ") as refused:
        parse_json(text, SPEC)
    assert "\n" not in str(refused.value)


def item(question: object = "Q?", evidence: object = "E") -> dict[str, object]:
    return {"question": question, "evidence": evidence}


def test_proposals_come_in_order_and_not_more_than_the_limit() -> None:
    payload = {"questions": [item(f"Question {number}?") for number in range(5)], "note": "more"}
    assert [proposal.question for proposal in proposals_of(payload, 3, SPEC)] == [
        "Question 0?",
        "Question 1?",
        "Question 2?",
    ]


def test_spaces_of_a_question_are_set_right_and_evidence_keeps_its_lines() -> None:
    payload = {"questions": [item("  What\n is  it? ", "\n one\n  two \n")]}
    assert proposals_of(payload, 8, SPEC) == (Proposal("What is it?", "one\n  two"),)


@pytest.mark.parametrize("given_item", [{"question": "Q?"}, item(evidence=None)])
def test_a_question_without_evidence_is_left_to_the_filter_on_evidence(given_item: object) -> None:
    assert proposals_of({"questions": [given_item]}, 8, SPEC) == (Proposal("Q?", ""),)


@pytest.mark.parametrize(
    ("payload", "complaint"),
    [
        (None, "without a list `questions`"),
        ("questions", "without a list `questions`"),
        ({}, "without a list `questions`"),
        ({"questions": None}, "without a list `questions`"),
        ({"questions": "What?"}, "without a list `questions`"),
        ({"questions": {"question": "Q?"}}, "without a list `questions`"),
        ({"questions": ["Q?"]}, "a question that is no text"),
        ({"questions": [None]}, "a question that is no text"),
        ({"questions": [{"evidence": "E"}]}, "a question that is no text"),
        ({"questions": [item(question=["Q?"])]}, "a question that is no text"),
        ({"questions": [item(), item(evidence=1)]}, "a question that is no text"),
    ],
)
def test_another_shape_is_refused_with_what_is_wrong(payload: object, complaint: str) -> None:
    with pytest.raises(InvalidAnswerError, match=f"^{SPEC} answered .*{complaint}"):
        proposals_of(payload, 8, SPEC)


def test_what_an_invalid_answer_took_goes_with_it() -> None:
    with pytest.raises(InvalidAnswerError) as refused, paid(Usage(10, 2)):
        parse_json("no", SPEC)
    assert (refused.value.usage, refused.value.failure) == (Usage(10, 2), "malformed")

"""Parsing: what a model may put around its answer, and what is no answer."""

import pytest

from qindex_pipeline.questions.generator import InvalidAnswerError
from qindex_pipeline.questions.parsing import parse_json, proposals_of
from qindex_pipeline.questions.proposal import Proposal

SPEC = "ollama:qwen2.5:14b"


@pytest.mark.parametrize(
    "text",
    [
        '{"questions": []}',
        '\n  {"questions": []}  \n',
        '```json\n{"questions": []}\n```',
        '```\n{"questions": []}\n```',
        '<think>The user wants {"json"}.</think>\n{"questions": []}',
        '<think>\nfirst\n</think>\n\n```json\n{"questions": []}\n```\n',
        '<think>one</think><think>two</think>{"questions": []}',
    ],
    ids=["plain", "spaces", "fence", "bare fence", "thinking", "thinking and fence", "twice"],
)
def test_json_is_found_past_thinking_and_fences(text: str) -> None:
    assert parse_json(text, SPEC) == {"questions": []}


def test_a_fence_inside_a_string_is_part_of_it() -> None:
    text = '{"questions": [{"question": "Q?", "evidence": "```json\\n{}\\n```"}]}'
    (proposal,) = proposals_of(parse_json(text, SPEC), 8, SPEC)
    assert proposal.evidence == "```json\n{}\n```"


@pytest.mark.parametrize(
    "text",
    ["", "I cannot do that.", '{"questions": [', "Here it is: {}", "<think>so", "```json\n```"],
)
def test_what_is_no_json_is_refused_with_the_models_name(text: str) -> None:
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
    assert proposals_of({"questions": []}, 3, SPEC) == ()


def test_spaces_of_a_question_are_set_right_and_evidence_keeps_its_lines() -> None:
    payload = {"questions": [item("  What\n is  it? ", "\n one\n  two \n")]}
    assert proposals_of(payload, 8, SPEC) == (Proposal("What is it?", "one\n  two"),)


@pytest.mark.parametrize(
    ("payload", "complaint"),
    [
        (None, "without a list `questions`"),
        ([], "without a list `questions`"),
        ("questions", "without a list `questions`"),
        ({}, "without a list `questions`"),
        ({"questions": None}, "without a list `questions`"),
        ({"questions": "What?"}, "without a list `questions`"),
        ({"questions": {"question": "Q?"}}, "without a list `questions`"),
        ({"questions": ["Q?"]}, "without `question` or `evidence`"),
        ({"questions": [None]}, "without `question` or `evidence`"),
        ({"questions": [{"question": "Q?"}]}, "without `question` or `evidence`"),
        ({"questions": [item(evidence=None)]}, "without `question` or `evidence`"),
        ({"questions": [item(question=["Q?"])]}, "without `question` or `evidence`"),
        ({"questions": [item(), item(evidence=1)]}, "without `question` or `evidence`"),
    ],
)
def test_another_shape_is_refused_with_what_is_wrong(payload: object, complaint: str) -> None:
    with pytest.raises(InvalidAnswerError, match=f"^{SPEC} answered .*{complaint}"):
        proposals_of(payload, 8, SPEC)

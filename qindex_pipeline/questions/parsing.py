"""From what a model answered to proposals, or an error that says what was wrong with it."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import cast

from qindex_pipeline.questions.generator import InvalidAnswerError
from qindex_pipeline.questions.proposal import Proposal

_THINKING = re.compile(r"<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)


def parse_json(text: str, spec: str) -> object:
    """The JSON value in a chat answer, past a model's thinking and a markdown fence around it."""
    text = _THINKING.sub("", text).strip()
    fenced = _FENCE.fullmatch(text)
    try:
        return json.loads(fenced.group(1) if fenced else text)
    except json.JSONDecodeError as error:
        raise InvalidAnswerError(f"{spec} answered no valid JSON: {error}") from None


def proposals_of(payload: object, limit: int, spec: str) -> tuple[Proposal, ...]:
    """At most `limit` proposals of `{"questions": [{"question", "evidence"}, …]}`.

    Raises InvalidAnswerError when the value has another shape.
    """
    found = cast("Mapping[str, object]", payload) if isinstance(payload, Mapping) else {}
    items = found.get("questions")
    if not isinstance(items, Sequence) or isinstance(items, str):
        raise InvalidAnswerError(f"{spec} answered without a list `questions`")
    return tuple(_proposal(item, spec) for item in cast("Sequence[object]", items)[:limit])


def _proposal(item: object, spec: str) -> Proposal:
    fields = cast("Mapping[str, object]", item) if isinstance(item, Mapping) else {}
    question, evidence = fields.get("question"), fields.get("evidence")
    if not isinstance(question, str) or not isinstance(evidence, str):
        raise InvalidAnswerError(f"{spec} answered a question without `question` or `evidence`")
    return Proposal(" ".join(question.split()), evidence.strip())

"""From what a model answered to proposals, or an error that says what was wrong with it.

Models wrap JSON in thinking, markdown fences and remarks, and small ones bend its grammar. What
is whole is read all the same. What was cut off is refused as a whole: nothing is completed.
"""

import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import cast

from qindex_pipeline.questions.generators.generator import InvalidAnswerError, Usage
from qindex_pipeline.questions.generators.proposal import Proposal

# Without `strict`: a line break inside a string, as models copy it from a chunk, is read.
_DECODER = json.JSONDecoder(strict=False)
_THINKING = re.compile(r"\s*<(think|thinking)>.*?</\1>", re.DOTALL)
_THINKING_BEGINS = re.compile(r"\s*<(think|thinking)>")
# Some servers give the opening tag to the model, so that only the closing one is answered.
_THINKING_ENDS = re.compile(r"\A[^\[{`]*</(think|thinking)>")
_FENCED_EMPTY_LIST = re.compile(r"\s*(```(json)?)?\s*\[\s*\]\s*(```)?\s*")
_OPENING = re.compile(r"[\[{]")
_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[\]}])', re.DOTALL)


def parse_json(text: str, spec: str) -> object:
    """The answer in a chat message: the last JSON value in it that has the shape of one.

    Raises InvalidAnswerError when there is none, or when JSON in it is cut off.
    """
    text = _without_thinking(text, spec)
    for candidate in (text, _TRAILING_COMMA.sub(r"\1", text)):
        values = [value for value in _values(candidate, spec) if _is_answer(value)]
        if values:
            return values[-1]
    # An empty list has a shape only where it is the whole answer: `[]` may stand in any remark.
    if _FENCED_EMPTY_LIST.fullmatch(text):
        return []
    raise InvalidAnswerError(f"{spec} answered no valid JSON: {_excerpt(text)}")


def proposals_of(payload: object, limit: int, spec: str) -> tuple[Proposal, ...]:
    """At most `limit` proposals of `{"questions": [{"question", "evidence"}, …]}` or of the list.

    An item without evidence is proposed without: the filter on evidence names and counts it.
    Raises InvalidAnswerError when the value has another shape.
    """
    items = _items(payload)
    if items is None:
        raise InvalidAnswerError(f"{spec} answered without a list `questions`")
    found = (_proposal(item, spec) for item in items)
    return tuple(proposal for proposal in found if proposal.question)[:limit]


@contextmanager
def paid(usage: Usage) -> Generator[None]:
    """Let an InvalidAnswerError of the block carry what its answer took."""
    try:
        yield
    except InvalidAnswerError as error:
        raise InvalidAnswerError(str(error), error.failure, usage) from None


def _without_thinking(text: str, spec: str) -> str:
    while found := _THINKING.match(text):
        text = text[found.end() :]
    if _THINKING_BEGINS.match(text):
        raise InvalidAnswerError(f"{spec} answered no valid JSON: its thinking has no end")
    return _THINKING_ENDS.sub("", text, count=1)


def _values(text: str, spec: str) -> Iterator[object]:
    """Every JSON list and object in a text, the inner ones of those that are none left out."""
    position = 0
    while start := _OPENING.search(text, position):
        try:
            value, position = _DECODER.raw_decode(text, start.start())
        except json.JSONDecodeError as error:
            if _is_cut_off(error, text):
                raise InvalidAnswerError(
                    f"{spec} answered no valid JSON: it ends in the middle", "truncated"
                ) from None
            position = start.end()
        else:
            yield value


def _is_cut_off(error: json.JSONDecodeError, text: str) -> bool:
    """Whether the decoder found nothing wrong but the end of the text."""
    at_end = error.pos >= len(text.rstrip().rstrip("`").rstrip())
    return at_end or error.msg.startswith("Unterminated string")


def _is_answer(value: object) -> bool:
    if isinstance(value, Mapping):
        return "questions" in value
    items = cast("Sequence[object]", value)
    return bool(items) and all(isinstance(item, Mapping) and "question" in item for item in items)


def _items(payload: object) -> Sequence[object] | None:
    if isinstance(payload, Mapping):
        payload = cast("Mapping[str, object]", payload).get("questions")
    if isinstance(payload, str):  # models write a tool's list as text now and then
        try:
            payload = _DECODER.decode(payload)
        except json.JSONDecodeError:
            return None
    return cast("Sequence[object]", payload) if isinstance(payload, list | tuple) else None


def _proposal(item: object, spec: str) -> Proposal:
    fields = cast("Mapping[str, object]", item) if isinstance(item, Mapping) else {}
    question, evidence = fields.get("question"), fields.get("evidence") or ""
    if not isinstance(question, str) or not isinstance(evidence, str):
        raise InvalidAnswerError(f"{spec} answered a question that is no text")
    return Proposal(" ".join(question.split()), evidence.strip())


def _excerpt(text: str) -> str:
    line = " ".join(text.split())
    return repr(line[:60]) if line else "nothing"

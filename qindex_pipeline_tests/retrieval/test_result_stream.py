"""An answer as it is written: its pieces, its numbers, its sources, and how it ends."""

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from qindex_pipeline.errors import WorkError
from qindex_pipeline.retrieval.answering.answerer import NOT_ANSWERED, Cited, Ended, Part
from qindex_pipeline.retrieval.result import REFUSAL, Answer, Citation, Result
from qindex_pipeline.retrieval.result_stream import AnswerStream


def result(rank: int, page: str, *, confident: bool = True) -> Result:
    return Result(
        rank=rank,
        chunk_id=f"c{rank}",
        site="docs",
        url=f"http://docs/{page}",
        anchor="top",
        title=page,
        heading_path=[],
        text="Text.",
        matched_question=None,
        evidence=None,
        confidence=0.9 if confident else 0.1,
        confident=confident,
        score=1.0,
        legs={},
    )


RESULTS = [
    result(1, "low", confident=False), result(2, "a"), result(3, "b"), result(4, "a"),
]  # fmt: skip
RANKED = Answer(
    question="q",
    normalized_query="q",
    site=None,
    threshold=0.4,
    refused=False,
    reason=None,
    answer=None,
    citations=[],
    results=RESULTS,
    fingerprint="0" * 8,
    seconds=0.0,
)
A, B = Citation("http://docs/a#top", "a"), Citation("http://docs/b#top", "b")


def stream(*parts: Part) -> AnswerStream:
    return AnswerStream(RANKED, parts, time.perf_counter())


@pytest.mark.parametrize(
    ("parts", "text", "citations"),
    [
        (["x ", Cited(1)], "x [1]", [A]),
        (["x ", Cited(2), " y ", Cited(1), " z ", Cited(2)], "x [1] y [2] z [1]", [B, A]),
        (["x ", Cited(1), " y ", Cited(3)], "x [1] y [1]", [A]),
        (["x ", Cited(1), Cited(3), Cited(2)], "x [1][2]", [A, B]),
        (["no citation"], "no citation", [A, B]),
    ],
    ids=["one", "order of first mention", "one address", "side by side", "none: all that passed"],
)
def test_a_number_in_the_text_is_the_place_of_its_source_in_the_list(
    parts: list[Part], text: str, citations: list[Citation]
) -> None:
    answer = stream(*parts).answer
    assert answer.answer == text
    assert answer.citations == citations
    assert (answer.refused, answer.reason) == (False, None)


@pytest.mark.parametrize(
    "parts", [["x ", Cited(1), " y"], [NOT_ANSWERED], ["cut", Ended(False, "c")]]
)
def test_the_pieces_join_to_the_answer(parts: list[Part]) -> None:
    written = stream(*parts)
    assert "".join(written) == written.answer.answer


def test_the_answer_may_be_read_before_in_the_middle_or_after_the_pieces() -> None:
    written = stream("x ", "y ", Cited(1))
    assert next(iter(written)) == "x "
    assert written.answer.answer == "x y [1]"
    assert list(written) == []
    assert written.answer is written.answer


@pytest.mark.parametrize(
    ("parts", "shown"),
    [([NOT_ANSWERED], REFUSAL), (["I will ", NOT_ANSWERED], f"I will \n\n{REFUSAL}")],
    ids=["nothing written", "something written"],
)
def test_a_refusal_is_the_same_sentence_without_sources(parts: list[Part], shown: str) -> None:
    written = stream(*parts)
    assert "".join(written) == shown
    assert written.answer == replace(
        RANKED,
        refused=True,
        reason="the passages do not answer it",
        answer=REFUSAL,
        seconds=written.answer.seconds,
    )


def test_an_answer_that_was_cut_off_is_marked_and_gives_the_reason() -> None:
    answer = stream("x ", Cited(2), " ha", Ended(False, "cut off")).answer
    assert answer.answer == "x [1] ha …"
    assert (answer.refused, answer.reason, answer.citations) == (False, "cut off", [B])


def test_after_a_failure_there_is_no_answer() -> None:
    def failing() -> Iterator[Part]:
        yield "x"
        raise WorkError("gone")

    written = AnswerStream(RANKED, failing(), time.perf_counter())
    with pytest.raises(WorkError, match="gone"):
        list(written)
    with pytest.raises(WorkError, match="broke off"):
        _ = written.answer


def test_seconds_last_to_the_end_of_the_answer() -> None:
    assert AnswerStream(RANKED, ["x"], time.perf_counter() - 5).answer.seconds >= 5

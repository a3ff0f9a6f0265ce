"""A model's text becomes an answer: citations, refusals and thinking, however it is cut up."""

import logging
from collections.abc import Generator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.retrieval.answering.answerer import NOT_ANSWERED, Cited, Ended, Part
from qindex_pipeline.retrieval.answering.prompt import NO_ANSWER
from qindex_pipeline.retrieval.answering.text import EMPTY, read_answer
from qindex_pipeline.retrieval.result import REFUSAL

CUT_OFF = Ended(refused=False, reason="cut off")


def pieces(*texts: str | Ended) -> Generator[str | Ended]:
    yield from texts


def read(*texts: str | Ended, given: int = 3) -> list[Part]:
    """The parts, neighbouring texts joined."""
    joined: list[Part] = []
    for part in read_answer(pieces(*texts), given):
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return joined


def cut(text: str, length: int) -> list[str]:
    return [text[start : start + length] for start in range(0, len(text), length)]


ANSWERS: list[tuple[str, list[Part]]] = [
    ("Run it. [1]", ["Run it. ", Cited(1)]),
    ("One [1][2] two [3].", ["One ", Cited(1), Cited(2), " two ", Cited(3), "."]),
    ("Both [1, 3].", ["Both ", Cited(1), Cited(3), "."]),
    ("Known and not [2, 9].", ["Known and not ", Cited(2), "."]),
    ("Not given [4]. Given [1].", ["Not given. Given ", Cited(1), "."]),
    ("Zero [0] is none.", ["Zero is none."]),
    ("`list[2]` stays", ["`list[2]` stays"]),
    ("```\na[1] = b[7]\n```\nSo [1]", ["```\na[1] = b[7]\n```\nSo ", Cited(1)]),
    ("~~~\na[1]\n\n\nb[9]\n~~~ [2]", ["~~~\na[1]\n\n\nb[9]\n~~~ ", Cited(2)]),
    ("a stray ` here\n\nthen [1]", ["a stray ` here\n\nthen ", Cited(1)]),
    ("``a ` [5]`` [2]", ["``a ` [5]`` ", Cited(2)]),
    ("[link](http://x) [see] [1a]", ["[link](http://x) [see] [1a]"]),
    ("ends in an open [", ["ends in an open ["]),
    ("ends in an open [1", ["ends in an open [1"]),
    (REFUSAL[:19], [REFUSAL[:19]]),
    ("\n\nSpace around.\n\n", ["Space around."]),
    (NO_ANSWER, [NOT_ANSWERED]),
    (f"**{NO_ANSWER}**.", [NOT_ANSWERED]),
    (f'"{REFUSAL}."', [NOT_ANSWERED]),
    (f"{REFUSAL.replace(chr(39), '’')}, but [1] says more.", [NOT_ANSWERED]),
    (f"It is so [1]. {REFUSAL}", ["It is so ", Cited(1), f". {REFUSAL}"]),
    ("", [EMPTY]),
    (" \n ", [EMPTY]),
    ("<think>The user [9]</think>\n\nSo [1]", ["So ", Cited(1)]),
    (f"<think>hm</think>{NO_ANSWER}", [NOT_ANSWERED]),
    ("<think>never ends", [EMPTY]),
    ("<thin ice", ["<thin ice"]),
]


@pytest.mark.parametrize("length", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(("text", "parts"), ANSWERS, ids=[text[:24] for text, _ in ANSWERS])
def test_an_answer_is_read_the_same_however_its_text_is_cut(
    text: str, parts: list[Part], length: int
) -> None:
    assert read(*cut(text, length)) == parts


def test_a_citation_of_a_passage_that_was_not_given_is_logged_by_its_number(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        read("Known [1] and not [12].", given=2)
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "[12]" in record.getMessage()
    assert "1 to 2" in record.getMessage()


@pytest.mark.parametrize(
    ("texts", "parts"),
    [
        (["Half a sent", CUT_OFF], ["Half a sent", CUT_OFF]),
        ([CUT_OFF], [Ended(refused=True, reason="cut off")]),
        (["<think>all spent", CUT_OFF], [Ended(refused=True, reason="cut off")]),
        (["So [1", CUT_OFF], ["So [1", CUT_OFF]),
    ],
)
def test_an_ending_comes_last_and_without_text_it_is_a_refusal(
    texts: Sequence[str | Ended], parts: list[Part]
) -> None:
    assert read(*texts) == parts


def test_nothing_is_shown_of_a_refusal_and_the_model_is_not_read_further() -> None:
    asked: list[str] = []

    def model() -> Generator[str | Ended]:
        for text in [*cut(NO_ANSWER, 4), " and more", " and more"]:
            asked.append(text)
            yield text

    reply = model()
    assert list(read_answer(reply, 3)) == [NOT_ANSWERED]
    assert "".join(asked) == NO_ANSWER
    assert list(reply) == []


def test_text_is_passed_on_as_soon_as_it_is_certain() -> None:
    parts = read_answer(pieces("Run make install now.", " Then wait."), 3)
    assert next(parts) == "Run make install now."


@given(st.text(alphabet="ab `[]12,;~\n<", max_size=60), st.integers(1, 9))
def test_where_text_is_cut_never_changes_what_is_read(text: str, length: int) -> None:
    assert read(*cut(text, length)) == read(text)

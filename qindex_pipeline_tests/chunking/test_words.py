"""How long a text is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.chunking import count_words
from qindex_pipeline.chunking.source import Source


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("--- | > # `", 0),
        ("one two_three", 2),
        ("don't stop-now", 4),
        ("v1.2", 2),
        ("中", 1),
        ("中文", 1),
        ("中文字", 2),
        ("中文abc中文", 3),
        ("カタカナ", 2),
        ("한국어 문서", 2),
        ("Привет, мир", 2),
        ("हिन्दी भाषा", 2),
        ("cafe\u0301 cre\u0300me", 2),
        ("ไทย", 2),
    ],
)
def test_words_are_counted_by_script(text: str, words: int) -> None:
    assert count_words(text) == words


WORDS = st.text(alphabet="aZ_9 \n\x0b\x1f-é中ไ\u0301\u2028", max_size=30)


@given(WORDS)
def test_words_of_lines_are_those_of_their_text(text: str) -> None:
    source = Source(text)
    for first in range(source.n_lines):
        for end in range(first + 1, source.n_lines + 1):
            start, stop = source.span(first, end)
            assert source.words(first, end) == count_words(text[start:stop])


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=60))
def test_plain_ascii_is_counted_like_any_other_text(text: str) -> None:
    assert count_words(f"{text} é") == count_words(text) + 1

"""How long a text is."""

import pytest

from qindex_pipeline.chunking import count_words


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

"""How long a text is, in words: the one measure behind every limit of the chunker.

Scripts that put no space between words (Chinese, Japanese, Thai, Khmer ...) are measured in
half words a character; without that a whole Chinese page would be one word and never be split.
"""

import re
from collections.abc import Iterator

# Han, kana, bopomofo, Thai, Lao, Burmese, Khmer: letters that stand without spaces.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff"
)
# `\w` knows no combining marks: these keep Latin, Hebrew, Arabic and Indic words in one piece.
_MARKS = "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff"

_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")
_SPACED_WORD = re.compile(rf"[\w{_MARKS}]+")
_TOKEN = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[\w{_MARKS}])+")

# Nearly all text is ASCII, where this is several times as fast as the pattern: every character
# of a word becomes an `a`, every other a blank, and a word begins where an `a` follows a blank.
_ASCII_WORDS = bytes(
    ord("a") if code < 128 and (chr(code).isalnum() or chr(code) == "_") else ord(" ")
    for code in range(256)
)


def count_half_words(text: str) -> int:
    """Length of a text in half words: 2 a word, 1 a character of an unspaced script.

    Half words add up where words, being rounded, do not.
    """
    if text.isascii():
        marked = text.encode("ascii").translate(_ASCII_WORDS)
        return 2 * (marked.count(b" a") + marked.startswith(b"a"))
    text, unspaced = _UNSPACED_CHARACTER.subn(" ", text)
    return 2 * len(_SPACED_WORD.findall(text)) + unspaced


def count_words(text: str) -> int:
    """Length of a text in words, half a word at the end counting as one.

    The words of a text are never more than the sum of the words of its pieces.
    """
    return (count_half_words(text) + 1) // 2


def word_starts(text: str) -> Iterator[int]:
    """Where each word, or character of an unspaced script, begins."""
    return (match.start() for match in _TOKEN.finditer(text))

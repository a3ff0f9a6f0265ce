"""Which scripts a text is written in, and its words as they are compared."""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

_NAMES = {
    "CJK": "han",
    "HIRAGANA": "kana",
    "KATAKANA": "kana",
    "KATAKANA-HIRAGANA": "kana",
}
_NOT_ASCII_LETTERS = re.compile(r"[^A-Za-z]+")
_CODE = re.compile(r"`[^`\n]*`")
_WORD = re.compile(r"[^\W\d_]+")


def folded(text: str) -> str:
    """The text as it is compared: full-width forms and case do not matter."""
    return unicodedata.normalize("NFKC", text).casefold()


def scripts(text: str) -> Counter[str]:
    """Letters by script; Hiragana and Katakana are one, `kana`, Chinese characters are `han`."""
    found = Counter({"latin": len(_NOT_ASCII_LETTERS.sub("", text))})
    if not text.isascii():
        found.update(filter(None, map(_script, text)))
    return +found


def prose_words(text: str) -> list[str]:
    """The folded words of letters outside inline code."""
    return _WORD.findall(folded(_CODE.sub(" ", text)))


@lru_cache(maxsize=10_000)
def _script(character: str) -> str | None:
    """Script of a letter, from its Unicode name; None for ASCII and for what is no letter."""
    if character.isascii() or not character.isalpha():
        return None
    name = unicodedata.name(unicodedata.normalize("NFKC", character)[0], "").split(" ")[0]
    return _NAMES.get(name, name.lower())

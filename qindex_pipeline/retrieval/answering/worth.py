"""How much a unit of text says about a question, by the words that they share."""

import math
import re
from collections.abc import Iterable

STEM_CHARACTERS = 5
"""Words that begin alike (install, installation) count as the same, whatever their ending."""

# A character of a script without spaces is a word of its own.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])\w)+")
_FUNCTION_WORDS = frozenset(
    """a an and are as at be by can could do does for from has have how i if in is it its me my of
    on or our should that the there these this to us use used using want was we what when where
    which who why will with would you your""".split()
)
_SUFFIX = re.compile(r"(?<=\w{3})(?:ing|ed|es|e|s)$")
_WANTS_CODE = re.compile(
    r"\b(?:command|example|syntax|snippet|how (?:do|can|should|would|to|[a-z]+ an?)\b)", re.I
)
_WANTS_PROSE = re.compile(r"\b(?:why|(?:use|meaning|purpose|point) of|what does|means?)\b", re.I)


def stems(text: str) -> frozenset[str]:
    """The beginnings of the words that carry meaning."""
    words = set(_WORD.findall(text.casefold())) - _FUNCTION_WORDS
    return frozenset(_SUFFIX.sub("", word)[:STEM_CHARACTERS] for word in words)


def wants_code(question: str) -> bool:
    """Whether something to type would be the best answer. Knows English forms only."""
    return bool(_WANTS_CODE.search(question)) and not _WANTS_PROSE.search(question)


class Worth:
    """Measures texts against one question; a word that stands everywhere tells little."""

    def __init__(self, question: str, texts: Iterable[str]) -> None:
        """Weigh the words of `question` by how many of `texts` hold them."""
        known = [stems(text) for text in texts]
        self._weights = {
            stem: math.log(1 + len(known) / (1 + sum(stem in other for other in known)))
            for stem in stems(question)
        }
        self._total = sum(self._weights.values()) or 1.0

    def of(self, text: str) -> float:
        """The share of the question's words that the text holds, by weight: 0 to 1."""
        found = self._weights.keys() & stems(text)
        return sum(self._weights[stem] for stem in found) / self._total

"""Which words the docs use, and where: what tells a strange subject from a strange wording."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from math import log
from typing import Any

from qindex_pipeline.questions.filters.terms import Term, Text, terms

Row = Mapping[str, Any]

LEAST_TYPO = 6
"""Characters of a word that may be another one misspelt: of shorter ones too many differ in one
(`react` and `reach`)."""
_ALPHABET = 48  # the letters of one script, with marks; those that the docs use most


class Vocabulary:
    """The words of a site's pages.

    Attributes:
        titles: Title of each page by its URL.
    """

    def __init__(self, chunks: Iterable[Row]) -> None:
        """Read the pages from rows of the chunks table."""
        texts: dict[str, list[str]] = {}
        languages: Counter[str | None] = Counter()
        self.titles: dict[str, str] = {}
        for chunk in chunks:
            self.titles.setdefault(chunk["url"], chunk["title"])
            written = [chunk["title"], *chunk["heading_path"], chunk["text"]]
            texts.setdefault(chunk["url"], []).extend(written)
            languages[chunk["lang"]] += 1
        self._language = max(languages, key=lambda code: languages[code], default=None)
        self._texts = {url: "\n".join(parts) for url, parts in texts.items()}
        # Word to pages. A large site has millions of such pairs: lists of the addresses that
        # stand in memory once are a tenth of sets.
        self._places: dict[str, list[str]] = {}
        for url, text in self._texts.items():
            for word in Text(text, self._language).known:
                self._places.setdefault(word, []).append(url)
        self._found: dict[str, frozenset[str]] = {}

    def terms(self, question: str) -> list[Term]:
        """What a question says, but for function words, numbers and versions."""
        found = [
            term
            for term in terms(question, self._language)
            if any(letter.isalpha() for letter in term.shown)
        ]
        return [term for at, term in enumerate(found) if not self._is_seam(found, at)]

    def pages(self, term: Term) -> frozenset[str]:
        """URLs of the pages that use a term, inflected, as a part of a name, or misspelt in it."""
        if term.shown not in self._found:
            used = self._using(term)
            self._found[term.shown] = used or self._meant(term)
        return self._found[term.shown]

    def weight(self, term: Term) -> float:
        """How much a term says: its inverse document frequency, in pages."""
        return log((len(self.titles) + 1) / (len(self.pages(term)) + 0.5))

    def share(self, asked: Sequence[Term], among: Sequence[Term]) -> float:
        """The weight of terms as a share of the weight of all that a question says."""
        whole = sum(map(self.weight, asked))
        return sum(map(self.weight, among)) / whole if whole else 0.0

    def _is_seam(self, found: Sequence[Term], at: int) -> bool:
        """Whether a piece only joins two words that the docs know, as 置邮 in 设置邮箱 does."""
        around = [*found[at - 1 : at], *found[at + 1 : at + 2]]
        return (
            found[at].kind == "piece"
            and not self.pages(found[at])
            and len(around) == 2
            and all(term.kind == "piece" and self.pages(term) for term in around)
        )

    def _using(self, term: Term) -> frozenset[str]:
        if term.kind == "piece":
            return frozenset(url for url, text in self._unspaced.items() if text.holds(term))
        as_written = frozenset(self._places.get(term.shown, ()))
        if _is_exact(term):
            return as_written
        # More than half of the parts, as where questions are held against their chunks; of
        # alternatives (`unstaged/uncommitted`) and paths, one.
        parts = Counter(url for word in term.parts for url in self._of_word(*word))
        least = 1 if "/" in term.shown else len(term.parts) // 2 + 1
        return as_written | {url for url, held in parts.items() if held >= least}

    def _of_word(self, word: str, stem: str) -> Set[str]:
        return {*self._places.get(word, ()), *self._places.get(stem, ())}

    @cached_property
    def _unspaced(self) -> Mapping[str, Text]:
        """The pages' texts, for scripts whose words are looked up as pieces of the text."""
        return {url: Text(text, self._language) for url, text in self._texts.items()}

    def _meant(self, term: Term) -> frozenset[str]:
        """Where a word stands that the term is but one slip of the finger away from."""
        word = term.shown
        if term.kind != "word" or len(word) < LEAST_TYPO or not word.isalpha():
            return frozenset()
        known = (other for other in _slips(word, self._letters) if other in self._places)
        return frozenset(url for other in known for url in self._places[other])

    @cached_property
    def _letters(self) -> str:
        counted = Counter(letter for word in self._places for letter in word if letter.isalpha())
        return "".join(letter for letter, _ in counted.most_common(_ALPHABET))


def _is_exact(term: Term) -> bool:
    """Whether a term means one thing as a whole: an option, a file, an identifier, `C#`."""
    if term.shown.endswith(("#", "+")):
        return True
    return term.kind == "name" and not any(sign in term.shown for sign in "/@")


def _slips(word: str, letters: str) -> Iterator[str]:
    """Words that differ in one letter left out, added, changed or swapped with the next one.

    The first letter is nearly always typed right.
    """
    for at in range(1, len(word) + 1):
        head, tail = word[:at], word[at:]
        yield from (head + letter + tail for letter in letters)
        if tail:
            yield head + tail[1:]
            yield from (head + letter + tail[1:] for letter in letters)
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]

"""What a question and a text have in common.

Stems of words, technical names as they are written, and in scripts without spaces pieces of words.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from math import ceil
from typing import TYPE_CHECKING

from qindex_pipeline.questions.filters.function_words import FUNCTION_WORDS
from qindex_pipeline.questions.filters.scripts import folded

if TYPE_CHECKING:
    from snowballstemmer.basestemmer import BaseStemmer

_STEMMERS = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek",
    "en": "english", "es": "spanish", "eu": "basque", "fi": "finnish", "fr": "french",
    "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "nb": "norwegian", "ne": "nepali", "nl": "dutch",
    "nn": "norwegian", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""Snowball's stemmer by ISO 639-1 code."""

LEAST_BEGINNING = 5
LEAST_SHARED_BEGINNING = 0.7
"""Words count as inflections of one too when they share their first 5 characters and 70 % of the
longer: stemmers leave "ändere" and "ändert", "установить" and "установка" apart."""

_HAN_KANA = "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HANGUL = "\uac00-\ud7a3"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_PIECE_SIZES = ((_HAN_KANA, 2), (_HANGUL, 2), (_UNSPACED, 4))
"""Characters of a piece: two, the length of most Chinese words and of a Korean word without its
ending; four of Thai, Lao, Burmese and Khmer, which write a vowel or a tone as one more."""

_FRAMES = re.compile(
    r"什么|什麼|甚麼|怎么样?|怎麼樣?|怎样|如何|为什么|為什麼|为何|哪里|哪裡|哪个|哪些|多少|是否|能否|可以|需要"
    r"|应该|使用|[的了吗嗎呢是在和与我你它这那会能要有把被对中]"
    r"|どのように|どうやって|どうすれば|どうして|なぜ|何|いつ|どこ|どの|とは|ですか|ますか|[をはがのにでとへもかや]"
    r"|무엇|어떻게|어디|언제|왜|누가|어떤|어느|하나요|인가요|나요|합니까|입니까|는가"
    r"|อะไร|อย่างไร|ยังไง|ทำไม|ที่ไหน|เมื่อไร|เมื่อไหร่|ไหม|หรือไม่|ใคร|คือ|ได้"
)
"""What questions in scripts without spaces are made of, whatever they are about."""

_FRAME_WORDS = frozenset(
    """what which how do doe is are was were can could should would will i you we my your the a an
    of in for to with on by be use it me""".split()
)
"""Words of English questions, stemmed, that say as much when they are left out."""

_OF_THE_DOCS = frozenset("documentation docs say says".split())
"""What a question says of the docs and not of their subject: "What do the docs say about …?"."""

_TOKEN = re.compile(
    rf"(?P<piece>[{_HAN_KANA}]+|[{_HANGUL}]+|[{_UNSPACED}]+)"
    r"|(?P<option>(?<![\w-])--?[^\W_](?:[\w-]*\w)?)"
    rf"|(?P<word>(?:(?<!\w)\.(?=[^\W\d]))?"
    rf"(?:(?![{_HAN_KANA}{_HANGUL}{_UNSPACED}])\w)+"
    rf"(?:(?:[.:/@-]|::)(?:(?![{_HAN_KANA}{_HANGUL}{_UNSPACED}])\w)+)*(?:\+\+|#(?!\w))?)"
)
_LINK_TARGET = re.compile(r"\]\((?:[^()\s]|\([^()\s]*+\))*+(?:\s+\"[^\"]*\")?\)")
_OPTIONAL_NO = re.compile(r"--\[no-\]([\w-]+)")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|[^\W\d_]+|\d+")
_IS_EXACT = re.compile(r"[\d_#+]|\w[.:/]\w|^\.|\w[A-Z]")
_IS_NAME = re.compile(r"^-|_|[^\W\d][.:/][^\W\d]|^\.")


@dataclass(frozen=True)
class Term:
    """One thing that a question is about.

    Attributes:
        shown: As it stands in the question, folded.
        parts: Its words, each with its stem; none of a piece of an unspaced script.
        kind: `word`, `name` (an option, a path, an identifier) or `piece`.
    """

    shown: str
    parts: tuple[tuple[str, str], ...]
    kind: str


@dataclass(frozen=True)
class Text:
    """A text in which terms are looked up.

    Attributes:
        text: Markdown; the addresses of links don't count.
        language: ISO 639-1 code of its language, None where nothing tells it.
    """

    text: str
    language: str | None

    @cached_property
    def _folded(self) -> str:
        return folded(self.text)

    @cached_property
    def known(self) -> frozenset[str]:
        """Every word and name as it is written, folded, and the stems of all words."""
        text = _OPTIONAL_NO.sub(r"--no-\1 --\1", _LINK_TARGET.sub("]", self.text))
        known: set[str] = set()
        for kind, token in set(_tokens(text)):
            if kind != "piece":
                known.add(folded(token))
                for part in _parts(token, self.language):
                    known.update(part)
        return frozenset(known)

    @cached_property
    def _by_beginning(self) -> dict[str, list[str]]:
        """The words of the text by their first characters."""
        found: dict[str, list[str]] = {}
        for word in self.known:
            found.setdefault(word[:LEAST_BEGINNING], []).append(word)
        return found

    def _holds_word(self, word: str, stem: str) -> bool:
        if word in self.known or stem in self.known:
            return True
        others = self._by_beginning.get(word[:LEAST_BEGINNING], [])
        return any(_begin_alike(word, other) for other in others)

    def holds(self, term: Term) -> bool:
        """Whether the term stands in the text, inflected or not.

        An option must stand as it is; of what has several parts, such as `git-format-patch`, more
        than half of them.
        """
        if term.kind == "piece":
            return term.shown in self._folded
        if term.shown in self.known:
            return True
        is_exact = term.shown.startswith("-") or term.shown.endswith(("#", "+"))
        held = sum(self._holds_word(*part) for part in term.parts)
        return not is_exact and 2 * held > len(term.parts)

    def holds_some(self, term: Term) -> bool:
        """Whether at least a part of a name stands in the text; an option has no parts."""
        if self.holds(term):
            return True
        parts = () if term.shown.startswith("-") else term.parts
        return any(self._holds_word(*part) for part in parts)


def terms(question: str, language: str | None) -> list[Term]:
    """The terms of a question in their order, each once, without words that say nothing."""
    found: dict[str, Term] = {}
    for kind, token in _tokens(question):
        made = _pieces(token) if kind == "piece" else _term(kind, token, language)
        for term in made:
            found.setdefault(term.shown, term)
    return list(found.values())


@lru_cache(maxsize=200_000)
def exact_names(text: str) -> frozenset[str]:
    """Options, identifiers, numbers and words with capitals inside or all over, as written.

    A text that differs in one of them is about something else, also where only the case differs
    (`-m` and `-M`).
    """
    return frozenset(
        token
        for kind, token in _tokens(text)
        if kind == "option" or (kind == "word" and _IS_EXACT.search(token))
    )


@lru_cache(maxsize=200_000)
def content(question: str) -> Counter[str]:
    """Stems of all words but those that only frame a question; characters of unspaced scripts.

    Unlike `terms` this keeps what turns a meaning: negations, quantities, conditions.
    """
    found: Counter[str] = Counter()
    for kind, token in _tokens(question):
        found.update("".join(_FRAMES.split(token)) if kind == "piece" else _stems(token))
    return Counter({stem: times for stem, times in found.items() if stem not in _FRAME_WORDS})


def _term(kind: str, token: str, language: str | None) -> Iterator[Term]:
    shown = folded(token)
    is_letter = len(shown) == 1 and not (token.isupper() and shown not in "ai")
    empty = FUNCTION_WORDS.get(language or "en", FUNCTION_WORDS["en"]) | _OF_THE_DOCS
    if is_letter or shown in empty:
        return
    is_name = kind == "option" or bool(_IS_NAME.search(token))
    yield Term(shown, _parts(token, language), "name" if is_name else "word")


def _pieces(run: str) -> Iterator[Term]:
    size = next(size for script, size in _PIECE_SIZES if re.match(f"[{script}]", run))
    for part in filter(None, _FRAMES.split(run)):
        for start in range(max(1, len(part) - size + 1)):
            piece = folded(part[start : start + size])
            yield Term(piece, (), "piece")


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    for found in _TOKEN.finditer(text):
        assert found.lastgroup is not None, "every alternative of the pattern is named"
        yield found.lastgroup, found[0]


def _parts(token: str, language: str | None) -> tuple[tuple[str, str], ...]:
    """The words of a token, folded, each with its stem."""
    words = [folded(part) for part in _PART.findall(token) or [token]]
    return tuple((word, _stem(word, language or "en")) for word in words)


def _stems(token: str) -> list[str]:
    return [stem for _, stem in _parts(token, None)]


def _begin_alike(one: str, other: str) -> bool:
    least = max(LEAST_BEGINNING, ceil(LEAST_SHARED_BEGINNING * max(len(one), len(other))))
    return min(len(one), len(other)) >= least and one[:least] == other[:least]


@lru_cache(maxsize=200_000)
def _stem(word: str, language: str) -> str:
    stemmer = _stemmer(language)
    return word if stemmer is None else stemmer.stemWord(word)


@cache
def _stemmer(language: str) -> "BaseStemmer | None":
    """Snowball's stemmer of a language, None where there is none: words count as written."""
    import snowballstemmer

    name = _STEMMERS.get(language)
    return None if name is None else snowballstemmer.stemmer(name)

"""What the rules know of a page: its subject, and how its text spells names.

A question names its page where its own words do not.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from qindex_pipeline.questions.generators.rule_set.english import VERBS, imperative, is_plural
from qindex_pipeline.questions.generators.rule_set.markup import Codes, Section
from qindex_pipeline.questions.generators.rule_set.phrasing import (
    DANGLING_END,
    POINTERS,
    PRONOUNS,
    clean_heading,
    clean_title,
    content_words,
    is_command,
)

_SUBJECT_WORDS = 5
_CONTEXT_UP_TO_WORDS = 14
GENERIC_TITLES = frozenset(
    """introduction intro overview home welcome documentation docs index readme faq glossary guide
    guides tutorial tutorials reference about start""".split()
) | {"getting started", "quick start", "quickstart", "user guide", "release notes", "api reference"}
_PHRASE = re.compile(
    r"(?:how|what|why|when|where|who|which|is|are|can|do|does|my|your|the) ?", re.I
)
_NOUN_END = r"(?:[.,;:)]| (?:is|are|of|in|to|for|and|or|with|that|which|can|will|as|on|from|by) )"
_DOES = re.compile(r"(?:how (?:do|can) I|can I) ")
_PROCESS = re.compile(
    r"\b(?:integration|installation|setup|configuration|deployment|migration)$", re.I
)
_COMMON_ENDING = re.compile(
    r"(?:tions?|ments?|ings?|ness|ity|ities|ances?|ences?|ables?|ives?|ous|ies|als|ers?|ors?)$"
)
_FUNCTION_WORDS = frozenset(
    "a an and as at by for from in into of on or the to vs with your using via without my".split()
)


@dataclass(frozen=True)
class Page:
    """What the rules know of the page beyond a chunk's sections.

    Attributes:
        name: The title as it stands inside a sentence, or "" where it says nothing.
        subject: The name where it names a thing, or "" where it is a phrase ("How to …").
        place: What the subject belongs to ("in the editor"), from the page's own words, or "".
        lower: Words that stand in lower case.
        capital: Words that carry a capital inside a sentence, in lower case.
        prose: All sentences, between blanks.
    """

    name: str
    subject: str
    place: str
    lower: frozenset[str]
    capital: frozenset[str]
    prose: str

    def inner(self, heading: str, *, is_title: bool = False) -> str:
        """A heading as it stands inside a sentence: ordinary words in lower case.

        A title's words that the text doesn't use keep their capital: they are names more often.
        """
        words = clean_heading(heading).split()
        if heading.isupper() and (len(words) > 1 or len(heading) > 4):
            return " ".join(w if f" {w} " in self.prose else w.lower() for w in words)
        kept = {
            position + offset
            for position, pair in enumerate(pairwise(words))
            if all(w[:1].isupper() for w in pair) and f" {' '.join(pair).rstrip('?')}" in self.prose
            for offset in (0, 1)
        }
        return " ".join(
            word if position in kept else self._inner_word(word, keep=is_title)
            for position, word in enumerate(words)
        )

    def opened(self, sentence: str) -> str:
        """A sentence without the capital that only its position gives its first word."""
        first, _, rest = sentence.partition(" ")
        bare = first.strip(",.:;()")
        if not bare.isalpha() or not bare.istitle() or bare == "I":
            return sentence
        lowered = bare.lower()
        common = lowered in VERBS or lowered in _FUNCTION_WORDS or _is_common(bare)
        known = bool(_variants(lowered) & self.lower)
        if known or (common and lowered not in self.capital):
            return f"{first.lower()} {rest}".rstrip()
        return sentence

    def _inner_word(self, word: str, *, keep: bool) -> str:
        bare = word.strip(",.:;()")
        if not bare.isalpha() or bare[1:] != bare[1:].lower() or len(bare) < 2:
            return word
        lowered = bare.lower()
        if lowered in _FUNCTION_WORDS:
            return word.lower()
        named = lowered in self.capital or (keep and not is_plural(bare))
        if named and not _variants(lowered) & self.lower:
            return word
        return word.lower()

    def noun(self, phrase: str) -> str:
        """The phrase behind the article that the page's text uses for it, if any."""
        bare = phrase.lower()
        if not bare or bare.startswith(("the ", "a ", "an ", "your ", "my ")):
            return phrase
        if " " in bare and bare.rsplit(maxsplit=1)[-1] in {"field", "option", "command", "file"}:
            return f"the {phrase}"
        article = _article(self.prose, bare)
        if not article or (article != "the" and is_plural(phrase)):
            return phrase
        return f"{article} {phrase}"

    def located(self, core: str) -> str:
        """The question's words with the page's subject behind them, unless they name it."""
        if DANGLING_END.search(core):
            return ""
        if not self.subject or len(core.split()) > _CONTEXT_UP_TO_WORDS:
            return core
        if content_words(self.subject) & content_words(core):
            return f"{core} {self.place}" if self._place_is_missing(core) else core
        return f"{core} {self.relation(core)} {self.noun(self.subject)}"

    def relation(self, core: str) -> str:
        """How the subject joins a question: done "with" a command, "for" a process, else "in"."""
        if is_command(self.subject) and _DOES.match(core):
            return "with"
        return "for" if _PROCESS.search(self.subject) else "in"

    def _place_is_missing(self, core: str) -> bool:
        return bool(self.place) and not content_words(self.place) & content_words(core)


def read_page(title: str, sections: Sequence[Section], codes: Codes) -> Page:
    """The page's subject, place and vocabulary, from its title and the chunk's text."""
    sentences = [s.text for section in sections for b in section.blocks for s in b.sentences]
    lower, capital = _vocabulary(sentences)
    prose = f" {' '.join(sentences)} "
    # Restoring the code lets "the `align` attribute" name an article for a heading in plain text.
    bare = Page("", "", "", lower, capital, codes.restore(prose))
    name = clean_title(title)
    if name.lower() in GENERIC_TITLES:
        name = _defined_name(sentences)
    place = _place(name, sentences)
    inner = bare.inner(name, is_title=True)
    capital |= {word.lower() for word in inner.split() if word[:1].isupper()}
    return Page(inner, _thing(inner), place, lower, capital, bare.prose)


def _is_common(word: str) -> bool:
    """Whether the word is spelt like an ordinary noun: names are seldom plurals."""
    return is_plural(word) or _COMMON_ENDING.search(word.lower()) is not None


@lru_cache(maxsize=256)
def _article(prose: str, noun: str) -> str:
    # "the quiet" in "the quiet capability" is no noun: a noun ends where its phrase ends.
    used = re.search(rf" (the|an?) {re.escape(noun)}{_NOUN_END}", prose, re.I)
    return used[1].lower() if used else ""


def _thing(name: str) -> str:
    """The title's words if they name a thing: short, no question, no command."""
    words = name.split()
    asks = _PHRASE.match(name) is not None or name.endswith("?")
    return "" if len(words) > _SUBJECT_WORDS or asks or imperative(name) else name


def _variants(word: str) -> set[str]:
    return {word, f"{word}s", word.removesuffix("s")}


def _vocabulary(sentences: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    lower: set[str] = set()
    capital: set[str] = set()
    for sentence in sentences:
        for position, word in enumerate(re.findall(r"[^\W\d_]+", sentence)):
            if word.islower():
                lower.add(word)
            elif position and word[0].isupper():
                capital.add(word.lower())
    return frozenset(lower), frozenset(capital)


_DEFINES = re.compile(
    r"^(?:the |an? )?(\S+(?: \S+){0,3}?)(?: \([^)]*\))? (?:is|are) (?:an?|the) ", re.I
)


def _defined_name(sentences: Sequence[str]) -> str:
    """What the page's first sentence defines ("Acme is a …"), for pages titled "Introduction"."""
    match = _DEFINES.match(sentences[0]) if sentences else None
    if match is None or POINTERS.search(match[1]) or PRONOUNS.search(match[1]):
        return ""
    return match[1]


def _place(name: str, sentences: Sequence[str]) -> str:
    """What the subject is part of: "in Acme" where a sentence opens "<name> in Acme …"."""
    if not name:
        return ""
    pattern = re.compile(
        rf"^{re.escape(name)} (in (?:the )?[A-Z][\w.-]*(?: [A-Z][\w.-]*){{0,3}})(?= [a-z])"
    )
    found = [match[1] for sentence in sentences if (match := pattern.match(sentence))]
    return min(found, key=len) if found else ""

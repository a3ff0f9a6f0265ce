"""Filter `grounding`: a question is about what its chunk says.

Two rules. The seed's is computed and counted; the one that is used is fair to short technical
words, to inflection and to scripts without spaces, and counts the place of the chunk as context.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from qindex_pipeline.questions.filters.terms import Term, Text

MIN_SHARED_WORDS = 2
MIN_WORD_CHARACTERS = 5
"""The seed's rule: a grounded question shares at least 2 words of more than 4 characters with
its chunk's own text; the prefix (page, section) does not count."""

MIN_SHARED_TERMS = 2
"""Terms that a question shares with its chunk or the place of it; one where it has only one."""

LEAST_SHARE = 1 / 3
"""Share of the terms that the place does not name, which must stand in the chunk's own text.

On 1,000 questions of the rules on git's manual the whole rule lets pass 97 % beside their own
chunk, 24 % beside another chunk of the same page and 4 % beside one of another page; the seed's
68 %, 15 % and 1 %. Without this share it would be 97 %, 33 % and 7 %; half of the terms instead
of a third hardly changes it, and is hard on questions in a user's words.
"""

_WORD = re.compile(r"\w+")


def shared_words(question: str, text: str) -> list[str]:
    """The question's words of more than 4 characters that stand in `text`, sorted, once each."""
    return sorted(_long_words(question) & _long_words(text))


@dataclass(frozen=True)
class Shared:
    """What a question shares with its chunk.

    Attributes:
        own: Terms that stand in the chunk's own text, in the question's order.
        context: Further terms that stand in the page's label or the headings above.
        invented: Technical names of the question of which no part stands in either.
        n_terms: Terms of the question.
        share: Share in the chunk's own text of the terms that the place does not name; 1 where
            it names all but one, which says nothing then ("How does pruning work in git?").
    """

    own: tuple[str, ...]
    context: tuple[str, ...]
    invented: tuple[str, ...]
    n_terms: int
    share: float

    @property
    def is_grounded(self) -> bool:
        """Something of the question stands in the chunk itself, enough with its place.

        One term in its own text, two with its place, a third of those that the place does not
        name, and no invented name.
        """
        enough = len(self.own) + len(self.context) >= min(MIN_SHARED_TERMS, self.n_terms)
        return bool(self.own) and enough and self.share >= LEAST_SHARE and not self.invented


def shared_terms(asked: Sequence[Term], own: Text, place: Text) -> Shared:
    """Look the terms of a question up in its chunk.

    Args:
        asked: The question's terms.
        own: The chunk's own text.
        place: The page's label and the headings above the chunk.
    """
    in_own = [term for term in asked if own.holds(term)]
    in_place = [term for term in asked if place.holds(term)]
    further = [term for term in asked if term not in in_place]
    invented = [
        term
        for term in asked
        if term.kind == "name" and not (own.holds_some(term) or place.holds_some(term))
    ]
    return Shared(
        own=tuple(term.shown for term in in_own),
        context=tuple(term.shown for term in in_place if term not in in_own),
        invented=tuple(term.shown for term in invented),
        n_terms=len(asked),
        share=sum(term in in_own for term in further) / len(further) if further[1:] else 1.0,
    )


def _long_words(text: str) -> set[str]:
    words = _WORD.findall(text.casefold())
    return {word for word in words if len(word) >= MIN_WORD_CHARACTERS}

"""Filter `language`: a question is asked in the language of its page.

Scripts decide where they differ. Two languages of one script are told apart by their function
words. A statistical detector is no judge of short technical questions: py3langid takes 3 of the
5,937 questions that the rules ask of git's and our test site's pages for Frisian or Pidgin, and
more as soon as the questions get shorter; function words take none.
"""

from collections.abc import Iterable

from qindex_pipeline.questions.filters.function_words import FUNCTION_WORDS
from qindex_pipeline.questions.filters.scripts import prose_words, scripts

_SCRIPTS_OF = {
    "ja": {"han", "kana"}, "zh": {"han"}, "ko": {"hangul", "han"}, "th": {"thai"},
    "ru": {"cyrillic"}, "uk": {"cyrillic"}, "bg": {"cyrillic"}, "be": {"cyrillic"},
    "sr": {"cyrillic"}, "mk": {"cyrillic"}, "el": {"greek"}, "he": {"hebrew"},
    "ar": {"arabic"}, "fa": {"arabic"}, "ur": {"arabic"}, "hi": {"devanagari"},
    "mr": {"devanagari"}, "ne": {"devanagari"}, "ta": {"tamil"}, "ka": {"georgian"},
    "hy": {"armenian"}, "lo": {"lao"}, "km": {"khmer"}, "my": {"myanmar"},
}  # fmt: skip
_LANGUAGES_OF: dict[str, list[str]] = {}
for _language, _words in FUNCTION_WORDS.items():
    for _word in _words:
        _LANGUAGES_OF.setdefault(_word, []).append(_language)

_CHINESE_ONLY = frozenset("么吗呢这哪为样怎软们说请让您")
"""Characters of nearly every Chinese question that Japanese does not write."""

_TELLING_WORDS = 5
"""Different function words from which a text tells its language better than the page's
declaration, which templates copy. Single letters don't count: in code they are names."""

_MARGIN = 2
"""Function words that a question must have of another language, and more than of its page's."""

_LEAST_FOREIGN_LETTERS = 2
"""A single letter is a symbol: α, µ."""

_LEAST_SHARE = 0.2
"""Of a page's letters; from there on a script is what the page is written in."""


def language_of(declared: str | None, text: str) -> str | None:
    """ISO 639-1 code of the language that `text` is written in, None where nothing tells it.

    Args:
        declared: What the page declares, such as `en-GB`.
        text: Its text.
    """
    found = sorted(_function_words(set(prose_words(text))).items(), key=lambda item: -item[1])
    (best, hits), (_, second) = found[0], found[1]
    if hits >= _TELLING_WORDS and hits >= 1.5 * second:
        return best
    return declared.lower().replace("_", "-").split("-")[0] if declared else None


def is_other_language(question: str, language: str | None, page: str) -> bool:
    """Whether a question is certainly not in its page's language.

    Args:
        question: The question.
        language: The page's language, as `language_of` tells it.
        page: Title, headings and text of what the question is about.
    """
    return _is_other_script(question, language, page) or _has_other_words(question, language)


def _is_other_script(question: str, language: str | None, page: str) -> bool:
    asked, written = scripts(question), scripts(page)
    own = _SCRIPTS_OF.get(language or "", set[str]())
    foreign = {
        script
        for script, letters in asked.items()
        if script != "latin" and letters >= _LEAST_FOREIGN_LETTERS
    }
    if foreign - written.keys() - own:
        return True
    if "kana" not in asked and written["kana"] and not _CHINESE_ONLY.isdisjoint(question):
        return not _CHINESE_ONLY & set(page)
    if foreign or (language in FUNCTION_WORDS and not own):
        return False
    beside_latin = written.total() - written["latin"]
    return bool(asked) and beside_latin >= max(1, _LEAST_SHARE * written.total())


def _has_other_words(question: str, language: str | None) -> bool:
    if language not in FUNCTION_WORDS:
        return False
    found = _function_words(set(prose_words(question)))
    own = found.pop(language)
    return max(found.values()) >= own + _MARGIN


def _function_words(words: Iterable[str]) -> dict[str, int]:
    """How many of the words are function words, by language."""
    counts = dict.fromkeys(FUNCTION_WORDS, 0)
    for word in words:
        if len(word) == 1:
            continue
        for language in _LANGUAGES_OF.get(word, ()):
            counts[language] += 1
    return counts

"""What the words of a query are: code, names of tools, verbs, function words, quoted text."""

import re
from collections.abc import Sequence

from qindex_pipeline.questions.generators.rule_set.english import VERBS, imperative

QUESTION_WORDS = frozenset(
    """what when where which who whose whom why how is are was were can could do does did should
    would will may must has have am what's where's how's who's isn't aren't can't don't
    doesn't""".split()
)
"""First words of questions."""

TOOLS = frozenset(
    """git gh svn hg npm npx pnpm yarn bun node deno pip pip3 pipx uv poetry conda python python3
    docker podman kubectl helm terraform ansible aws gcloud az cargo rustup go gem bundle composer
    mvn gradle dotnet apt apt-get brew dnf yum pacman apk systemctl ssh curl make cmake""".split()
)
"""Programs whose name opens a command line; such lines read differently from noun phrases."""

FUNCTION_WORDS = frozenset(
    """a an the and or but nor so if than then as at by for from in into of off on onto out over
    to up with without within via per between among across after before during under against
    about i me my we our you your it its this that these those there here he she they them their
    no not be been being is are was were am do does did has have had will would can could should
    may might must such some any other please""".split()
)

PREPOSITIONS = frozenset(
    "and as at by for from in into of on to with without between across after before".split()
)
"""Function words that may stand inside a noun phrase."""

_FURTHER_VERBS = frozenset("checkout clone discard downgrade untrack".split())
"""Verbs of commands that documentation prose, the source of `VERBS`, hardly uses."""

_FOREIGN_WORDS = frozenset(
    """le les des une pour avec dans sur est der das ein eine und mit ist nicht wie zum zur von el
    los las una para como que del il gli della een het voor niet och att som para uma com""".split()
)
# The bound keeps a long text of opening quotes linear; no query that has rules is longer.
_QUOTED = re.compile(
    r"`[^`]{0,200}`|\"[^\"]{0,200}\"|(?<!\w)'[^']{0,200}'(?!\w)|“[^”]{0,200}”|‘[^’]{0,200}’"
)
_MASK = 0xE000
_MASKED = re.compile("[\ue000-\uf8ff]")
_NAME = re.compile(r"\.?[A-Za-z\ue000-\uf8ff][\w\ue000-\uf8ff.+#/:-]*")
_OPTION = re.compile(r"(--?[A-Za-z][\w-]*)(?:=\S+)?")


def is_foreign(text: str) -> bool:
    """Whether the text holds a letter outside ASCII, a private character or a foreign word."""
    if any(c.isalpha() and not c.isascii() for c in text) or _MASKED.search(text):
        return True
    return not _FOREIGN_WORDS.isdisjoint(text.lower().split())


def mask_quotes(text: str) -> tuple[str, Sequence[str]]:
    """The text with one private character for each quoted part, and the parts in order."""
    quotes: list[str] = []

    def mask(found: re.Match[str]) -> str:
        quotes.append(found[0])
        return chr(_MASK + len(quotes) - 1)

    return _QUOTED.sub(mask, text), quotes


def unmask_quotes(text: str, quotes: Sequence[str]) -> str:
    """The text with its quoted parts in place."""
    return _MASKED.sub(lambda found: quotes[ord(found[0]) - _MASK], text)


def verbatim_words(query: str) -> list[str]:
    """The parts of a query that no rewriting may change: quoted text, options, code words."""
    masked, quotes = mask_quotes(query)
    words = [word.strip(",.;!?()") for word in _MASKED.sub(" ", masked).split()]
    return [*quotes, *(word for word in words if _is_code(word))]


def _is_code(word: str) -> bool:
    letters = word.replace("'", "").replace("’", "")
    is_hyphenated = letters.replace("-", "").isalpha() and not letters.startswith("-")
    is_plain = letters.isalpha() or is_hyphenated
    return bool(word) and (not is_plain or (not letters[1:].islower() and len(letters) > 1))


def is_option(word: str) -> bool:
    """Whether the word is an option of a command, `-x` or `--long[=value]`."""
    return bool(_OPTION.fullmatch(word))


def option_names(query: str) -> list[str]:
    """The options that stand outside quotes, without their values."""
    words = mask_quotes(query)[0].split()
    return [found[1] for word in words if (found := _OPTION.fullmatch(word))]


def is_name(word: str) -> bool:
    """Whether the word can stand in a noun phrase: letters first, no bracket, no comma."""
    return bool(_NAME.fullmatch(word))


def opens_command(words: Sequence[str]) -> bool:
    """Whether the words begin as a command line of a known program."""
    return len(words) > 1 and words[0].lower() in TOOLS and words[1].lower() not in FUNCTION_WORDS


def is_verb(word: str) -> bool:
    """Whether the word is a known verb in base form; one in capitals is a name (`DELETE`)."""
    known = word.lower() in VERBS or word.lower() in _FURTHER_VERBS
    return known and word in {word.lower(), word.capitalize()}


def is_only_verb(word: str) -> bool:
    """Whether the word is a known verb that is rarely a noun."""
    if not is_verb(word):
        return False
    return word.lower() in _FURTHER_VERBS or imperative(word) is not None

"""The rules, one query form each, in the order in which they are tried.

A rule takes a query whose quoted parts are masked and gives a question, or None where the query
has another form. Forms that brought nothing on git's manual are left alone on purpose: command
lines without an option (`git stash list`), `how to …`, `option to …`, and keywords that end
in a verb (`branch rename`).
"""

import re
from collections.abc import Callable, Sequence

from qindex_pipeline.questions.generators.rule_set.english import base_of_gerund, be
from qindex_pipeline.retrieval.normalizing.words import (
    FUNCTION_WORDS,
    PREPOSITIONS,
    TOOLS,
    is_name,
    is_only_verb,
    is_option,
    is_verb,
    opens_command,
)

Rule = Callable[[str], str | None]

_MAX_ACTION_WORDS = 14
_MAX_NOUN_WORDS = 5
_MAX_COMMAND_WORDS = 3

_COMMAND_TO = re.compile(r"(?:the )?(?:(\S+) )?command (to|for) (.+)", re.I)
_VERSUS = re.compile(r"(.+?) (?:vs\.?|versus) (.+)", re.I)
_DIFFERENCE = re.compile(r"(?:the )?differences? between (.+ and .+)", re.I)
_MEANING_OF = re.compile(r"(?:the )?(?:meaning|definition) of (.+)", re.I)
_MEANING = re.compile(r"(.+) (?:meaning|definition)", re.I)
_MESSAGE = re.compile(r"(.+) (error|warning)", re.I)
_FAILURE = re.compile(
    r"(.+?) (?:(?P<fails>fails|failed|failing)|(?:is )?(?P<is>not working)|"
    r"(?:doesn't|doesn’t|does not) (?P<does>work))",
    re.I,
)


def _command_to(query: str) -> str | None:
    """`command to install x` → "How do I install x?"."""
    found = _COMMAND_TO.fullmatch(query)
    if found is None:
        return None
    tool, purpose, rest = found.groups()
    action = rest if purpose.lower() == "to" else _of_gerund(rest)
    if action is None or (tool and tool.lower() not in TOOLS):
        return None
    return f"How do I {action} with {tool}?" if tool else f"How do I {action}?"


def _difference(query: str) -> str | None:
    """`x vs y` → "What is the difference between x and y?"."""
    if found := _DIFFERENCE.fullmatch(query):
        return f"What is the difference between {found[1]}?"
    if found := _VERSUS.fullmatch(query):
        return f"What is the difference between {found[1]} and {found[2]}?"
    return None


def _meaning(query: str) -> str | None:
    """`x meaning` → "What does x mean?"."""
    found = _MEANING_OF.fullmatch(query) or _MEANING.fullmatch(query)
    return f"What does {found[1]} mean?" if found and _is_subject(found[1]) else None


def _failure(query: str) -> str | None:
    """`x error` → "Why do I get the x error?", `x not working` → "Why is x not working?"."""
    found = _FAILURE.fullmatch(query)
    if found and _is_subject(found[1]):
        if found["is"]:
            return f"Why is {found[1]} not working?"
        return f"Why does {found[1]} {'fail' if found['fails'] else 'not work'}?"
    found = _MESSAGE.fullmatch(query)
    if found is None or not _is_subject(found[1]):
        return None
    if opens_command(found[1].split()):
        return f"Why does {found[1]} fail?"
    return f"Why do I get the {found[1]} {found[2]}?"


def _option(query: str) -> str | None:
    """`git push --force` → "What does the --force option of git push do?".

    A command line that goes on behind its option is asked about as a whole.
    """
    words = query.split()
    first = next((place for place, word in enumerate(words) if is_option(word)), None)
    if first is None or first > _MAX_COMMAND_WORDS or not _is_command(words[:first]):
        return None
    if first < len(words) - 1:
        return f"What does {query} do?" if first else None
    owner = f" of {' '.join(words[:first])}" if first else ""
    return f"What does the {words[first]} option{owner} do?"


def _is_command(words: Sequence[str]) -> bool:
    return all(
        word.islower() and is_name(word) and word not in FUNCTION_WORDS for word in words
    ) and not (words and is_only_verb(words[0]))


def _command_line(query: str) -> str | None:
    """A command line without an option stays as it is: no later rule may take it for a noun."""
    return query if opens_command(query.split()) else None


def _action(query: str) -> str | None:
    """`delete a branch`, `Deleting a branch` → "How do I delete a branch?"."""
    text = re.sub(r"(?<=[a-z])\.$", "", query)
    words = text.split()
    if not 2 <= len(words) <= _MAX_ACTION_WORDS:
        return None
    first = words[0]
    # Of two words that both may be nouns the phrase is a noun: "commit hash", "stash names".
    if is_only_verb(first) or (is_verb(first) and len(words) > 2):
        return f"How do I {first.lower()}{text[len(first) :]}?"
    action = _of_gerund(text)
    return f"How do I {action}?" if action else None


def _of_gerund(text: str) -> str | None:
    """`installing the x` → `install the x`; None where the first word is no known gerund."""
    first, _, rest = text.partition(" ")
    base = base_of_gerund(first)
    return f"{base} {rest}" if base and rest else None


def _noun(query: str) -> str | None:
    """`detached HEAD` → "What is detached HEAD?"."""
    words = query.split()
    if len(words) > _MAX_NOUN_WORDS or not all(map(is_name, words)):
        return None
    if not _is_subject(query) or (len(words) > 1 and is_only_verb(words[-1])):
        return None
    inner = {word.lower() for word in words} & FUNCTION_WORDS
    return f"What {be(query)} {query}?" if inner <= PREPOSITIONS else None


def _is_subject(text: str) -> bool:
    """Whether the text neither opens nor ends with a function word ("there is an …")."""
    words = text.lower().split()
    return not {words[0], words[-1]} & FUNCTION_WORDS


RULES: Sequence[Rule] = (
    _command_to,
    _difference,
    _meaning,
    _failure,
    _option,
    _command_line,
    _action,
    _noun,
)

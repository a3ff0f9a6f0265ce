"""Sentences that tell how to do something, asked as "How do I …"."""

import re
from collections.abc import Callable, Iterator

from qindex_pipeline.questions.generators.rule_set.clauses import clause, command, subject
from qindex_pipeline.questions.generators.rule_set.english import (
    base_of_participle,
    be,
    do,
    imperative,
    is_verb,
)
from qindex_pipeline.questions.generators.rule_set.markup import is_code
from qindex_pipeline.questions.generators.rule_set.phrasing import Asked

_MEANS = re.compile(r"\b(?:by|using|with|via|through|from|into|use)\b")


def _how(text: str, worth: float) -> Iterator[Asked]:
    action = command(text)
    words = action.split()
    if len(words) > 1 and words[0].lower() not in _NOT_ASKED and words[1] != "to":
        yield Asked(f"how do I {action[0].lower()}{action[1:]}", worth)


def asks_how(worth: float) -> Callable[[re.Match[str]], Iterator[Asked]]:
    """A rule that asks how to do what the pattern's group x says."""
    return lambda match: _how(match["x"], worth)


def when_to_use(match: re.Match[str]) -> Iterator[Asked]:
    """Ask of "Use X when you want to Y": when to use X, and how to do Y."""
    tool = clause(match["t"])
    if tool and len(tool.split()) <= 5:
        yield Asked(f"when should I use {tool}", 0.6)
    yield from _how(match["x"], 0.85)


def possible(match: re.Match[str]) -> Iterator[Asked]:
    """Ask of "You can X": how, where the sentence shows a means, else whether."""
    part = re.sub(r"^(?:also|then|now|simply|just|either|even|easily|optionally|always|only|"
                  r"directly|still|instead|usually) ", "", match["x"])  # fmt: skip
    action = command(part)
    if len(action.split()) < 2:
        return
    shown = any(map(is_code, match["x"])) or _MEANS.search(match["x"])
    stem, worth = ("how do I", 0.7) if shown else ("can I", 0.6)
    yield Asked(f"{stem} {action}", worth)


def possible_passive(match: re.Match[str]) -> Iterator[Asked]:
    """Ask of "X can be disabled": how to disable X."""
    what, verb = subject(match["x"]), base_of_participle(match["v"])
    if not what or verb is None:
        return
    rest = clause(match["r"])
    yield Asked(f"how do I {verb} {what}", 0.7)
    if rest and len(rest.split()) < 5 and not rest.startswith("by"):
        yield Asked(f"can {what} be {match['v']} {rest}", 0.45)


def used_for(match: re.Match[str]) -> Iterator[Asked]:
    """Ask of "X is used to Y": what X is for, and how to do Y."""
    what = subject(match["x"])
    if not what:
        return
    yield Asked(f"what {be(what)} {what} used for", 0.7)
    if match["to"] == "to":
        yield from _how(match["y"], 0.68)


def enables(match: re.Match[str]) -> Iterator[Asked]:
    """Ask of "X lets you Y": how to do Y, and what X allows."""
    action = command(match["y"])
    if action and action.split()[0].lower() not in _NOT_ASKED:
        yield Asked(f"how can I {action}", 0.72)
    if what := subject(match["x"]):
        yield Asked(f"what {do(what)} {what} allow me to do", 0.4)


def done_by(match: re.Match[str]) -> Iterator[Asked]:
    """Ask of "X is declared using Y": how to declare X."""
    what, verb = subject(match["x"]), base_of_participle(match["v"])
    if not what or verb is None or verb in _MAKERS_VERBS:
        return
    if match["p"] not in {"in", "inside", "from"} or verb in _WRITERS_VERBS:
        yield Asked(f"how do I {verb} {what}", 0.7)


def best_way(match: re.Match[str]) -> Iterator[Asked]:
    """Ask of "X is the easiest way to Y": what that way is."""
    action = command(match["y"])
    if action:
        yield Asked(f"what is the {match['q'].lower()} way to {action}", 0.8)


def instruction(match: re.Match[str]) -> Iterator[Asked]:
    """A sentence that opens with a verb: how to do what it says."""
    action = clause(match["x"])
    words = action.split()
    if (
        words
        and is_verb(words[0])
        and imperative(action)
        and 3 <= len(words) <= 12
        and words[0].lower() not in _READER_VERBS
    ):
        yield Asked(f"how do I {action[0].lower()}{action[1:]}", 0.5)


# "It is built with Rust" is about its makers; "options are set in the file" about its users.
_MAKERS_VERBS = frozenset("build design make develop write call follow determine run".split())
_WRITERS_VERBS = frozenset("add configure create declare define enable place set specify".split())
_NOT_ASKED = frozenset("understand know see learn help indicate".split())
_READER_VERBS = frozenset(
    """see read check look visit note refer follow remember make keep choose select consider avoid
    ensure try go learn use run contact browse find get prefer let report verify""".split()
)

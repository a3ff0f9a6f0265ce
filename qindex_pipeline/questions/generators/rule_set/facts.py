"""Sentences that state something, asked as "What …", "Is …", "Where …"."""

import re
from collections.abc import Iterator

from qindex_pipeline.questions.generators.rule_set.clauses import (
    NO_SUBJECT,
    agrees,
    clause,
    subject,
)
from qindex_pipeline.questions.generators.rule_set.english import (
    base_of_third_person,
    be,
    do,
    imperative,
    is_plural,
    is_verb,
)
from qindex_pipeline.questions.generators.rule_set.phrasing import Asked

_NO_DEFINITION = re.compile(r"the (?:same|following|first|last|only|default|result|case|one)\b")
_TROUBLE = re.compile(
    r"\b(?:fails?|failed|errors?|crash(?:es)?|broken|missing|conflicts?|refus\w+|reject\w+|cannot|"
    r"can't|unable|denied|wrong|lost|mistake\w*|corrupt\w*)\b",
    re.I,
)


def condition(match: re.Match[str]) -> Iterator[Asked]:
    """Ask of "If C, R": what happens if C, or what to do where R is advice."""
    condition = clause(match["c"]) if "," not in match["c"] else ""
    words = condition.split()
    least = 4 if words[:1] == ["you"] else 3
    if not least <= len(words) <= 14 or words[0].lower() in _NO_CONDITION:
        return
    if " will " in condition or _PARTICIPLE.match(condition):
        return  # the comma does not end the condition, or it has no subject
    word = "when" if match["w"].lower() == "when" else "if"
    result = match["r"]
    told = words[0].lower() == "you" or _TROUBLE.search(condition)
    acts = (told and imperative(result)) or re.match(
        r"you (?:can|should|must|need|may|have)\b|feel free|please ", result, re.I
    )
    if _TROUBLE.search(condition) and acts:
        yield Asked(f"what should I do {word} {condition}", 0.75)
    elif acts:
        yield Asked(f"what should I do {word} {condition}", 0.55)
    else:
        yield Asked(f"what happens {word} {condition}", 0.55)


def condition_behind(match: re.Match[str]) -> Iterator[Asked]:
    """Ask of "R if C": what happens if C."""
    condition = clause(match["c"])
    words = condition.split()
    if _ASKS_ITSELF.search(match["x"]) or _PARTICIPLE.match(condition):
        return
    if 3 <= len(words) <= 12 and "," not in condition and not NO_SUBJECT.match(condition):
        yield Asked(f"what happens {match['w'].lower()} {condition}", 0.38)


def by_default(match: re.Match[str]) -> Iterator[Asked]:
    """Ask of "By default, X …": where X is kept, or what X does, by default."""
    rest = match["r"]
    placed = re.match(
        r"(?P<x>.+?) (?P<b>is|are) (?P<v>stored|saved|written|placed|added|created|installed|"
        r"located|kept|put|cached) (?:to|in|at|under) ",
        rest,
    )
    if placed and (what := subject(placed["x"])):
        yield Asked(f"where {placed['b']} {what} {placed['v']} by default", 0.7)
        return
    acting = re.match(r"(?P<x>.{1,50}?) (?P<v>\w+)(?: |$)", rest)
    while acting:
        what = subject(acting["x"])
        verb = acting["v"].lower()
        known = is_verb(verb) if what and is_plural(what) else base_of_third_person(verb)
        if what and known and verb != "is":
            yield Asked(f"what {do(what)} {what} do by default", 0.65)
            return
        if len(acting["x"].split()) >= 4:
            return
        acting = re.match(rf"(?P<x>{re.escape(acting[0].strip())}) (?P<v>\w+)(?: |$)", rest)


def default_of(match: re.Match[str]) -> Iterator[Asked]:
    """Ask of "X defaults to Y": the default of X."""
    if what := subject(match["x"]):
        yield Asked(f"what is the default of {what}", 0.72)


def usual_state(match: re.Match[str]) -> Iterator[Asked]:
    """Ask of "X is disabled by default": whether it is."""
    if what := subject(match["x"]):
        yield Asked(f"{be(what)} {what} {match['v']} by default", 0.65)


def state(match: re.Match[str]) -> Iterator[Asked]:
    """Ask of "X is required": whether it is."""
    if what := subject(match["x"]):
        yield Asked(f"{be(what)} {what} {match['s'].lower()}", 0.6)


def place_of(match: re.Match[str]) -> Iterator[Asked]:
    """Ask of "X is stored in Y": where X is stored."""
    if what := subject(match["x"]):
        yield Asked(f"where {be(what)} {what} {match['v']}", 0.7)


def needs(match: re.Match[str]) -> Iterator[Asked]:
    """Ask of "X requires Y": what X requires."""
    what = subject(match["x"])
    if what and agrees(what, match["v"]):
        yield Asked(f"what {do(what)} {what} require", 0.6)


def supports(match: re.Match[str]) -> Iterator[Asked]:
    """Ask of "X supports Y": whether it does, or what it supports."""
    what, thing = subject(match["x"]), clause(match["y"])
    if not agrees(what, match["v"]):
        return
    if what and thing and len(thing.split()) <= 6 and "," not in thing:
        yield Asked(f"{do(what)} {what} support {thing}", 0.6)
    elif what:
        yield Asked(f"what {do(what)} {what} support", 0.5)


def impossible(match: re.Match[str]) -> Iterator[Asked]:
    """Ask of "X cannot Y": whether X can."""
    what, action = subject(match["x"]), clause(match["y"])
    if what and action and len(action.split()) <= 8 and is_verb(action.split()[0]):
        yield Asked(f"can {what} {action}", 0.55)


def defined(match: re.Match[str]) -> Iterator[Asked]:
    """Ask of "X is a Y": what X is."""
    what = subject(match["x"])
    if _BARE.match(what) or _NO_DEFINITION.match(match["y"]):
        return
    if what and len(match["y"].split()) > 2 and len(what.split()) <= 4:
        yield Asked(f"what {be(what)} {what}", 0.62)


def acts(match: re.Match[str]) -> Iterator[Asked]:
    """Ask of "X controls Y": what X does."""
    what, verb = subject(match["x"]), base_of_third_person(match["v"])
    if what and verb and len(what.split()) <= 4 and not _BARE.match(what):
        yield Asked(f"what {do(what)} {what} {'do' if verb != 'contain' else 'contain'}", 0.5)


# Conditions without a subject: "when used with x", "when cloning".
_PARTICIPLE = re.compile(r"(?:\w+ed|\w+ing|set|given|run|written)\b", re.I)
# "The command" names nothing outside its own page.
_BARE = re.compile(r"the [a-z]+$")
# "It checks if …" states no condition.
_ASKS_ITSELF = re.compile(
    r"\b(?:tells?|checks?|sees?|knows?|determines?|asks?|tests?|decides?|verif(?:y|ies)|even|as)$",
    re.I,
)
_NO_CONDITION = frozenset("this that it not so necessary such possible one true false".split())

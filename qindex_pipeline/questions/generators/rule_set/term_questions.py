"""Questions from the description of an option, a field or a command."""

import re
from collections.abc import Iterator

from qindex_pipeline.questions.generators.rule_set.clauses import clause
from qindex_pipeline.questions.generators.rule_set.english import base_of_third_person, imperative
from qindex_pipeline.questions.generators.rule_set.heading_forms import subject_of
from qindex_pipeline.questions.generators.rule_set.markup import Codes, Section, is_code
from qindex_pipeline.questions.generators.rule_set.page import Page
from qindex_pipeline.questions.generators.rule_set.phrasing import Asked, is_command
from qindex_pipeline.questions.generators.rule_set.sentences import sentence_questions
from qindex_pipeline.questions.generators.rule_set.terms import Term, looks_like_code

_DOING = frozenset({"command", "subcommand", "function", "method", "hook", "value"})
# "Adds x and starts y": only the first verb gets its base form.
_SECOND_DEED = re.compile(r",? (?:and|or) (?=[a-z]+s\b)")
_ADVERB = re.compile(r"^(also|only|always|[a-z]+ly) ", re.I)
_ASIDE = re.compile(r"^(?:instead of|in addition to|rather than|together with) [^,]{3,50}, ", re.I)
# What a value or a field does, and no reader wants to do.
_STATING = frozenset(
    "indicate represent describe contain refer identify determine cause require allow".split()
)


def term_questions(term: Term, section: Section, page: Page, codes: Codes) -> Iterator[Asked]:
    """What the term is for, what it defaults to, and how to do what its description says."""
    plain = codes.restore(term.name)
    suffix = _suffix(term, _owner(section, page), page, flag=plain.startswith("-"))
    is_name = any(map(is_code, term.name)) or looks_like_code(plain)
    if plain.startswith("-"):
        yield Asked(f"what does the {term.name} option{suffix} do", 0.72)
    elif is_name:
        yield _asked_of_name(term, suffix)
    elif len(term.description.split()) > 5:
        yield Asked(page.located(f"what is {page.inner(plain)}"), 0.38)
    described = _described(term, page)
    if described:
        yield Asked(page.located(described), 0.74 if is_name else 0.66)
    if term.default and is_name:
        yield Asked(f"what is the default of {term.name}{suffix}", 0.5)


def _asked_of_name(term: Term, suffix: str) -> Asked:
    if term.kind in _DOING:
        return Asked(f"what does the {term.name} {term.kind}{suffix} do", 0.72)
    used_in = suffix.replace(" of ", " in ", 1)
    if term.kind:
        return Asked(f"what is the {term.name} {term.kind} used for{used_in}", 0.78)
    return Asked(f"what is {term.name} used for{used_in}", 0.66)


def _described(term: Term, page: Page) -> str:
    """What the description says how to do, where it opens with a verb ("Aligns the text …")."""
    for sentence in re.split(r"(?<=[.])\s+", term.description, maxsplit=3)[:3]:
        action = clause(_ASIDE.sub("", sentence.rstrip(" .")))
        if len(action.split()) < 3:
            continue
        adverb = _ADVERB.match(action)
        done = imperative(action[adverb.end() :] if adverb else action)
        if done and base_of_third_person(action.split()[0]):
            done = _SECOND_DEED.split(done, maxsplit=1)[0]
        if done and done.split()[0] not in _STATING:
            kept = f"{adverb[1].lower()} " if adverb and adverb[1].lower() != "also" else ""
            return f"how do I {kept}{done}"
        if not sentence.startswith(("This option", "This is")):
            break
    found = next(sentence_questions(page.opened(term.description.partition(". ")[0])), None)
    return found.core if found and found.worth > 0.6 else ""


def _suffix(term: Term, owner: str, page: Page, *, flag: bool) -> str:
    if not owner or owner.lower() == term.name.lower():
        return ""
    if is_command(page.subject):
        return f" of {page.subject}" if term.kind or flag else f" in {page.subject}"
    place = f" {page.place}" if owner == page.subject and page.place else ""
    if not place and owner != page.subject and page.subject:
        place = f" in {page.noun(page.subject)}"
    return f" in {page.noun(owner)}{place}"


def _owner(section: Section, page: Page) -> str:
    """What the names belong to: the nearest heading that names a thing, its own included."""
    inner = page.inner(section.heading)
    probe = Section((*section.path, ""), section.in_text, section.blocks)
    return subject_of(probe, page) if inner else page.subject

"""Questions from headings: what a reader who looks for the section would ask."""

import re
from collections.abc import Iterator

from qindex_pipeline.questions.generators.rule_set.english import (
    be,
    do,
    is_plural,
    singular,
    with_article,
)
from qindex_pipeline.questions.generators.rule_set.heading_forms import (
    KINDS,
    SAYS_NOTHING,
    TEMPLATES,
    action,
    as_question,
    is_kinds,
    is_skipped,
    process,
    subject_of,
)
from qindex_pipeline.questions.generators.rule_set.markup import Section
from qindex_pipeline.questions.generators.rule_set.page import Page
from qindex_pipeline.questions.generators.rule_set.phrasing import (
    Asked,
    clean_heading,
    clean_title,
    is_command,
)

_SYNTAX = re.compile(r"\b(?:syntax|markup|grammar|notation|language)\b", re.I)


def heading_questions(section: Section, page: Page, title: str) -> Iterator[Asked]:
    """Questions that the whole section answers, from its heading."""
    heading = clean_heading(section.heading)
    has_code = any(block.kind == "code" for block in section.blocks)
    if not heading or heading.casefold() in {title.casefold(), clean_title(title).casefold()}:
        yield from _page_questions(page, has_code=has_code)
        return
    if not is_skipped(heading) and not SAYS_NOTHING.match(heading):
        yield from _from_heading(heading, section, page, has_code=has_code)


def _page_questions(page: Page, *, has_code: bool) -> Iterator[Asked]:
    whole = as_question(page.name, page) or action(page.name)
    if whole:
        yield Asked(whole, 0.9)
        return
    subject = page.subject or page.name
    if not subject or is_skipped(subject) or SAYS_NOTHING.match(subject):
        return
    described = f"{page.noun(subject)} {page.place}".strip()
    yield Asked(f"what {be(subject)} {described}", 0.6)
    if has_code:
        yield Asked(f"how do I use {described}", 0.7)


def _from_heading(heading: str, section: Section, page: Page, *, has_code: bool) -> Iterator[Asked]:
    inner = page.inner(heading)
    subject = subject_of(section, page)
    template = next((q for pattern, q in TEMPLATES if pattern.match(heading)), None)
    listed = template or is_kinds(inner.rpartition(" ")[2])
    if listed and not section.in_text:
        return  # another part of the section answers it
    if template:
        yield from _templated(template, subject, page)
        return
    asked = as_question(inner, page)
    if asked:
        # A question of the page's own stands as it is.
        stands = inner.endswith("?") or len(asked.split()) > 8
        yield Asked(asked if stands else page.located(asked), 1.0)
        return
    phrase = process(inner, subject, page)
    if phrase:
        yield Asked(phrase, 0.85)
        return
    task = action(inner)
    if task:
        yield Asked(page.located(task), 0.9)
        return
    yield from _noun_questions(inner, section, page, has_code=has_code)


def _templated(template: str, subject: str, page: Page) -> Iterator[Asked]:
    if not subject:
        return
    whole = f"{page.noun(subject)}"
    if subject == page.subject and page.place:
        whole = f"{whole} {page.place}"
    if template.startswith("what is {s}"):
        verb = "what does {s} do" if is_command(subject) else f"what {be(subject)} {{s}}"
        yield Asked(verb.format(s=whole), 0.75)
        return
    core = template.format(s=whole)
    if is_plural(subject):
        core = core.replace(" does ", " do ")
    worth = 0.95 if core.startswith(("how do I install", "how do I get")) else 0.75
    yield Asked(core, worth)
    if "syntax" in template:
        verb = "write" if is_plural(subject) else "use"
        yield Asked(f"how do I {verb} {_one(subject)} {page.place}".rstrip(), 0.9)


def _noun_questions(inner: str, section: Section, page: Page, *, has_code: bool) -> Iterator[Asked]:
    inner = re.sub(r" (?:reference|overview|guide|basics)$", "", inner)
    words = inner.split()
    if not words or len(words) > 8 or re.search(r"[:—–]", inner):
        return
    if singular(words[-1].lower()) in KINDS and is_plural(inner):
        core = _listed(inner, subject_of(section, page), page)
        if core:
            yield Asked(core, 0.65)
            return
    if words[-1].lower() in {"explained", "revisited"}:
        return
    if has_code:
        yield from _shown(inner, section, page)
    if len(words) == 1 and inner.endswith("ing"):
        yield Asked(page.located(f"how does {inner} work"), 0.6)
    else:
        yield Asked(f"what {be(inner)} {page.located(page.noun(inner))}", 0.55)


def _listed(inner: str, subject: str, page: Page) -> str:
    """The question of a section that lists things ("Attributes")."""
    if not subject or subject == inner:
        return ""
    if " " in inner and subject == page.subject:
        return page.located(f"what are the {inner}")
    return f"what {inner} {do(subject)} {page.noun(subject)} have"


def _shown(inner: str, section: Section, page: Page) -> Iterator[Asked]:
    """Questions of a section that shows its thing in code."""
    if _SYNTAX.search(" ".join((page.subject, *section.path[:-1]))):
        verb = "write" if is_plural(inner) else "use"
        yield Asked(f"how do I {verb} {page.located(_one(inner))}", 0.85)
        yield Asked(f"how do I add {page.located(_one(inner))}", 0.5)
    elif " " not in inner and inner != inner.lower():
        yield Asked(f"how do I use {page.located(inner)}", 0.7)


def _one(noun: str) -> str:
    return with_article(singular(noun)) if is_plural(noun) and " and " not in noun else noun

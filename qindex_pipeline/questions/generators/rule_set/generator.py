"""`propose`: the rules applied to one chunk, from markdown to a few checked questions."""

import re
from collections.abc import Iterable, Iterator, Sequence

from qindex_pipeline.questions.generators.proposal import Proposal
from qindex_pipeline.questions.generators.rule_set.choose import Draft, choose
from qindex_pipeline.questions.generators.rule_set.code import install_questions
from qindex_pipeline.questions.generators.rule_set.heading_forms import is_skipped
from qindex_pipeline.questions.generators.rule_set.headings import heading_questions
from qindex_pipeline.questions.generators.rule_set.markup import (
    Block,
    Codes,
    Section,
    without_unsafe,
)
from qindex_pipeline.questions.generators.rule_set.page import Page, read_page
from qindex_pipeline.questions.generators.rule_set.phrasing import Asked, finish
from qindex_pipeline.questions.generators.rule_set.reader import read_sections
from qindex_pipeline.questions.generators.rule_set.sentences import sentence_questions
from qindex_pipeline.questions.generators.rule_set.term_questions import term_questions
from qindex_pipeline.questions.generators.rule_set.terms import section_terms

RULES_VERSION = "rules-1"
_MAX_EVIDENCE = 600
_ANSWER_WORDS = 25
_MIN_PROSE_WORDS = 3
_LINK_SHARE = 0.6
# Sentences behind the first ones of a section are details more often than answers.
_LATER_SENTENCE = 0.9
_Found = tuple[Asked, int, int, str]


def propose(title: str, heading_path: Sequence[str], text: str, limit: int = 8) -> list[Proposal]:
    """Questions that a chunk answers, best first.

    Pure and deterministic; any string is fine. A chunk of links gives none.

    Args:
        title: The page's label.
        heading_path: Headings above the chunk, outermost first; its own may be the last.
        text: The chunk's markdown.
        limit: The most questions to return.

    Returns:
        At most `limit` proposals, whose evidence is a verbatim part of `text`.
    """
    codes = Codes()
    title = without_unsafe(title)
    sections = [s for s in read_sections(text, heading_path, codes) if _says_something(s)]
    page = read_page(title, sections, codes)
    drafts = [
        draft
        for number, section in enumerate(sections)
        for draft in _drafts(number, section, page, title, codes, text)
    ]
    sure = [
        draft for draft in drafts if draft.family != "heading" or sections[draft.section].in_text
    ]
    # The heading above a part of a section may be answered by another part: only as a last resort.
    return [Proposal(d.question, text[d.start : d.end]) for d in choose(sure or drafts, limit)]


def _drafts(
    number: int, section: Section, page: Page, title: str, codes: Codes, text: str
) -> Iterator[Draft]:
    for asked, start, end, family in _section_questions(section, page, title, codes):
        question = finish(asked.core, codes)
        first, last = _trim(text, start, end)
        if question and first < last:
            yield Draft(question, first, last, asked.worth, number, family)


def _section_questions(section: Section, page: Page, title: str, codes: Codes) -> Iterator[_Found]:
    start, end = _answer_span(section)
    yield from _at(heading_questions(section, page, title), start, end, "heading")
    if is_skipped(section.heading):
        return
    described: set[int] = set()
    for term in section_terms(section, codes):
        described.add(term.start)
        yield from _at(term_questions(term, section, page, codes), term.start, term.end, "term")
    for position, block in enumerate(section.blocks):
        if block.kind == "code":
            yield from _at(install_questions(block), block.start, block.end, "code")
        else:
            skip = 1 if block.start in described and block.kind == "item" else 0
            yield from _prose_questions(section, position, page, skip)


def _prose_questions(section: Section, position: int, page: Page, skip: int) -> Iterator[_Found]:
    block = section.blocks[position]
    if block.link_chars > _LINK_SHARE * len(block.text):
        return
    following = section.blocks[position + 1 : position + 2]
    leads = bool(following) and following[0].kind == "code" and block.text.endswith(":")
    antecedent = ""
    for number, sentence in enumerate(block.sentences):
        if number < skip:
            continue
        is_lead = leads and number == len(block.sentences) - 1
        end = following[0].end if is_lead else sentence.end
        worth = (1.1 if is_lead else 1.0) * (_LATER_SENTENCE if number or position > 1 else 1.0)
        for asked in sentence_questions(page.opened(sentence.text), antecedent):
            located = Asked(page.located(asked.core), asked.worth * worth)
            yield located, sentence.start, end, "sentence"
        antecedent = _antecedent(sentence.text, page)


def _antecedent(sentence: str, page: Page) -> str:
    """What "it" or "they" means behind a sentence that opens with the page's subject."""
    opened = re.match(rf"(?:(?:the|an?) )?{re.escape(page.subject)}\b", sentence, re.I)
    return page.noun(page.subject) if page.subject and opened else ""


def _at(found: Iterable[Asked], start: int, end: int, family: str) -> Iterator[_Found]:
    return ((asked, start, end, family) for asked in found)


def _answer_span(section: Section) -> tuple[int, int]:
    """The section's first blocks, until they say something."""
    words = 0
    end = section.blocks[0].end
    for block in section.blocks:
        end = block.end
        words += len(block.text.split())
        if words >= _ANSWER_WORDS and not block.text.rstrip().endswith(":"):
            break
    return section.blocks[0].start, end


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without blanks at its ends, cut at a blank where it is too long."""
    while start < end and text[start].isspace():
        start += 1
    if end - start > _MAX_EVIDENCE:
        cut = text.rfind(" ", start, start + _MAX_EVIDENCE)
        end = cut if cut > start else start + _MAX_EVIDENCE
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _says_something(section: Section) -> bool:
    """Whether the section has code or prose of its own, not only links."""
    if any(block.kind == "code" for block in section.blocks):
        return True
    words = sum(_own_words(block) for block in section.blocks)
    characters = sum(len(block.text) for block in section.blocks)
    links = sum(block.link_chars for block in section.blocks)
    return words >= _MIN_PROSE_WORDS and links <= _LINK_SHARE * characters


def _own_words(block: Block) -> int:
    share = 1 - block.link_chars / len(block.text) if block.text else 0
    return round(len(block.text.split()) * share)

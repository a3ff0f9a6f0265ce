"""Forms of headings: questions, actions, names of things, and headings that say nothing."""

import re
from collections.abc import Callable

from qindex_pipeline.questions.generators.rule_set.english import do, imperative, singular
from qindex_pipeline.questions.generators.rule_set.markup import Section
from qindex_pipeline.questions.generators.rule_set.page import Page
from qindex_pipeline.questions.generators.rule_set.phrasing import clean_heading

# Headings that say what kind of text follows; "{s}" is the page's or the parent's subject.
TEMPLATES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"(?:{pattern})$", re.I), question)
    for pattern, question in (
        (r"(?:quick |manual )?install(?:ation|ing)?(?: (?:instructions|guide))?",
         "how do I install {s}"),
        (r"set ?-?up|setting up", "how do I set up {s}"),
        (r"getting started|quick ?start|first steps", "how do I get started with {s}"),
        (r"(?:basic |general |advanced )?usage|how to use|use|using", "how do I use {s}"),
        (r"(?:basic )?syntax|synopsis", "what is the syntax of {s}"),
        (r"examples?|full example|complete example|example usage", "what is an example of {s}"),
        (r"description|overview|introduction|about|name|summary|purpose|basics",
         "what is {s}"),
        (r"requirements|prerequisites|system requirements|dependencies",
         "what are the requirements of {s}"),
        (r"environment(?: variables)?", "what environment variables does {s} use"),
        (r"files", "what files does {s} use"),
        (r"limitations|caveats|known (?:issues|limitations)|bugs|restrictions|gotchas",
         "what are the limitations of {s}"),
        (r"configuration|config|configuring|settings", "how do I configure {s}"),
        (r"customi[sz]ation|customi[sz]ing", "how do I customize {s}"),
        (r"migration|migrating|upgrading|upgrade|upgrade guide",
         "how do I migrate to a new version of {s}"),
        (r"troubleshooting|common (?:issues|problems|errors)",
         "how do I troubleshoot problems with {s}"),
        (r"security|security considerations", "what are the security considerations of {s}"),
        (r"performance", "how does {s} perform"),
        (r"default values|defaults", "what are the defaults of {s}"),
        (r"exit (?:status|codes?)|return codes?", "what exit codes does {s} return"),
        (r"return values?|returns", "what does {s} return"),
        (r"output(?: format)?", "what does the output of {s} look like"),
        (r"(?:key |main )?features|highlights", "what are the features of {s}"),
        (r"benefits|advantages|motivation|rationale", "what are the advantages of {s}"),
        (r"architecture|how it works|internals", "how does {s} work"),
    )
)  # fmt: skip
_NAVIGATION = re.compile(
    r"(?:appendix.*|"
    r"next steps?|what(?:'|’)?s next|see also|related(?: \w+)?|further reading|learn more|links|"
    r"contents|table of contents|on this page|navigation|license|copyright|authors?|credits|"
    r"contributors?|acknowledge?ments|references|resources|"
    r"feedback|edit this page|history|changelog)$",
    re.I,
)
SAYS_NOTHING = re.compile(
    r"(?:notes?|tips?|warnings?|git|comments?|steps?|others?|misc(?:ellaneous)?|conclusion|more|"
    r"abstract|details|discussion|background|answer|solution)$",
    re.I,
)
KINDS = frozenset(
    """attribute option flag parameter argument prop property field setting variable command
    subcommand value method function event key column type mode hook directive keyword tag
    modifier operator token class component format feature""".split()
)
_HOW_TO = re.compile(r"^how (?:to|do you|do i|can i|can you) (?P<x>.+)$", re.I)
_HOW_WORKS = re.compile(r"^how (?:does |do )?(?P<x>.+?) works?$", re.I)
_HOW_IS = re.compile(r"^how (?P<x>.+?) (?P<b>is|are) (?P<y>\w+ed\b.*)$", re.I)
_WH_TO = re.compile(r"^(?P<w>when|where|what) to (?P<x>.+)$", re.I)
_WHY = re.compile(r"^why (?P<x>.+)$", re.I)
_VERSUS = re.compile(r"^(?P<x>.+?) (?:vs\.?|versus) (?P<y>.+)$", re.I)
_DIFFERENCE = re.compile(r"^(?:the )?differences? between (?P<x>.+)$", re.I)
_QUESTION = re.compile(
    r"^(?:what|when|where|which|who|why|how|is|are|can|do|does|should|will|must|may|could) ", re.I
)
_AUXILIARY = re.compile(r"^(?:is|are|do|does|did|should|would|can|will|was|were|has|not) ", re.I)
_PROCESSES = {
    "usage": "use", "use": "use", "installation": "install", "setup": "set up",
    "configuration": "configure", "integration": "integrate", "deployment": "deploy",
}  # fmt: skip
_NAMES = "|".join(_PROCESSES)
_PROCESS_WITH = re.compile(rf"^(?P<p>{_NAMES}) (?P<x>(?:in|with|on|from|under|via|for) .+)$", re.I)
_PROCESS_OF = re.compile(rf"^(?!examples?\b)(?P<x>.+) (?P<p>{_NAMES})$", re.I)
_ASPECT = re.compile(
    r"\b(?:structure|format|layout|order|lifecycle|life cycle|workflow|behaviou?r|architecture|"
    r"anatomy|status|purpose|scope)$",
    re.I,
)


def is_skipped(heading: str) -> bool:
    """Whether the section below such a heading is navigation."""
    return bool(_NAVIGATION.match(clean_heading(heading)))


def as_question(inner: str, page: Page) -> str | None:
    """A heading that asks something, as a full question; None if it asks nothing."""
    text = inner.strip(" ?")
    for pattern, ask in _ASKING:
        if match := pattern.match(text):
            return _resolve(ask(match.groupdict()), page)
    return _resolve(text, page) if inner.endswith("?") and _QUESTION.match(text) else None


def _why(rest: str) -> str:
    if _AUXILIARY.match(rest):
        return f"why {rest}"
    action = imperative(rest)
    if rest.lower().startswith("use "):
        action = rest
    return f"why should I {action}" if action else f"why should I use {rest}"


_ASKING: tuple[tuple[re.Pattern[str], Callable[[dict[str, str]], str]], ...] = (
    (_VERSUS, lambda found: f"what is the difference between {found['x']} and {found['y']}"),
    (_DIFFERENCE, lambda found: f"what is the difference between {found['x']}"),
    (_HOW_WORKS, lambda found: f"how {do(found['x'])} {found['x']} work"),
    (_HOW_IS, lambda found: f"how {found['b']} {found['x']} {found['y']}"),
    (_HOW_TO, lambda found: f"how do I {found['x']}"),
    (_WH_TO, lambda found: f"{found['w']} should I {found['x']}"),
    (_WHY, lambda found: _why(found["x"])),
)


def _resolve(text: str, page: Page) -> str:
    """A pronoun in a heading stands for the page's subject ("Why is this important?")."""
    if not page.subject:
        return text
    subject = page.noun(page.subject)
    return re.sub(r"\b(?:this|it|them)\b(?! \w+ (?:is|are)\b)", lambda _: subject, text, count=1)


def process(inner: str, subject: str, page: Page) -> str | None:
    """Nouns that stand for an action or an aspect: "Usage in scripts", "Docker setup"."""
    owner = page.noun(subject)
    match = _PROCESS_WITH.match(inner)
    if match and owner:
        return f"how do I {_PROCESSES[match['p'].lower()]} {owner} {match['x']}"
    match = _PROCESS_OF.match(inner)
    if match:
        action = _PROCESSES[match["p"].lower()]
        other = match["x"]
        if action == "integrate" and owner:
            return f"how do I integrate {owner} with {other}"
        return page.located(f"how do I {action} {other}")
    if owner and _ASPECT.search(inner):
        return f"what is the {inner} of {owner}"
    return None


def action(inner: str) -> str | None:
    """How to do what the heading says, if it reads as a command; else None."""
    done = imperative(inner.partition(": ")[0])
    return f"how do I {done}" if done else None


def subject_of(section: Section, page: Page) -> str:
    """The nearest heading above that names a thing, else the page's subject."""
    for heading in reversed(section.path[:-1]):
        inner = page.inner(heading)
        if _names_a_thing(clean_heading(heading), inner):
            return inner
    return page.subject


def _names_a_thing(heading: str, inner: str) -> bool:
    words = inner.split()
    if not words or len(words) > 5 or is_skipped(heading) or SAYS_NOTHING.match(heading):
        return False
    if any(pattern.match(heading) for pattern, _ in TEMPLATES) or _QUESTION.match(inner + " "):
        return False
    return imperative(inner) is None and not any(is_kinds(word) for word in words)


def is_kinds(word: str) -> bool:
    """Whether the word is the plural of a kind of name ("attributes")."""
    one = singular(word.lower())
    return one in KINDS and one != word.lower()

"""What "this" means in a question to a docs site: the thing that the site documents.

"How can I use this in my project" names nothing; whoever types it into the search of a product's
docs means the product. Its name stands in the title of the site's start page.
"""

import re

_SEPARATOR = re.compile(r"\s+[-–—|·:•]\s+|:\s+")
_MANUAL_SECTION = re.compile(r"\(\d\w*\)$")
_AROUND = re.compile(
    r"^(?:welcome to|introduction to|the)\s+"
    r"|\s+(?:documentation|docs|manual|reference|handbook|user guide|guide|home ?page)$",
    re.IGNORECASE,
)
_NO_NAME = frozenset("home index documentation docs introduction overview welcome start".split())
MAX_WORDS = 4
"""A longer title is a sentence about the product, not its name."""

_VERB = r"get\s+started\s+with|set\s+up|" + "|".join(
    "use using install installing add adding try run running setup start upgrade upgrading update "
    "updating configure configuring uninstall remove download import integrate embed deploy build "
    "need learn".split()
)
_POINTING = re.compile(
    rf"\b(?P<verb>{_VERB})\s+(?:this(?:\s+(?:package|library|tool|software|thing))?|it)\b"
    r"(?=\s*(?:$|[?.!,]|\b(?:in|on|with|for|from|into|to|as|via|without|locally|up)\b))",
    re.IGNORECASE,
)
_NAMED_BEFORE = re.compile(r"\b(?:the|an?|my|our|your)\s+[\w-]+", re.IGNORECASE)


def subject_of(title: str) -> str | None:
    """The name in the title of a site's start page; None where the title names nothing.

    The first part counts: "Example Tool - tables for everyone" is about the Example Tool.
    """
    name = _MANUAL_SECTION.sub("", _SEPARATOR.split(title.strip())[0]).strip()
    while (shorter := _AROUND.sub("", name).strip()) != name:
        name = shorter
    words = name.split()
    is_name = 0 < len(words) <= MAX_WORDS and name.casefold() not in _NO_NAME
    return name if is_name else None


def with_subject(question: str, subject: str | None) -> str:
    """The question with the site's subject in the place of a "this" or "it" that means it.

    Only as what is used, installed and the like, and only where the question names no other
    thing before ("after I pushed a commit, how do I remove it" means the commit).
    """
    found = _POINTING.search(question)
    if subject is None or found is None or _NAMED_BEFORE.search(question[: found.start()]):
        return question
    return f"{question[: found.end('verb')]} {subject}{question[found.end() :]}"

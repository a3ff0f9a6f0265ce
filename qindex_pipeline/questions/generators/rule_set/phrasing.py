"""What a question may say: clean names, content words, and the last check of a question.

A question stands alone in the index: it is dropped where a pronoun or "the following" would
point at something that the reader can't see.
"""

import re
from dataclasses import dataclass

from qindex_pipeline.questions.generators.rule_set.english import first_person
from qindex_pipeline.questions.generators.rule_set.markup import Codes, is_code

MAX_WORDS = 24
_MIN_WORDS = 3
_TITLE_TAIL = re.compile(
    r"\s*(?:\(\d\w?\))?\s*(?:manual page|documentation|docs|reference|user guide|"
    r"user manual|manual|guide|tutorial)?$",
    re.I,
)
_NUMBERING = re.compile(
    r"^(?:step\s+)?(?:\d+|[ivx]+)(?:\.\d+)*[.):]\s+|^step\s+\d+\s*[-–—:]\s*", re.I
)
POINTERS = re.compile(
    r"\b(?:this|these|those|above|below|following|previous|previously|former|latter|such|here|"
    r"we|us|let's|that (?:case|way|file|option|command|is)|same|aforementioned|said|"
    r"one of them|earlier|(?:edits?|in|of|on|for|to|from|with|by|at|uses?) that \w+|another|"
    r"otherwise|respectively|so)\b|\betc\b|…|\.\.\.",
    re.I,
)
PRONOUNS = re.compile(r"\b(?:it|its|itself|they|them|their|he|she|his|her|one|ones|both)\b", re.I)
_INTRODUCES = re.compile(r"\b(?:an?|the|my|each|any|every|all)\s+\S+", re.I)
_DOCUMENT = re.compile(
    r"(?:tutorial|faq|glossary|guide|manual|everyday|workflows?|namespaces)$", re.I
)
DANGLING_END = re.compile(
    r"\b(?:the|an?|and|or|but|nor|of|with|your|my|its|their|that|which|than|as|by|from|if|when|"
    r"be|is|are|was|not|to|very|also|only|into)$",
    re.I,
)
_BROKEN = re.compile('[\ufffd|{}<>\\\\"“”=]|https?:|www\\.|\\?.|!\\[|\\]\\(|  ')
# "How do I run x is the same as y": a statement that only began like an instruction.
_STATEMENT = re.compile(
    r"how (?:do|can) I (?:(?!\b(?:which|that|what|how|if|when|whether|where|who|while|as)\b).)*?"
    r"\b(?:is|are)\b",
    re.I,
)


def clean_title(title: str) -> str:
    """The title without code marks, manual section numbers and words such as "Manual Page"."""
    name = " ".join(title.replace("`", "").split())
    shorter = _TITLE_TAIL.sub("", name)
    return (shorter or name).strip(" :#-–—|")


def clean_heading(heading: str) -> str:
    """The heading without numbering, code marks and trailing marks."""
    name = " ".join(re.sub(r"[`¶\"“”]", "", heading).split())
    return _NUMBERING.sub("", name).strip(" :#-–—")


def is_command(name: str) -> bool:
    """Whether the name looks like a command: one lower-case word with a hyphen or a code span."""
    if " " in name or _DOCUMENT.search(name):
        return False
    return (name[:1].islower() and "-" in name) or any(map(is_code, name))


def content_words(text: str) -> set[str]:
    """Lower-case words that carry meaning, without a plural s."""
    words = re.findall(r"[^\W_](?:[\w.]*\w)?|[\U000f0000-\U0010ffff]", text.lower())
    return {_stem(word) for word in words if word not in _STOP_WORDS}


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


_STOP_WORDS = frozenset(
    """a an the is are do does did how what which when where why who can could should would will i
    my me in on of for to with from by at as and or if it be use used using happen happens mean
    there that any into""".split()
)


def finish(core: str, codes: Codes) -> str | None:
    """The question, with a capital and its code in place, or None if it isn't fit to be asked."""
    text = " ".join(first_person(core).split()).strip(" .,:;-–—?!")
    if not _stands_alone(text):
        return None
    question = codes.restore(text)
    if _BROKEN.search(without_codes(text)) or "\ufffd" in question or "?" in question:
        return None
    if not _MIN_WORDS <= len(question.split()) <= MAX_WORDS or not _balanced(question):
        return None
    return f"{question[0].upper()}{question[1:]}?"


def without_codes(text: str) -> str:
    """The text with a plain word for each of its code spans."""
    return "".join("code" if is_code(c) else c for c in text)


def _stands_alone(text: str) -> bool:
    if not text or _STATEMENT.match(text) or not text[0].isalpha() or POINTERS.search(text):
        return False
    pronoun = PRONOUNS.search(text)
    if pronoun and not _INTRODUCES.search(text[: pronoun.start()]):
        return False
    return not DANGLING_END.search(text)


def _balanced(text: str) -> bool:
    return all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}", "<>"))


@dataclass(frozen=True)
class Asked:
    """A question's words before the last check, and how much it is worth (0 to 1)."""

    core: str
    worth: float

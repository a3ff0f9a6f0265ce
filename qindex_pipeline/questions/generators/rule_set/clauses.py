"""Parts of a sentence that can move into a question: its first clause and its subject."""

import re

from qindex_pipeline.questions.generators.rule_set.english import imperative, is_plural, is_verb

_MAX_SUBJECT_WORDS = 7
NO_SUBJECT = re.compile(
    r"^(?:it|this|that|these|those|they|there|he|she|we|you|i|what|which|who|if|when|while|because|"
    r"since|as|for|in|on|at|with|without|by|from|to|and|or|but|so|once|after|before|although|"
    r"though|unless|until|e\.g\.|see|let|here|some|most|many|one|both|another|such|not|only|each|"
    r"all|any|no|how|where|why|our|none|either|neither|even|like|its|their|using)\b",
    re.I,
)
# Where a clause ends for the purpose of a question.
_CLAUSE_END = re.compile(
    r"\s*(?:[;—–]|:(?=\s|$)|\s-\s|, (?:which|so|but|because|as|while|where|whereas|e\.g\.|i\.e\.|"
    r"such as|including|then|if|when|unless|though|although|since|or (?:you|it|the|if|when)|"
    r"and (?:you|it|the|then|we|they|thus|is|are|can|will)|in (?:which|that|addition)|"
    r"for (?:example|instance)|see|rather than|instead|however|not|like|thus|especially|except|"
    r"allowing|making|giving|using|specifying|respectively|too|you|this|it|that|these|they)\b|"
    r"\b(?:because|so that|whereas|such that)\b)"
)
_NOT_IN_SUBJECT = re.compile(
    r"[,:;]|\b(?:which|that|you|if|when|who|can|will|is|are|was|were|may|should|must|has|have|"
    r"first|second|third|last|next|other)\b",
    re.I,
)


def clause(text: str) -> str:
    """The text up to the end of its first clause, or "" where a list would be cut in half."""
    text = re.sub(r"\s\([^()]*\)", "", text)
    cut = _CLAUSE_END.search(text)
    whole = text[: cut.start()] if cut else text
    if len(whole.split()) <= 15:
        return whole.strip(" ,")
    head, comma, tail = whole.partition(", ")
    is_list = bool(comma) and re.search(r"\b(?:and|or)\b", tail) and tail.count(" ") < 8
    return head.strip() if comma and not is_list and 3 <= len(head.split()) <= 15 else ""


def subject(text: str) -> str:
    """A subject as it stands inside a question, or "" where it points elsewhere."""
    words = text.split()
    if not words or len(words) > _MAX_SUBJECT_WORDS or _NOT_IN_SUBJECT.search(text):
        return ""
    if NO_SUBJECT.match(text) or imperative(text):
        return ""
    if words[-1].lower() in {"and", "or", "which", "that", "not", "also", "who", "you"}:
        return ""
    first = words[0]
    articles = {"A", "An", "The", "All", "Every", "Each", "Your", "Both"}
    return f"{first.lower()} {' '.join(words[1:])}".strip() if first in articles else text


def agrees(what: str, verb: str) -> bool:
    """Whether the word behind the subject is its verb: "render supports" has none."""
    return verb.split(maxsplit=1)[0].endswith("s") != is_plural(what)


def command(text: str) -> str:
    """The clause if it opens with a known verb in base form, else ""."""
    part = clause(text)
    return part if part and is_verb(part.split()[0]) else ""

"""Questions from single sentences: which pattern of documentation prose is asked how."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from qindex_pipeline.questions.generators.rule_set.facts import (
    acts,
    by_default,
    condition,
    condition_behind,
    default_of,
    defined,
    impossible,
    needs,
    place_of,
    state,
    supports,
    usual_state,
)
from qindex_pipeline.questions.generators.rule_set.phrasing import Asked
from qindex_pipeline.questions.generators.rule_set.tasks import (
    asks_how,
    best_way,
    done_by,
    enables,
    instruction,
    possible,
    possible_passive,
    used_for,
    when_to_use,
)

_MAX_SENTENCE = 400
# What may stand in front of a statement without changing it.
_OPENING = re.compile(
    r"^(?:however|also|additionally|optionally|alternatively|then|next|finally|first|second|now|"
    r"note|note that|important|tip|warning|in addition|in general|generally|usually|normally|"
    r"typically|instead|therefore|thus|as a result|in that case|similarly|likewise|furthermore|"
    r"moreover|once done|please|simply|just)\b[,:]?\s+",
    re.I,
)


@dataclass(frozen=True)
class Rule:
    """A pattern of a sentence and the questions that a match gives."""

    pattern: re.Pattern[str]
    ask: Callable[[re.Match[str]], Iterator[Asked]]


def sentence_questions(sentence: str, antecedent: str = "") -> Iterator[Asked]:
    """Questions that the sentence answers.

    Args:
        sentence: One sentence without markup, code masked.
        antecedent: What an opening "it" or "they" stands for, or "".
    """
    text = " ".join(sentence.split())[:_MAX_SENTENCE].rstrip(" .:!")
    text = re.sub(r"\s\([^()]*\)", "", text)
    for _ in range(2):
        text = _OPENING.sub("", text)
    if antecedent:
        text = re.sub(r"^(?:it|they)\b", lambda _: antecedent, text, flags=re.I)
    if not text or text.endswith("?"):
        return
    for rule in _RULES:
        match = rule.pattern.match(text)
        found = list(rule.ask(match)) if match else []
        if found:
            # The patterns stand in order of how sure they are: the first that speaks decides.
            yield from found
            return


def _rule(pattern: str, ask: Callable[[re.Match[str]], Iterator[Asked]]) -> Rule:
    return Rule(re.compile(pattern, re.I), ask)


_X = r"(?P<x>.{1,70}?)"
_RULES = (
    _rule(r"^(?:in order )?to (?P<x>[^,]{4,90}), .+", asks_how(0.85)),
    _rule(r"^(?:if|when) you(?:'d| would)? (?:want|need|wish|like|prefer)(?: to be able)? to "
          r"(?P<x>[^,]{4,90}), .+", asks_how(0.85)),
    _rule(r"^(?:if|when|depending on) .{3,60}?, (?:use|run|set|pass|add) .{2,80}? to (?P<x>.+)",
          asks_how(0.82)),
    _rule(r"^use (?P<t>.{1,60}?) (?:when|if) you (?:want|need|wish|would like) to (?P<x>.+)",
          when_to_use),
    _rule(r"^(?:use|run|call|execute|type|invoke|add|set|pass|enter|apply|choose|specify|issue) "
          r".{1,80}? (?:in order )?to (?P<x>.+)", asks_how(0.82)),
    _rule(r"^(?:here is|here are|the following|.{0,40}\bexamples?)\b.{0,40}?\bhow to (?P<x>.+)",
          asks_how(0.8)),
    _rule(r"^by default,? (?P<r>.+)", by_default),
    _rule(rf"^(?:the )?default(?: value)? (?:of|for) {_X} is .+", default_of),
    _rule(rf"^{_X} defaults? to .+", default_of),
    _rule(rf"^{_X} (?:is|are) (?:all |also )?(?P<v>\w+ed|on|off) by default$", usual_state),
    _rule(r"^(?P<w>if|when) (?P<c>you [^,]{5,90}), (?P<r>.+)", condition),
    _rule(r"^(?P<w>if|when) (?P<c>[^,]{5,90}), (?P<r>.+)", condition),
    _rule(r"^.{0,60}?\b(?:you|one) (?:can|may|could) (?P<x>.+)", possible),
    _rule(r"^you (?:must|need to|have to|should) (?P<x>.+)", instruction),
    _rule(r"^it is (?:also )?possible to (?P<x>.+)", possible),
    _rule(rf"^{_X} (?:is|are) (?:the|an?) (?P<q>recommended|easiest|simplest|best|preferred|usual|"
          r"common|fastest|safest|standard) way (?:to|of) (?P<y>.+)", best_way),
    _rule(r"^(?:the )?(?P<q>recommended|easiest|simplest|best|preferred|usual|fastest|safest) "
          r"way to (?P<y>.+?) (?:is|are) (?P<x>.+)", best_way),
    _rule(rf"^{_X} (?:is|are|can be|may be) (?:also |often |usually |mainly |typically )?used "
          r"(?P<to>to|for|by|as) (?P<y>.+)", used_for),
    _rule(rf"^{_X} (?:also )?(?:allows?|lets?|enables?|permits?|helps?) (?:you|users|us|people|one)"
          r"(?: to)? (?P<y>.+)", enables),
    _rule(rf"^{_X} (?:is|are) (?P<s>required|mandatory|optional|deprecated|case[- ]sensitive|"
          r"experimental|obsolete|thread[- ]safe|immutable|read-only)\b", state),
    _rule(rf"^{_X} (?:can|may|could) be (?P<v>\w+)(?P<r>.*)", possible_passive),
    _rule(rf"^{_X} (?:is|are) (?:usually |always |also )?(?P<v>stored|located|saved|kept|written|"
          r"placed|found|cached|installed) (?:in|at|under|to|on|inside|into) .+", place_of),
    _rule(rf"^{_X} (?:is|are) (?:usually |always |also )?(?P<v>\w+) "
          r"(?P<p>by|using|with|via|through|in|inside|from) .+", done_by),
    _rule(rf"^{_X} (?:cannot|can't|can’t|can not|may not|must not) (?P<y>.+)", impossible),
    _rule(rf"^{_X} (?P<v>requires?|needs?|depends? on) .+", needs),
    _rule(rf"^{_X} (?P<v>supports?) (?P<y>.+)", supports),
    _rule(rf"^{_X} (?:is|are) (?P<y>(?:an?|the|one of) .+)", defined),
    _rule(rf"^{_X} (?P<w>if|when) (?P<c>.+)", condition_behind),
    _rule(rf"^{_X} (?P<v>controls|determines|specifies|sets|shows|displays|prints|returns|creates|"
          r"contains|provides|defines|saves|removes|updates|handles|generates|converts|reads|"
          r"writes|checks|describes|manages|starts|stops|runs|adds|applies|configures|indicates|"
          r"represents|renders|accepts) .+", acts),
    _rule(r"^(?P<x>.+)", instruction),
)  # fmt: skip

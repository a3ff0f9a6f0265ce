"""Filter `form`: one question, as a person would type it."""

import re

from qindex_pipeline.chunking.words import count_half_words
from qindex_pipeline.questions.filters.scripts import folded

MIN_HALF_WORDS = 4
"""Two words, or four characters of a script without spaces: "What's npm?", "怎么安装"."""

MAX_CHARACTERS = 300
"""Twice the longest question of the rules on git's manual, which has 144 characters; what is
longer is an answer or a paragraph."""


_OPENING = frozenset(
    """what what's when where where's which who who's whom whose why how how's can could may might
    must shall should will would do does did is are was were am has have had isn't aren't can't
    don't doesn't
    was wann warum wo wie wieso weshalb wer wen wem welche welcher welches welchen wofür womit wozu
    kann können darf muss soll gibt ist sind hat
    comment pourquoi quand quel quelle quels quelles qui que quoi où combien est-ce peut-on puis-je
    à quoi qu'est-ce
    cómo qué cuál cuáles cuándo dónde quién por cuánto puedo puede como que
    come cosa che quale quali quando dove chi perché posso si
    como qual quais onde quem quanto porque posso é
    hoe wat welke welk wanneer waar waarom wie kan kun
    hur vad vilken vilket vilka när var vem varför hvordan hva hvad hvilken hvilket hvornår hvorfor
    miten mikä mitä milloin missä miksi voiko onko
    jak co kiedy gdzie dlaczego który która które czy kto jaki jaka jakie kde proč který nasıl ne
    neden nerede hangi kim
    как что когда где почему какой какая какое какие кто зачем можно чем сколько як що коли де чому
    який яка яке які чи""".split()
)
"""First words of questions: of those that stand without a question mark."""

_ASKS_WITHIN = re.compile(
    r"什么|甚麼|什麼|怎么|怎麼|怎样|如何|为什么|為什麼|为何|哪|多少|几个|是否|能否|吗|嗎|呢"
    r"|何|どう|どの|どこ|いつ|なぜ|だれ|誰|いくつ|ですか|ますか|でしょうか|か。?$|とは"
    r"|무엇|어떻게|어디|언제|왜|누가|누구|어떤|어느|얼마|인가요|나요|까요|니까|는가"
    r"|อะไร|อย่างไร|ยังไง|ทำไม|ที่ไหน|เมื่อไร|เมื่อไหร่|ไหม|หรือไม่|ใคร|กี่"
)
_QUESTION_MARKS = "?？؟;՞⁇"
_CLOSING = " \t\"'”’»)]`*_.。"
_MARKUP = re.compile(
    r"```|~~~|\n"  # code blocks, lines
    r"|\]\(|<!--|</\w|&\w+;"  # links, comments, closing tags, entities
    r"|\*\*\w[^*]*[\w?!.]\*\*"  # bold
    r"|^\s*(?:[#>*+|-]|\d{1,2}[.)])\s"  # headings, quotes, items, rows
    r"|^\s*[\[{]\s*\"|\"\s*:\s*\"|\\n"  # JSON
    r"|^\s*(?:Q|A|question|answer|frage|antwort)\s*\d*\s*:",  # labels
    re.IGNORECASE,
)
# A mark that ends a question, with more behind it: an answer, or a second question.
_GOES_ON = re.compile(r"\w[\"'”’)`]*[?？؟]\s+\S")


def is_malformed(question: str) -> bool:
    """Whether a text is no single question in plain words.

    A question ends with a question mark or begins with a word that questions of its language
    begin with; in Chinese, Japanese, Korean and Thai it holds a word that asks.
    """
    text = question.strip()
    if len(text) > MAX_CHARACTERS or count_half_words(text) < MIN_HALF_WORDS:
        return True
    if _MARKUP.search(text) or _GOES_ON.search(text):
        return True
    return not _asks(text)


def ends_as_question(question: str) -> bool:
    """Whether a question mark of any script closes the text."""
    return question.rstrip(_CLOSING).endswith(tuple(_QUESTION_MARKS))


def _asks(text: str) -> bool:
    if ends_as_question(text) or text.startswith("¿"):
        return True
    words = folded(text).replace("’", "'").split()
    if words[:2] == ["how", "to"] and text[-1] in ".,;:":
        return False  # "How to install it is explained below."
    return words[0].strip("¿¡\"'(") in _OPENING or bool(_ASKS_WITHIN.search(text))

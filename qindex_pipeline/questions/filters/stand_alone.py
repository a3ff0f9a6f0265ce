"""Filter `stand_alone`: a question is understood without the page it came from."""

import re
from collections.abc import Sequence

from qindex_pipeline.questions.filters.function_words import FUNCTION_WORDS
from qindex_pipeline.questions.generators.rule_set.english import is_verb

_PLACES = (
    r"(?:page|section|subsection|chapter|article|document|documentation|guide|tutorial|passage"
    r"|text|paragraph|snippet|example|excerpt|chunk|context|figure|table|list|screenshot|sample"
    r"|code|diagram|sentence|manual|content|information)s?"
)
_POINTS = re.compile(
    rf"\b(?:this|these)\s+(?:\w+\s+)?{_PLACES}\b"
    r"|\b(?:that|those) (?:page|section|chapter|article|passage|paragraph|snippet|example)s?\b"
    rf"|\baccording to the {_PLACES}\b|\b(?:in|from|by|on) the (?:passage|snippet|chunk|excerpt)\b"
    r"|\b(?:in|from|by|on) the (?:given|provided) (?:text|context|document|page|information)\b"
    rf"|\bthe (?:preceding|previous) {_PLACES}\b|\bthe (?:above|aforementioned|below|following)\b"
    rf"|\b{_PLACES} (?:above|below)\b|\b(?:see|as) (?:above|below)\b"
    r"|\b(?:mentioned|described|shown|listed|given|discussed|explained|provided)"
    r" (?:above|below|here|earlier|in the (?:text|passage|example|section))\b"
    # Other languages, the plainest forms.
    r"|\bdiese[mnrs]? (?:seite|abschnitt|kapitel|dokument|beispiel|text|artikel|anleitung)s?\b"
    r"|\b(?:obige|folgende|vorherige|nachfolgende)[mnrs]?\b|\bsiehe (?:oben|unten)\b"
    r"|\b(?:cette|ce|cet) (?:page|section|document|exemple|article|chapitre|texte|extrait)\b"
    r"|\bci-(?:dessus|dessous|après)\b|\b(?:exemple|section|page|texte) (?:suivant|précédent)e?\b"
    r"|\best[ae] (?:página|sección|documento|ejemplo|artículo|capítulo|texto|guía)\b"
    r"|\b(?:ejemplo|sección|texto) (?:anterior|siguiente)\b|\b(?:siguiente|anterior) ejemplo\b"
    r"|\bquest[ao] (?:pagina|sezione|documento|esempio|articolo|capitolo|testo|guida)\b"
    r"|\bquest'(?:esempio|articolo)\b|\bn?est[ea] (?:página|seção|documento|exemplo|artigo|texto)\b"
    r"|\b(?:deze|dit) (?:pagina|sectie|document|voorbeeld|artikel|tekst|hoofdstuk)\b"
    r"|\b(?:эт[аоуи]й?|этом|этого) (?:страниц|раздел|документ|пример|стать|текст)\w*"
    r"|本页|本頁|本文|本节|本章|这个?(?:页面|文档|例子|示例|章节|段)|上述|上面的|下面的|以下(?:示例|例子|代码)"
    r"|この(?:ページ|セクション|文書|ドキュメント|例|記事|章|コード)|上記|下記|以下の(?:例|コード)"
    r"|이 (?:페이지|섹션|문서|예제|예시|글|장)|위의|아래의|다음 (?:예제|예시|코드)"
    r"|หน้านี้|บทความนี้|ตัวอย่างนี้|ข้างต้น|ด้านล่าง",
    re.IGNORECASE,
)
"""What points to a place in the text that the question was made from."""

_CODE = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”")
_WORD = re.compile(r"[^\W_](?:[\w'’.+#/-]*[\w+#])?|<[^<>]+>|--?\w[\w-]*|\uFFFC")
_PRONOUNS = frozenset("it its it's it’s they them their theirs this these those".split())
_DETERMINERS = frozenset("this these those".split())
# "Is it possible to", "What does it mean to", "How long does it take until": it stands for what
# follows.
_FORMAL_IT = re.compile(
    r"\bit(?:['’]s)?\s+(?:(?:\w+\s+){0,4}(?:to|that|if|when|whether|for|before|until|\w+ing)\b"
    r"|(?:take|takes|cost|rain)\b)",
    re.IGNORECASE,
)
_ARTICLES = frozenset("a an the my your our each every any some no".split())
_LIGHT = frozenset(
    """actually already always best correctly currently easily even ever exactly first likely longer
    properly quickly safely still usually way work works happens happen mean means purpose point
    difference reason thing things something anything everything one much long far often""".split()
)
"""Words in front of a pronoun that it cannot stand for."""


def points_elsewhere(question: str) -> bool:
    """Whether a question speaks of "this page", "the example above", or of an "it" left open.

    A pronoun needs something before it in the question that it can stand for; this is looked at
    in English only.
    """
    text = _CODE.sub("\ufffc", question)
    if _POINTS.search(text):
        return True
    words = _WORD.findall(text.casefold())
    for position, word in enumerate(words):
        is_named = words[position - 1 : position] in (["the"], ["a"])  # "the this keyword"
        if word in _PRONOUNS and not is_named and not _is_explained(words, position):
            return not (word.startswith("it") and _FORMAL_IT.search(text))
    return False


def _is_explained(words: Sequence[str], position: int) -> bool:
    """Whether a word before the pronoun is something that it can stand for."""
    before = words[:position]
    noun = words[position + 1] if position + 1 < len(words) else ""
    if words[position] in _DETERMINERS and noun and noun not in FUNCTION_WORDS["en"]:
        # "… this branch" needs a branch before it.
        return not {noun, f"{noun}s", noun.removesuffix("s")}.isdisjoint(before)
    return any(_is_thing(word, before[max(0, n - 2) : n]) for n, word in enumerate(before))


def _is_thing(word: str, behind: Sequence[str]) -> bool:
    """Whether a word can be what a pronoun stands for: a verb is a noun behind an article."""
    if word in FUNCTION_WORDS["en"] or word in _LIGHT:
        return False
    return not is_verb(word) or not _ARTICLES.isdisjoint(behind)

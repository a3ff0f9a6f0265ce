"""English word forms that turn documentation prose into questions.

A small lexicon and regular spelling rules, no model: documentation uses few verbs. What the
lexicon does not know is left alone by the callers rather than guessed.
"""

import re

_VERBS = """
abort accept access achieve activate adapt add adjust align allow amend append apply archive
arrange assign associate attach authenticate authorize automate avoid back bind block boot bring
browse build bundle bypass cache calculate call cancel capture change check choose clean clear
click clone close collapse collect combine commit compare compile complete compress compute
configure confirm connect consume contain continue contribute control convert copy correct count
create customize customise cut debug declare decode decrease define delete deliver deploy describe
design detect determine develop diagnose disable discard display distribute divide download
drag draw drop dump edit embed emit empty enable encode encrypt enforce enter erase escape
establish estimate evaluate examine exclude execute exit expand export expose express extend
extract fall fetch fill filter find finish fix flush fold follow force fork format forward
generate get give go group guarantee guess handle hide highlight host identify ignore implement
import improve include increase index indicate initialize initialise inject insert inspect install
instruct integrate invoke join keep label launch learn leave limit link list listen load locate
lock log look maintain make manage manipulate map mark match measure merge migrate minimize mirror
mix modify monitor mount move multiply navigate negate nest notify obtain omit open operate
optimize order organize output override pack parse pass paste pause perform permit persist pick
pin place play poll populate prefer prefix prepare prepend present preserve press prevent preview
print process produce prompt propagate protect provide prune publish pull push put query quit
quote raise read rebase rebuild receive recommend reconnect record recover recurse redirect reduce
refer refresh refuse register reject release reload remove rename render reorder repair repeat
replace report request require reset resize resolve respond restart restore restrict retain
retrieve return reuse revert review revoke rewrite roll rotate route run sanitize save scale scan
schedule scroll search select send separate serialize serve set share shorten show sign simplify
skip solve sort specify split squash stage start stash stop store stream strip style submit
subscribe suppress swap switch sync synchronize tag take target tell terminate test theme
toggle trace track train transfer transform translate traverse treat trigger trim troubleshoot try
tune turn uncompress understand undo unify uninstall unlock unpack unpublish unset unstage
unsubscribe update upgrade upload use validate verify view visit visualize wait warn watch
work wrap write zip assemble certify collaborate crawl deal decide deprecate
discover discuss dispatch drive explore grant hook inherit iterate kill lint manage name partition
plan play profile prototype provision queue reach refactor reference reindex reproduce resume
sample seed shard shrink simulate spawn style summarize supply tokenize tweak type unzip
"""
VERBS = frozenset(_VERBS.split())
# Verbs that documentation uses as nouns at least as often ("Release notes", "Use cases").
_ALSO_NOUNS = frozenset(
    """access back block boot build bundle cache cancel change commit control
    count cut design display draw drop dump exit export filter fix fold
    force fork format forward group guess highlight host index join label
    launch limit link list load lock log look map mark match measure merge mirror mix mount move
    order output override pack paste pause place play poll prefix present press preview print
    process prompt pull push query quote read rebase record refresh release reload
    repair report request reset return review roll route run save scale scan schedule scroll search
    set share show sign sort split stage start stash stop store stream strip style submit swap
    switch sync tag target test theme trace track train transfer transform trigger turn update
    upload use view visit wait watch work wrap zip
    clean clear complete correct empty open separate
    drive hook kill name partition plan profile prototype queue reference sample seed shard style
    supply type""".split()
)
_NOT_GERUNDS = frozenset(
    """string thing ring king spring nothing everything something anything during setting being
    heading meaning warning padding spacing pricing billing timing existing missing remaining
    following corresponding matching resulting underlying including according training trailing
    leading pending incoming outgoing ongoing""".split()
)
_THIRD_PERSON = {"does": "do", "has": "have", "goes": "go", "is": "be", "tries": "try"}
_DETERMINERS = frozenset(
    "a an the your my all any each every its new custom multiple additional more one two".split()
)
_SINGULAR_S = re.compile(r"(?:ss|us|is|js|ws|os|css|dns|https?|news|as|lens|vs|ics)$", re.I)
_SECOND_PERSON = (
    (re.compile(r"\byou(?:'|’)re\b|\byou are\b", re.I), "I am"),
    (re.compile(r"\byou(?:'|’)ve\b", re.I), "I have"),
    (re.compile(r"\byou(?:'|’)ll\b", re.I), "I will"),
    (re.compile(r"\byou(?:'|’)d\b", re.I), "I would"),
    (re.compile(r"\byourself\b|\byourselves\b", re.I), "myself"),
    (re.compile(r"\byours\b", re.I), "mine"),
    (re.compile(r"\byour\b", re.I), "my"),
    (re.compile(r"\b(for|to|with|from|of|let|lets|allow|allows|allowing|give|gives|help|helps|tell|"
                r"tells|ask|asks|enable|enables|prompt|prompts|warn|warns|show|shows|letting|"
                r"enabling|require|requires|permit|permits) you\b", re.I), r"\1 me"),
    (re.compile(r"\byou\b", re.I), "I"),
    (re.compile(r"\bour\b", re.I), "the"),
)  # fmt: skip


def first_person(text: str) -> str:
    """The text with the reader as "I": "your file, if you edit it" → "my file, if I edit it"."""
    for pattern, replacement in _SECOND_PERSON:
        text = pattern.sub(replacement, text)
    return text


def is_verb(word: str) -> bool:
    """Whether the word is a known verb in its base form."""
    return word.lower() in VERBS


def base_of_gerund(word: str) -> str | None:
    """The known verb of an -ing form ("running" → "run"), or None."""
    lowered = word.lower()
    if lowered in _NOT_GERUNDS or not lowered.endswith("ing"):
        return None
    stem = lowered[:-3]
    undoubled = stem[:-1] if stem[-1:] == stem[-2:-1] else ""
    return next((form for form in (stem, f"{stem}e", undoubled) if form in VERBS), None)


def base_of_third_person(word: str) -> str | None:
    """The known verb of a third person form ("copies" → "copy"), or None."""
    lowered = word.lower()
    if lowered in _THIRD_PERSON:
        return _THIRD_PERSON[lowered]
    if not lowered.endswith("s"):
        return None
    forms = (lowered[:-1], lowered[:-2], f"{lowered[:-3]}y" if lowered.endswith("ies") else "")
    return next((form for form in forms if form in VERBS), None)


def base_of_participle(word: str) -> str | None:
    """The known verb of a regular or common past participle ("defined" → "define"), or None."""
    lowered = word.lower()
    irregular = {"written": "write", "set": "set", "built": "build", "made": "make", "run": "run",
                 "found": "find", "sent": "send", "kept": "keep", "shown": "show"}  # fmt: skip
    if lowered in irregular:
        return irregular[lowered]
    if not lowered.endswith("ed"):
        return None
    stem = lowered[:-2]
    undoubled = stem[:-1] if stem[-1:] == stem[-2:-1] else ""
    ied = f"{stem[:-1]}y" if stem.endswith("i") else ""
    return next((form for form in (f"{stem}e", stem, undoubled, ied) if form in VERBS), None)


def imperative(phrase: str) -> str | None:
    """The phrase in the base form if it reads as a command, else None.

    "Installing the CLI", "Install the CLI" and "Installs the CLI" give "install the CLI". A
    first word that is as often a noun counts only in front of a determiner.
    """
    first, _, rest = phrase.partition(" ")
    word = first.lower()
    if word in VERBS:
        if word in _ALSO_NOUNS and not _opens_object(rest):
            return None
        return f"{word} {rest}".strip()
    base = base_of_gerund(word) or base_of_third_person(word)
    if base is None or (not rest and word.endswith("ing")):
        return None
    if word.endswith("s") and base in _ALSO_NOUNS and not _opens_object(rest):
        return None
    return f"{base} {rest}".strip()


def _opens_object(rest: str) -> bool:
    following = rest.partition(" ")[0].lower()
    return following in _DETERMINERS


def is_plural(phrase: str) -> bool:
    """Whether the phrase's head word looks like a plural."""
    words = phrase.split()
    is_command = len(words) == 1 and "-" in phrase
    if not words or is_command or not words[-1].isascii():
        return False
    head = _head_of(words)
    return len(head) > 3 and head.lower().endswith("s") and not _SINGULAR_S.search(head)


def _head_of(words: list[str]) -> str:
    # "buttons in the editor": the head stands before the preposition.
    for position, word in enumerate(words):
        if position and word.lower() in {"in", "of", "for", "with", "on", "from", "to"}:
            return words[position - 1]
    return words[-1]


def singular(noun: str) -> str:
    """A regular plural in the singular ("entries" → "entry"); anything else unchanged."""
    if not noun.lower().endswith("s") or not is_plural(noun):
        return noun
    lowered = noun.lower()
    if lowered.endswith("ies"):
        return f"{noun[:-3]}y"
    if re.search(r"(?:sh|ch|x|ss|z)es$", lowered):
        return noun[:-2]
    return noun[:-1]


def with_article(noun: str) -> str:
    """The noun behind "a" or "an"."""
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"


def be(noun: str) -> str:
    """The form of "to be" that goes with the noun."""
    return "are" if is_plural(noun) else "is"


def do(noun: str) -> str:
    """The form of "to do" that goes with the noun."""
    return "do" if is_plural(noun) else "does"

"""What the model servers write: questions for a chunk and an answer from passages.

Deterministic stand-ins for a language model, good enough that grounding, deduplication and
retrieval have something real to work on. Prompts mark the texts with tags, as the pipeline's do.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

QUESTIONS_A_CHUNK = 4
MIN_WORDS = 6
NO_ANSWER = "I don't have enough information about that"

_CHUNK = (
    # A tag on a line of its own is the mark; one inside a sentence is an instruction about it.
    # A tag may carry a key, as `<chunk-1f3a>`, which the closing one then carries too.
    re.compile(r"^<chunk(?P<key>-\w+)?>(?P<text>.*?)^</chunk(?(key)(?P=key))>", re.M | re.S),
    re.compile(r"<chunk(?P<key>-\w+)?>(?P<text>.*?)</chunk(?(key)(?P=key))>", re.S),
)
_KEPT = re.compile(r"^<kept(?P<key>-\w+)>\n(.*?)^</kept(?P=key)>", re.M | re.S)
_DATA = re.compile(r"<(?P<tag>page|chunk|kept)(?P<key>-\w+)?>.*?</(?P=tag)(?(key)(?P=key))>", re.S)
_ORDER = re.compile(r"ignore (the above|all (previous|rules))", re.IGNORECASE)
OBEYED = {"question": "Where do I buy cheap watches?", "evidence": "cheap watches"}
"""What the model writes when text outside of the delimited data tells it to ignore its task."""
_FIRST_PASSAGE = re.compile(r'<passage(-\w+)? n="1"[^>]*>(.*?)</passage(?(1)\1)>', re.DOTALL)
_FENCE = re.compile(r"^\s*(```|~~~)")
_LINE_MARK = re.compile(r"^\s*(?:(?:[-*+>]|\d+[.)]|#{1,6})\s+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_ADDRESS = re.compile(r"\w+://\S+")
_WORD = re.compile(r"[^\W\d_]{5,}")
_PLAIN_WORDS = frozenset(
    _WORD.findall(
        "about above after again along always another because before being below between cannot "
        "could doesn during every example first following found given going having other rather "
        "really shall should since still their there these thing things those through under until "
        "using where whether which while whose within without would documentation"
    )
)


def asks_for_questions(prompt_text: str) -> bool:
    """Whether a prompt brings a chunk, rather than passages to answer from."""
    return _CHUNK[0].search(prompt_text) is not None and not _FIRST_PASSAGE.search(prompt_text)


def write_questions(prompt_text: str) -> list[dict[str, str]]:
    """Up to four `{question, evidence}` for the chunk between `<chunk>` and `</chunk>`.

    Evidence is a sentence (or line) of the chunk, verbatim; its question is made of its words.
    Questions that the prompt keeps are left out. An order to ignore the task is obeyed where it
    stands outside of the delimited texts, as a real model would take it for its user's.
    """
    if _ORDER.search(_DATA.sub("", prompt_text)):
        return [OBEYED]
    found = next((found for pattern in _CHUNK if (found := pattern.search(prompt_text))), None)
    lines = list(_sentences(found["text"])) if found else []
    kept = _KEPT.search(prompt_text)
    frequency = Counter(word.lower() for line in lines for word in _WORD.findall(line))
    questions: dict[str, str] = {}
    for line in lines:
        words = _distinctive_words(line, frequency)
        if len(line.split()) >= MIN_WORDS and len(words) >= 2:
            questions.setdefault(_question_about(words), line)
    return [
        {"question": question, "evidence": evidence}
        for question, evidence in list(questions.items())[:QUESTIONS_A_CHUNK]
        if kept is None or question not in kept[2]
    ]


def write_answer(prompt_text: str) -> str:
    """The first sentence of `<passage n="1" ...>` with its citation; a refusal without one.

    The tag may carry a key, as `<passage-1f3a n="1" ...>`.
    """
    passage = _FIRST_PASSAGE.search(prompt_text)
    first = next(_sentences(passage[2]), passage[2].strip()) if passage else ""
    return f"{first} [1]" if first else NO_ANSWER


def fit_to_schema(value: Any, schema: Any) -> Any:
    """The part of `value` that a JSON schema asks for: named properties, at most maxItems."""
    if isinstance(value, dict) and "properties" in schema:
        return {
            name: fit_to_schema(value[name], inner)
            for name, inner in schema["properties"].items()
            if name in value
        }
    if isinstance(value, list) and "items" in schema:
        return [fit_to_schema(item, schema["items"]) for item in value[: schema.get("maxItems")]]
    return value


def open_object(schema: Any) -> bool:
    """Whether an object in the schema lacks `additionalProperties: false`.

    Both providers refuse such a schema for structured output (OpenAI: in strict mode).
    """
    if isinstance(schema, list):
        return any(open_object(item) for item in schema)
    if not isinstance(schema, dict):
        return False
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        return True
    return any(open_object(inner) for inner in schema.values())


def text_of(content: Any) -> str:
    """The text of a message's content: a string, or parts of which some are text."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [])


def count_words(*texts: str) -> int:
    """Tokens as these servers bill them."""
    return sum(len(text.split()) for text in texts)


def _sentences(text: str) -> Iterator[str]:
    lines = text.strip().splitlines()
    if lines and lines[0].startswith("Source: "):  # the prefix that names page and section
        lines = lines[lines.index("") :] if "" in lines else []
    fenced = False
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.strip():
            yield from filter(None, _SENTENCE_END.split(_LINE_MARK.sub("", line).strip()))


def _distinctive_words(sentence: str, frequency: Counter[str]) -> list[str]:
    """At most three words: the rarest of the chunk, the longer first; in the sentence's order."""
    words = dict.fromkeys(_WORD.findall(_ADDRESS.sub(" ", sentence)))
    candidates = [word for word in words if word.lower() not in _PLAIN_WORDS]
    best = sorted(candidates, key=lambda word: (frequency[word.lower()], -len(word)))[:3]
    return [word for word in candidates if word in best]


def _question_about(words: list[str]) -> str:
    listed = f"{', '.join(words[:-1])} and {words[-1]}"
    return f"What does the documentation say about {listed}?"

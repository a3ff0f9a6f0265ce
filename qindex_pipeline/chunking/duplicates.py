"""Chunks that repeat across the pages of a site: kept once, the others point to it.

A repetition is the same words in the same order; what only marks up, links or punctuates them
does not count. Texts that are merely alike stay apart: on the documentation of git, PostgreSQL,
Django, Flask and CMake, of 199 pairs from different pages with a tenth of their words or less
different, nearly all differed in a version, an option or a name, which is what a reader asks
about.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from qindex_pipeline.chunking.model import Chunk
from qindex_pipeline.chunking.prose import code_spans
from qindex_pipeline.ids import content_hash

# Words that point or soften: no question's answer turns on one of them. Negations, quantities,
# conditions and prepositions do change an answer and are no part of this list.
_POINTERS = frozenset("a an the this that these those our your also just please simply".split())
_LEAST_WORDS = 12
"""Shorter texts must be the same to the word: there an article can be all that differs."""

_LINK_TARGET = re.compile(r"\]\([^()\s]*+(?:[^()]|\([^()]*\))*+\)")
# Marks of headings, lists and quotes at the beginning of a line.
_BLOCK_MARKS = re.compile(r"^(?:[ \t]*(?:#{1,6}|[-*+>])(?=[ \t]))+", re.MULTILINE)
_EDGES = ".,;:!?…。！？，；、\"'“”‘’«»()[]*_"


def mark_duplicates(chunks: Sequence[Chunk]) -> list[Chunk]:
    """The chunks in their order; one that says what a chunk of an earlier page says, marked.

    A marked chunk names the first one that says it, and why it counts as its repetition. A page
    that repeats itself keeps every occurrence: each has its own place to cite. Sites are
    looked at apart. Takes time in proportion to the text.
    """
    keys = [_keys(chunk) for chunk in chunks]
    pages: defaultdict[str, set[str]] = defaultdict(set)
    first: dict[str, int] = {}
    for position, (chunk, (same, near)) in enumerate(zip(chunks, keys, strict=True)):
        pages[same].add(chunk.page_id)
        first.setdefault(near, position)
    marked = list(chunks)
    for position, (chunk, (same, near)) in enumerate(zip(chunks, keys, strict=True)):
        kept = chunks[first[near]]
        if kept.page_id == chunk.page_id:
            continue
        is_same = same == keys[first[near]][0]
        reason = f"same text on {len(pages[same])} pages" if is_same else _difference(kept, chunk)
        marked[position] = replace(chunk, duplicate_of=kept.chunk_id, duplicate_reason=reason)
    return marked


def kept(chunks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows of the chunks table that repeat no other one: what is asked about and indexed.

    On git's manual, where a seventh of the chunks repeat, leaving them out cost nothing and
    gained a little (112 questions, MRR of the fused arm .700 against .693).
    """
    return [chunk for chunk in chunks if chunk["duplicate_of"] is None]


def _keys(chunk: Chunk) -> tuple[str, str]:
    """What chunks of the same text share, and what those share that say the same.

    Hashes, because the words of all chunks of a site take many times their memory.
    """
    words = comparable_words(chunk)
    same = content_hash(chunk.site, str(chunk.has_code), *words)
    kept = [word for word in words if word not in _POINTERS]
    if chunk.has_code or len(kept) < _LEAST_WORDS or len(kept) == len(words):
        return same, same
    return same, content_hash(chunk.site, str(chunk.has_code), *kept)


def _difference(kept: Chunk, other: Chunk) -> str:
    ours, theirs = Counter(comparable_words(kept)), Counter(comparable_words(other))
    differing = max((ours - theirs).total(), (theirs - ours).total())
    return f"same text but for {differing} of {theirs.total()} words"


def comparable_words(chunk: Chunk) -> tuple[str, ...]:
    """What must be equal in two chunks that say the same.

    Of prose the words, without the punctuation around them, the marks of blocks and the targets
    of links; a capital at the beginning of a word of small letters does not count, any other
    does, as in `-M` and `-m`. Inline code counts to the letter, and so does all of a chunk that
    holds a code block.
    """
    if chunk.has_code:
        return tuple(line.rstrip() for line in chunk.text.split("\n") if line.strip())
    text = _BLOCK_MARKS.sub("", chunk.text)
    words: list[str] = []
    position = 0
    for start, end in code_spans(text):
        words.extend(_prose_words(text[position:start]))
        words.append(" ".join(text[start:end].split()))
        position = end
    words.extend(_prose_words(text[position:]))
    return tuple(words)


def _prose_words(text: str) -> Iterator[str]:
    for token in _LINK_TARGET.sub("]", text).split():
        # A word of signs only, such as an operator, is a word too.
        word = token.strip(_EDGES) or token.strip("*_.")
        if word:
            yield word.lower() if word[1:].islower() and word.isalpha() else word

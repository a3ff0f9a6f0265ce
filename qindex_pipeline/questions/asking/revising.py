"""Revalidate before regenerating: what an answer about a chunk is still worth after an edit.

A question whose evidence still stands is kept. The model is asked only where words are new that
no kept evidence covers; what was deleted, moved, or marked up otherwise asks nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from qindex_pipeline.chunking.words import word_starts
from qindex_pipeline.questions.asking.entries import Entry
from qindex_pipeline.questions.evidence import find_evidence
from qindex_pipeline.questions.generators.proposal import Proposal

MIN_SIMILARITY = 0.5
"""Words that two states of a chunk share at least, as a share of both. An edit that leaves a
third of the longer text lies above; other passages of the same page, which share the
commonest words of the language and of their subject, lie at .2 to .45."""

MOVED_WORDS = 4
"""So many words in the same order as before were moved; fewer may have come together anew."""

_EDGES = ".,;:!?…。！？，；、\"'“”‘’«»()[]{}*_`|"
_RUN = re.compile(r"\S+")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Revision:
    """What is left of an answer after an edit.

    Attributes:
        kept: The questions whose evidence still stands, with it as it stands now.
        asks: Whether the model has to be asked about the rest.
    """

    kept: tuple[Proposal, ...]
    asks: bool


@dataclass(frozen=True)
class _Word:
    """A word as it is compared, and its place in the text with its line breaks as spaces."""

    name: str
    start: int
    end: int


def predecessor(text: str, answers: Iterable[Entry]) -> Entry | None:
    """The answer about what most likely is an earlier state of a text, if any is like it.

    Args:
        text: The chunk's core text now.
        answers: Answers about texts that no longer stand, of the chunk's place.
    """
    words = _counted(text)
    best: Entry | None = None
    best_rank: tuple[float, ...] = (MIN_SIMILARITY,)
    for answer in answers:
        if answer.source is None:
            continue
        rank = (_shared(words, _counted(answer.source.text)), answer.created_at.timestamp())
        if rank >= best_rank:
            best, best_rank = answer, rank
    return best


def revise(old: Entry, text: str, limit: int) -> Revision:
    """What `old` is worth for a chunk whose text is now `text`.

    A deletion that leaves no question asks too, where there were some: what is left is as good
    as new. So many kept questions as a chunk may have leave nothing to ask for.

    Args:
        old: An answer about an earlier state.
        text: The chunk's core text now.
        limit: Questions a chunk, at most.
    """
    standing = [
        Proposal(item.proposal.question, found)
        for item in old.questions
        if (found := _standing(item.proposal.evidence, text)) is not None
    ]
    kept = tuple(standing[:limit])
    before = old.source.text if old.source is not None else ""
    is_bare = bool(old.questions) and not kept
    is_covered = not any(_uncovered(before, _flat(text), [item.evidence for item in kept]))
    return Revision(kept, (is_bare or not is_covered) and len(kept) < limit)


def _standing(evidence: str, text: str) -> str | None:
    """The evidence as it stands in a text, None where it doesn't; punctuation may differ."""
    found = find_evidence(evidence, text)
    if found is not None:
        return found
    flat = _flat(text)
    wanted, words = [word.name for word in _words(_flat(evidence))], list(_words(flat))
    names = [word.name for word in words]
    for first in range(len(names) - len(wanted) + 1 if wanted else 0):
        last = first + len(wanted)
        if names[first:last] == wanted:
            return flat[words[first].start : words[last - 1].end]
    return None


def _flat(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def _words(flat: str) -> Iterator[_Word]:
    """The words of a text without the punctuation around them, mere signs left out.

    Letters of scripts without spaces are a word each.
    """
    for run in _RUN.finditer(flat):
        for start, end in _pieces(run.group(), run.start()):
            name = flat[start:end].strip(_EDGES)
            if any(letter.isalnum() for letter in name):
                # A capital at the beginning of a sentence makes no other word.
                yield _Word(name.lower() if name[1:].islower() else name, start, end)


def _pieces(run: str, offset: int) -> Iterator[tuple[int, int]]:
    if run.isascii():
        yield offset, offset + len(run)
        return
    starts = list(word_starts(run))
    for start, end in pairwise([0, *starts[1:], len(run)]):
        yield offset + start, offset + end


def _counted(text: str) -> Counter[str]:
    return Counter(word.name for word in _words(_flat(text)))


def _shared(one: Counter[str], other: Counter[str]) -> float:
    """Dice's coefficient of two bags of words."""
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0


def _uncovered(before: str, flat: str, evidence: Sequence[str]) -> Iterator[_Word]:
    """The new words of a text that stand in no kept evidence."""
    spans = [span for item in evidence for span in _spans(_flat(item), flat)]
    for word in _new_words(list(_words(_flat(before))), list(_words(flat))):
        if not any(start <= word.start and word.end <= end for start, end in spans):
            yield word


def _new_words(before: list[_Word], now: list[_Word]) -> Iterator[_Word]:
    old, new = ([word.name for word in words] for words in (before, now))
    old_line = _line(old)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, _, _, start, end in matcher.get_opcodes():
        if kind not in ("insert", "replace"):
            continue
        moved = end - start >= MOVED_WORDS and _line(new[start:end]) in old_line
        if not moved:
            yield from now[start:end]


def _line(names: Sequence[str]) -> str:
    """Words as one string in which a run of them can be looked up."""
    return " " + " ".join(names) + " "


def _spans(evidence: str, flat: str) -> Iterator[tuple[int, int]]:
    start = flat.find(evidence) if evidence else -1
    while start >= 0:
        yield start, start + len(evidence)
        start = flat.find(evidence, start + 1)

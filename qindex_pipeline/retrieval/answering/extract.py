"""The answerer without a model: it quotes what fits the question, word for word.

A quote is one block of a passage with what belongs to it: the line that introduces a command, the
list or code that a sentence points to. Long blocks are quoted in part, by whole sentences, items
and rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from qindex_pipeline.chunking.source import Source
from qindex_pipeline.chunking.words import count_words
from qindex_pipeline.retrieval.answering.answerer import Cited, Part
from qindex_pipeline.retrieval.answering.units import Passage, Unit, passages
from qindex_pipeline.retrieval.answering.worth import Worth, wants_code
from qindex_pipeline.retrieval.result import Result

QUOTED_RESULTS = 3
"""Results quoted, at most."""

NEAR_CONFIDENCE, NEAR_WORTH = 0.75, 0.5
"""A further result is quoted when it comes this near to the best one: in confidence, and in how
well its quote fits. Further off it lengthens the answer and says something else."""

HEADING_SHARE = 0.5
"""What a word counts that stands only in the heading above."""

CODE_WORTH = 0.15
"""What code counts more where the question asks for something to type, and else less."""

GAIN = 0.1
"""The next block is quoted too when it holds this share of the question's words, by weight, that
the quote lacks."""

FOLLOWING_BLOCKS = 2
"""Blocks behind the best one that a quote takes in, at most."""

WHOLE_WORDS = 80
"""A block up to this long is quoted whole; of a longer one, the units that fit."""

FITTING = 0.6
"""A unit of a long block is quoted when it is worth this share of the block's best."""


class ExtractAnswerer:
    """Answers with the words of the documentation."""

    def stream(self, question: str, results: Sequence[Result]) -> Iterator[Part]:
        """Quotes from the best passages, best first, each with its passage's number."""
        chunks = [_Chunk(result) for result in results[:QUOTED_RESULTS]]
        worth = Worth(question, [text for chunk in chunks for text in chunk.texts])
        best: _Quote | None = None
        quoted: list[str] = []
        for number, chunk in enumerate(chunks, start=1):
            quote = chunk.best_quote(worth, wants_code(question))
            if best is None:
                best = quote
            elif _is_far(results[number - 1], quote, results[0], best):
                continue
            if any(quote.text in other for other in quoted):
                continue
            yield f"\n\n{quote.text}" if quoted else quote.text
            yield "\n" if quote.ends_in_block else " "
            yield Cited(number)
            quoted.append(quote.text)


@dataclass(frozen=True)
class _Quote:
    worth: float
    text: str

    @property
    def ends_in_block(self) -> bool:
        """Whether a number behind it needs its own line: behind a fence, code or a table."""
        last = self.text.rsplit("\n", maxsplit=1)[-1]
        return last.startswith(("`", "~", "|", "    ", "\t")) and not last.endswith(".")


def _is_far(result: Result, quote: _Quote, first: Result, best: _Quote) -> bool:
    return (
        result.confidence < NEAR_CONFIDENCE * first.confidence
        or quote.worth < NEAR_WORTH * best.worth
    )


class _Chunk:
    """A result's text, ready to be quoted from."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._source, self._passages = passages(result.text, result.lang)
        self._evidence = _evidence(self._source, result)

    @property
    def texts(self) -> list[str]:
        """The text of every unit."""
        return [unit.text for passage in self._passages for unit in passage.units]

    def best_quote(self, worth: Worth, code_wanted: bool) -> _Quote:
        """The best block with what belongs to it; the whole text where it has none."""
        scored = [
            [self._worth(unit, passage, worth, code_wanted) for unit in passage.units]
            for passage in self._passages
        ]
        if not scored:
            return _Quote(0.0, self._result.text.strip())
        best = max(range(len(scored)), key=lambda index: max(scored[index]))
        last = self._last(best, worth, code_wanted)
        parts = [
            _chosen(self._source, self._passages[index], scored[index])
            for index in range(best, last + 1)
        ]
        if self._is_introduced(best):
            parts.insert(0, _introduction(self._source, self._passages[best - 1]))
        return _Quote(max(scored[best]), "\n\n".join(parts))

    def _worth(self, unit: Unit, passage: Passage, worth: Worth, code_wanted: bool) -> float:
        own = worth.of(unit.text)
        value = own + HEADING_SHARE * (worth.of(f"{passage.heading} {unit.text}") - own)
        if unit.kind == "code":
            value += CODE_WORTH if code_wanted else -CODE_WORTH
        start, end = self._evidence
        if unit.start < end and start < unit.end:
            # As much as the matched question is the user's own; squared, since half alike is not
            # half the same.
            value += max(self._result.legs.get("question") or 0.0, 0.0) ** 2
        return value

    def _is_introduced(self, index: int) -> bool:
        """Whether the prose right before code belongs to it; of a list or table, if it says so."""
        block = self._passages[index]
        if index == 0 or block.kind in {"sentence", "whole"}:
            return False
        before = self._passages[index - 1]
        leads = before.kind == "sentence" and before.heading == block.heading
        return leads and (block.kind == "code" or before.introduces)

    def _last(self, best: int, worth: Worth, code_wanted: bool) -> int:
        """The last block of the quote that begins with block `best`; of the same section."""
        last = best
        following = range(best + 1, min(best + 1 + FOLLOWING_BLOCKS, len(self._passages)))
        for index in following:
            block, ended = self._passages[index], self._passages[last].kind == "code"
            if ended or block.heading != self._passages[best].heading:
                break
            follows = last == index - 1 and self._follows(best, index, worth)
            if follows or (code_wanted and block.kind == "code"):
                last = index
        return last

    def _follows(self, best: int, index: int, worth: Worth) -> bool:
        """Whether a block goes on with what the quote from `best` to the block before it says."""
        before, block = self._passages[index - 1], self._passages[index]
        if before.introduces or (before.kind == "sentence" and block.kind == "code"):
            return True
        units = [unit for passage in self._passages[best:index] for unit in passage.units]
        start, end = self._evidence
        if units[0].start < end and block.units[0].start < end and start < units[-1].end:
            return True
        if block.kind == "code":
            return False
        quoted = " ".join(unit.text for unit in units)
        text = " ".join(unit.text for unit in block.units)
        return (
            worth.of(f"{quoted} {block.heading} {text}") - worth.of(f"{quoted} {block.heading}")
            >= GAIN
        )


def _evidence(source: Source, result: Result) -> tuple[int, int]:
    """Where the matched question's evidence stands in the text; an empty span where it does not."""
    evidence = (result.evidence or "").strip()
    start = source.text.find(evidence) if evidence else -1
    return (start, start + len(evidence)) if start >= 0 else (0, 0)


def _introduction(source: Source, passage: Passage) -> str:
    """Prose that leads to the quote: whole where it is short, else its last sentence."""
    whole = source.text[passage.units[0].start : passage.units[-1].end]
    return whole if count_words(whole) <= WHOLE_WORDS else passage.units[-1].text


def _chosen(source: Source, passage: Passage, worths: Sequence[float]) -> str:
    """The block whole where it is short or code, else its fitting units."""
    units = passage.units
    whole = source.text[units[0].start : units[-1].end]
    if len(units) > 1 and count_words(whole) > WHOLE_WORDS:
        least = FITTING * max(worths)
        keep = [index for index, value in enumerate(worths) if value >= least]
        if passage.kind == "sentence":
            # Prose is quoted in one piece: a sentence left out would change what it says.
            keep = list(range(keep[0], keep[-1] + 1))
            whole = source.text[units[keep[0]].start : units[keep[-1]].end]
        else:
            whole = "\n".join(units[index].text for index in keep)
    return f"{passage.head}\n{whole}" if passage.head else whole

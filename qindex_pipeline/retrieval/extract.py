"""The answerer without a model: it quotes the blocks of the passages that fit the question.

A block is quoted whole, code above all: half a command is worse than none.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from qindex_pipeline.chunking.blocks import CODE, Block, parse_blocks
from qindex_pipeline.chunking.source import Source, normalise
from qindex_pipeline.retrieval.result import Result

QUOTED_RESULTS = 2
"""Passages quoted, at most: the third rarely adds and always lengthens."""

EVIDENCE_WORTH = 2
"""What holding the matched question's evidence counts, in shared words."""

STEM_CHARACTERS = 5
"""Words that begin alike (install, installing, installation) count as the same."""

_WORD = re.compile(r"\w+")
_FUNCTION_WORDS = frozenset(
    """a an and are as at be by can do does for from how i if in is it my of on or should that the
    there this to use what when where which why will with you your""".split()
)


class ExtractAnswerer:
    """Answers with the words of the documentation."""

    def answer(self, question: str, results: Sequence[Result]) -> str:
        """The best block of each of the first passages, with the passage's number."""
        quotes = [
            _cited(_best_quote(question, result), number)
            for number, result in enumerate(results[:QUOTED_RESULTS], start=1)
        ]
        return "\n\n".join(quotes)


def _cited(quote: str, number: int) -> str:
    """The quote with its passage's number; behind a fence or a table it needs its own line."""
    is_block = quote.rsplit("\n", maxsplit=1)[-1].startswith(("`", "~", "|"))
    separator = "\n" if is_block else " "
    return f"{quote}{separator}[{number}]"


@dataclass(frozen=True)
class _Quote:
    worth: int
    text: str


def _best_quote(question: str, result: Result) -> str:
    source = normalise(result.text)
    blocks = parse_blocks(source)
    wanted = _stems(question)
    quotes = [
        _quote(wanted, result.evidence or "", source, blocks, index)
        for index, block in enumerate(blocks)
        if block.kind not in {"heading", "rule"}
    ]
    best = max(quotes, key=lambda quote: quote.worth, default=None)
    return best.text if best else result.text.strip()


def _quote(
    wanted: set[str], evidence: str, source: Source, blocks: Sequence[Block], index: int
) -> _Quote:
    """Block `index` with the code it introduces or the line that introduces it."""
    first = last = index
    if blocks[index].kind in CODE:
        if index and blocks[index - 1].kind == "paragraph":
            first = index - 1
    elif index + 1 < len(blocks) and _introduces(source, blocks[index], blocks[index + 1]):
        last = index + 1
    text = "\n\n".join(_text(source, block) for block in blocks[first : last + 1])
    heading = next((b for b in reversed(blocks[:index]) if b.kind == "heading"), None)
    words = _stems(text) | (_stems(_text(source, heading)) if heading else set[str]())
    worth = len(wanted & words)
    if evidence and evidence in text:
        worth += EVIDENCE_WORTH
    return _Quote(worth, text)


def _introduces(source: Source, block: Block, following: Block) -> bool:
    return following.kind in CODE or _text(source, block).endswith(":")


def _text(source: Source, block: Block) -> str:
    lines = source.text.split("\n")[block.first_line : block.end_line]
    return "\n".join(lines).strip()


def _stems(text: str) -> set[str]:
    words = set(_WORD.findall(text.casefold())) - _FUNCTION_WORDS
    return {word[:STEM_CHARACTERS] for word in words}

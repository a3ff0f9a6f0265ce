"""What a chunker did to a page, judged from its chunks' texts alone, the same for every one."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from qindex_pipeline.chunking import ChunkConfig, count_words, normalise

_PARSER = MarkdownIt("commonmark").enable("table").disable("inline")
_WORD = re.compile(r"\w+")
_FENCE_LINE = re.compile(r"[\s>]*(?:`{3,}|~{3,})")
LIMIT = ChunkConfig().most_words
TINY = ChunkConfig().min_words


@dataclass
class Damage:
    """Counts over all pages; `declared` are chunks over the limit that the chunker says are."""

    chunks: int = 0
    unbalanced: int = 0
    lost: int = 0
    doubled: int = 0
    headless: int = 0
    from_code: int = 0
    oversized: int = 0
    declared: int = 0
    tiny: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, other: "Damage") -> None:
        """Count another page's damage too."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))


class Truth:
    """A page as the parser reads it."""

    def __init__(self, markdown: str) -> None:
        """Parse the markdown, normalised as ours reads it."""
        self.text = normalise(markdown).text
        self.lines = self.text.split("\n")
        self.tokens = _PARSER.parse(self.text)

    @cached_property
    def headings(self) -> set[str]:
        """The letters of every real heading."""
        return {_letters(heading) for heading in _headings(self.tokens)}

    @cached_property
    def code_headings(self) -> set[str]:
        """The letters of lines of code that look like a heading."""
        lines = (self.lines[number] for number in _lines_of(self.tokens, "fence", "code_block"))
        marked = (line.strip() for line in lines if line.strip().startswith("#"))
        return {letters for line in marked if (letters := _letters(line))} - self.headings

    @cached_property
    def rows(self) -> set[str]:
        """The rows of tables behind their headers."""
        return {
            self.lines[number].strip()
            for first, end in _maps(self.tokens, "table_open")
            for number in range(first + 2, end)
        }

    @cached_property
    def headers(self) -> set[str]:
        """The lines of the headers of tables, which a part may repeat."""
        return {
            self.lines[number].strip()
            for first, _ in _maps(self.tokens, "table_open")
            for number in (first, first + 1)
        }

    @cached_property
    def open_fences(self) -> int:
        """Fences that the page itself leaves open."""
        return _open_fences(self.tokens)


def damage(truth: Truth, chunks: Sequence[dict[str, Any]], page: str) -> Damage:
    """What happened to one page."""
    found = Damage(chunks=len(chunks))
    for chunk in chunks:
        _judge(truth, chunk, found, page)
    texts = [chunk["text"] for chunk in chunks]
    found.unbalanced = max(0, found.unbalanced - truth.open_fences)
    lost = list(_lost(truth, texts))
    doubled = list(_doubled(truth, texts))
    found.lost, found.doubled = len(lost), len(doubled)
    found.examples += [f"lost: {page}: {line[:120]}" for line in lost]
    found.examples += [f"doubled: {page}: {line[:120]}" for line in doubled]
    return found


def _judge(truth: Truth, chunk: dict[str, Any], found: Damage, page: str) -> None:
    text, words = chunk["text"], count_words(chunk["text"])
    tokens = _PARSER.parse(text)
    judged = {
        "unbalanced": bool(_open_fences(tokens)),
        "headless": _has_rows_outside_tables(truth, text, tokens),
        "from_code": _names_code(truth, [*_headings(tokens), *chunk["path"]]),
        "oversized": words > LIMIT and not chunk["declared"],
        "declared": words > LIMIT and chunk["declared"],
        "tiny": words < TINY,
    }
    for name, is_so in judged.items():
        setattr(found, name, getattr(found, name) + is_so)
        if is_so and name not in ("declared", "tiny"):
            found.examples.append(f"{name}: {page}: {text[:120]!r}")


def _open_fences(tokens: Iterable[Token]) -> int:
    fences = [token for token in tokens if token.type == "fence"]
    return sum(token.map[1] - token.map[0] != token.content.count("\n") + 2 for token in fences)


def _has_rows_outside_tables(truth: Truth, text: str, tokens: Sequence[Token]) -> bool:
    if not truth.rows:
        return False
    inside = set(_lines_of(tokens, "table_open"))
    return any(
        line.strip() in truth.rows and number not in inside
        for number, line in enumerate(text.split("\n"))
    )


def _names_code(truth: Truth, headings: Iterable[str]) -> bool:
    return any(_letters(heading) in truth.code_headings for heading in headings)


def _lost(truth: Truth, texts: Sequence[str]) -> Iterator[str]:
    """Lines of the page that no chunk nor two neighbours hold, with a word that is missing."""
    missing = Counter(_WORD.findall(truth.text)) - Counter(_WORD.findall("\n".join(texts)))
    if not missing:
        return
    held = "".join("".join(texts).split())
    for line in truth.lines:
        words = _WORD.findall(line)
        if any(word in missing for word in words) and "".join(line.split()) not in held:
            yield line


def _doubled(truth: Truth, texts: Sequence[str]) -> Iterator[str]:
    """Lines of three words and more that the chunks hold more often than the page."""
    held = Counter(line.strip() for text in texts for line in text.split("\n"))
    excess = held - Counter(line.strip() for line in truth.lines)
    for line, count in excess.items():
        is_whole = line in {other.strip() for other in truth.lines}
        repeats = line in truth.headers or _FENCE_LINE.match(line)
        if is_whole and not repeats and len(_WORD.findall(line)) >= 3:
            yield from [line] * count


def _headings(tokens: Sequence[Token]) -> Iterator[str]:
    for number, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0:
            yield tokens[number + 1].content


def _maps(tokens: Iterable[Token], *types: str) -> Iterator[list[int]]:
    return (token.map for token in tokens if token.type in types and token.map)


def _lines_of(tokens: Iterable[Token], *types: str) -> Iterator[int]:
    return (number for first, end in _maps(tokens, *types) for number in range(first, end))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))

"""Reads a chunk's markdown into sections of blocks, keeping every offset."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token
from sentencex import segment  # pyright: ignore[reportAttributeAccessIssue]  # no stubs

from qindex_pipeline.questions.generators.rule_set.markup import (
    Block,
    BlockKind,
    Codes,
    Section,
    Sentence,
    without_unsafe,
)

# A chunk is a page of under 500 words or a section; what is longer is data, and parsers of
# markdown and sentences need quadratic time on hostile input.
MAX_CHARS = 20_000
_MAX_SENTENCE_SOURCE = 4_000
_TAG = re.compile(
    r"</?(?:a|abbr|b|br|code|del|details|div|em|font|i|img|ins|kbd|li|mark|p|q|s|samp|small|span|"
    r"strong|sub|summary|sup|u|var)\b[^>]*>|<!--.*?-->",
    re.I | re.S,
)
_LANGUAGE_LABEL = re.compile(r"[A-Za-z][\w+#-]{0,14}")
_PARSER = MarkdownIt("commonmark").enable("table")


def read_sections(text: str, heading_path: Sequence[str], codes: Codes) -> list[Section]:
    """The sections of a chunk that stands below `heading_path`."""
    return _Reader(text[:MAX_CHARS], codes).read(tuple(map(without_unsafe, heading_path)))


@dataclass
class _Draft:
    path: tuple[str, ...]
    in_text: bool
    blocks: list[Block] = field(default_factory=list[Block])


class _Reader:
    def __init__(self, text: str, codes: Codes) -> None:
        # Every replacement keeps the length, so offsets hold for the original text.
        safe = without_unsafe(text).replace("\r\n", " \n").replace("\r", "\n")
        self._source = safe
        self._codes = codes
        self._header: tuple[str, ...] = ()
        self._starts = [0, *(match.end() for match in re.finditer("\n", safe)), len(safe)]

    def read(self, above: tuple[str, ...]) -> list[Section]:
        drafts = [_Draft(above, in_text=False)]
        stack: list[tuple[int, str]] = []
        base = above
        for found in self._walk():
            if isinstance(found, Block):
                drafts[-1].blocks.append(found)
                continue
            level, heading = found
            if not stack:
                base = _above(above, heading)
            while stack and stack[-1][0] >= level:
                stack.pop()
            stack.append((level, heading))
            drafts.append(_Draft((*base, *(name for _, name in stack)), in_text=True))
        return [Section(d.path, d.in_text, tuple(d.blocks)) for d in drafts if d.blocks]

    def _walk(self) -> Iterator["tuple[int, str] | Block"]:
        tokens = _PARSER.parse(self._source)
        for position, token in enumerate(tokens):
            if token.type in {"fence", "code_block"}:
                start, end = self._lines(token.map)
                yield Block("code", token.content, start, end)
            elif token.type == "tr_close":
                yield from self._row(tokens, position)
            elif token.type == "inline":
                yield from self._inline(tokens, position)

    def _inline(self, tokens: list[Token], position: int) -> Iterator["tuple[int, str] | Block"]:
        token, opener = tokens[position], tokens[position - 1]
        if opener.type == "heading_open":
            yield int(opener.tag[1:]), self._plain(token)[0]
        elif opener.type == "paragraph_open":
            is_item = position > 1 and tokens[position - 2].type == "list_item_open"
            yield self._paragraph(token, "item" if is_item else "paragraph")

    def _row(self, tokens: list[Token], position: int) -> Iterator[Block]:
        first = position
        while tokens[first].type != "tr_open":
            first -= 1
        row = tokens[first:position]
        cells = tuple(self._plain(token)[0] for token in row if token.type == "inline")
        if row[-1].type == "th_close":
            self._header = cells
            return
        start, end = self._lines(tokens[first].map)
        yield Block("row", " ".join(cells), start, end, cells=cells, header=self._header)

    def _paragraph(self, token: Token, kind: BlockKind) -> "Block | tuple[int, str]":
        start, end = self._lines(token.map)
        children = token.children or []
        code = _only_code(children)
        if code:
            return Block("code", code, start, end)
        text, links = self._plain(token)
        if kind == "paragraph" and _is_question(text, token.content):
            return 7, text
        sentences = tuple(self._sentences(token.content[:_MAX_SENTENCE_SOURCE], start, end))
        strong = _leading_strong(children)
        return Block(kind, text, start, end, link_chars=links, strong=strong, sentences=sentences)

    def _plain(self, token: Token) -> tuple[str, int]:
        """Text without markup, and how many of its characters are link text."""
        parts: list[str] = []
        links = depth = 0
        for child in token.children or []:
            depth += {"link_open": 1, "link_close": -1}.get(child.type, 0)
            part = self._piece(child)
            links += len(part) if depth else 0
            parts.append(part)
        return " ".join("".join(parts).split()), links

    def _piece(self, child: Token) -> str:
        match child.type:
            case "code_inline":
                return self._codes.mask(child.content)
            case "text" | "text_special":
                return child.content
            case "softbreak" | "hardbreak":
                return " "
            case "html_inline":
                # A placeholder such as <file> is text; a tag of HTML is markup.
                return " " if _TAG.fullmatch(child.content) else child.content
            case _:
                return ""

    def _sentences(self, content: str, start: int, end: int) -> Iterator[Sentence]:
        places = self._align(content, start, end)
        cursor = 0
        for raw in _whole_sentences(content):
            begin, cursor = cursor, cursor + len(raw)
            last = min(cursor, len(places)) - 1
            if not raw.strip() or last < begin:
                continue
            plain = self._plain(_PARSER.parseInline(raw)[0])[0]
            yield Sentence(plain, places[begin], places[last] + 1)

    def _align(self, content: str, start: int, end: int) -> list[int]:
        """The source offset of each character of `content`.

        The parser drops indentation and quote markers only, so that the content is a
        subsequence of its lines; where it is not, the list is shorter.
        """
        places: list[int] = []
        cursor = start
        for character in content:
            cursor = self._source.find(character, cursor, end)
            if cursor < 0:
                break
            places.append(cursor)
            cursor += 1
        return places

    def _lines(self, lines: list[int] | None) -> tuple[int, int]:
        first, last = lines or [0, 0]
        start = self._starts[min(first, len(self._starts) - 1)]
        end = self._starts[min(last, len(self._starts) - 1)]
        return start, max(start, end)


def _above(heading_path: tuple[str, ...], heading: str) -> tuple[str, ...]:
    """The part of the path above the text's first heading, which the path may name too."""
    names = [name.casefold().strip() for name in heading_path]
    key = heading.casefold().strip()
    return heading_path[: names.index(key)] if key in names else heading_path


def _only_code(children: list[Token]) -> str:
    """The code of a paragraph that is nothing but code spans, without a language label."""
    spans = [child.content for child in children if child.type == "code_inline"]
    others = [c for c in children if c.type not in {"code_inline", "softbreak", "hardbreak"}]
    if not spans or any(c.content.strip() or c.type == "image" for c in others):
        return ""
    if len(spans) > 1 and _LANGUAGE_LABEL.fullmatch(spans[0]):
        spans = spans[1:]
    elif len(spans) == 1 and len(spans[0].split()) < 2:
        return ""  # one word is a term, not an example
    return "\n".join(spans)


def _is_question(text: str, content: str) -> bool:
    return text.endswith("?") and "\n" not in content.strip() and 3 <= len(text.split()) <= 30


def _leading_strong(children: list[Token]) -> str:
    opened = [child.type for child in children if child.content or child.type == "strong_open"]
    if not opened or opened[0] != "strong_open":
        return ""
    inside: list[str] = []
    for child in children:
        if child.type == "strong_close":
            break
        inside.append(child.content)
    return "".join(inside).strip()


def _whole_sentences(content: str) -> Iterator[str]:
    """Sentences that tile the content, joined again where a boundary cuts a code span."""
    held = ""
    for part in segment("en", content):
        held += part
        if held.count("`") % 2 == 0:
            yield held
            held = ""
    if held:
        yield held

"""Relative link targets in a markdown text become absolute; nothing else of it changes.

The parser of markdown says what is a link and what is code. Its tokens carry the lines of a
block but no columns, so each target is found in its block's text first, then in the source.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import accumulate, pairwise
from typing import Any
from urllib.parse import urljoin

from markdown_it import MarkdownIt
from markdown_it.helpers import parseLinkDestination
from markdown_it.rules_inline import StateInline, image, link

_SPACE = re.compile(r"\s*")
_DEFINITION = re.compile(r"(?<!\\)\]:[ \t]*")
_HAS_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)

_Span = tuple[int, int]
"""Where a target stands: offsets of its first character and of the one behind its last."""


def absolute_links(markdown: str, base: str) -> str:
    """Resolve the targets of links, images and reference definitions against `base`.

    Code and HTML stay as they are, and so do targets within the page (`#section`), targets
    with a scheme, and what cannot be resolved. Line ends become newlines.
    """
    text = markdown.replace("\r\n", "\n").replace("\r", "\n")
    parts: list[str] = []
    done = 0
    for start, end in sorted(set(_targets(text))):
        parts += text[done:start], _absolute(text[start:end], base)
        done = end
    return "".join((*parts, text[done:]))


def _absolute(target: str, base: str) -> str:
    if not target or target.startswith("#") or _HAS_SCHEME.match(target):
        return target
    try:
        # A parenthesis of the base could end the target.
        return urljoin(base.replace("(", "%28").replace(")", "%29"), target)
    except ValueError:
        return target


def _targets(text: str) -> Iterator[_Span]:
    env: dict[str, Any] = {}
    tokens = _parser().parse(text, env)
    lines = _Lines(text)
    for definition in [*env.get("references", {}).values(), *env.get("duplicate_refs", ())]:
        yield from _in_definition(text, lines, definition["map"][0])
    for opening, token in pairwise(tokens):
        if token.type == "inline" and token.map is not None:
            # The parser has taken the backslash from a pipe in a cell.
            is_cell = opening.type in {"th_open", "td_open"}
            content = token.content.replace("|", r"\|") if is_cell else token.content
            yield from _in_block(content, token.map[0], lines, env)


class _Lines:
    """The lines of a text: where each begins, and up to where it has been searched."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._searched = [0] * len(self._lines)
        self.starts = [0, *accumulate(len(line) + 1 for line in self._lines)]

    def find(self, number: int, part: str) -> int | None:
        """Where `part` stands in the text, behind the parts of its line that were found before.

        Its indentation does not count, as the parser may have made blanks of a tab there. After
        a part that is not found nothing more is looked for on its line.
        """
        line, text = self._lines[number], part.lstrip()
        column = line.find(text, self._searched[number])
        self._searched[number] = column + len(text) if column >= 0 else len(line)
        return self.starts[number] + column - len(part) + len(text) if column >= 0 else None


def _in_definition(text: str, lines: _Lines, first_line: int) -> Iterator[_Span]:
    """The target of `[label]: target`, where it stands on the line of the label."""
    end = lines.starts[first_line + 1] - 1
    label_end = _DEFINITION.search(text, lines.starts[first_line], end)
    if label_end is not None:
        yield from _target_at(text, label_end.end(), end)


def _in_block(content: str, first_line: int, lines: _Lines, env: dict[str, Any]) -> Iterator[_Span]:
    """The targets in a paragraph, a heading or a table cell."""
    parts = content.split("\n")
    offsets = [lines.find(first_line + i, part) for i, part in enumerate(parts)]
    begins = [0, *accumulate(len(part) + 1 for part in parts)]
    for start, end in _in_content(content, env):
        number = bisect_right(begins, start) - 1
        offset = offsets[number]
        if offset is not None:
            yield offset + start - begins[number], offset + end - begins[number]


def _in_content(content: str, env: dict[str, Any]) -> list[_Span]:
    found: list[_Span] = []
    if "](" in content:
        env = {**env, "content": content, "found": found}
        _parser().inline.parse(content, _parser(), env, [])
    return found


def _link(state: StateInline, silent: bool) -> bool:
    start = state.pos
    is_link = link(state, silent)
    if is_link and not silent:
        _note(state, state.md.helpers.parseLinkLabel(state, start, True))
    return is_link


def _image(state: StateInline, silent: bool) -> bool:
    start = state.pos
    is_image = image(state, silent)
    if is_image and not silent:
        _note(state, state.md.helpers.parseLinkLabel(state, start + 1, False))
    return is_image


def _note(state: StateInline, label_end: int) -> None:
    """Remember the target behind the label of a link that the parser has accepted."""
    target = label_end + 2
    if state.src != state.env["content"]:
        return  # the alternative text of an image is parsed for itself and has other offsets
    if state.pos > target and state.src[target - 1] == "(":
        space = _SPACE.match(state.src, target)
        assert space is not None, "it matches nothing too"
        state.env["found"] += _target_at(state.src, space.end(), state.posMax)


def _target_at(text: str, start: int, end: int) -> list[_Span]:
    target = parseLinkDestination(text, start, end)
    if not target.ok:
        return []
    return [(start + 1, target.pos - 1) if text[start] == "<" else (start, target.pos)]


@cache
def _parser() -> MarkdownIt:
    """A parser of blocks; `_in_content` calls it for the text within one, and hears of links."""
    parser = MarkdownIt("commonmark").enable("table").disable("inline")
    parser.inline.ruler.at("link", _link)
    parser.inline.ruler.at("image", _image)
    return parser

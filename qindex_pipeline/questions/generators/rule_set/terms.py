"""Described names of a section: items of lists, rows of tables, definition lists."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from qindex_pipeline.questions.generators.rule_set.english import singular
from qindex_pipeline.questions.generators.rule_set.heading_forms import KINDS, is_kinds
from qindex_pipeline.questions.generators.rule_set.markup import Block, Codes, Section, is_code
from qindex_pipeline.questions.generators.rule_set.phrasing import clean_heading

_MIN_DESCRIPTION_WORDS = 3
_MAX_DESCRIPTION_BLOCKS = 2
_ITEM = re.compile(
    r"^(?P<t>[^\s:,(]{1,60}(?:\(\))?(?:, ?[^\s:,(]{1,40})?)\s*(?P<n>\([^()]{1,60}\))?"
    r"(?:\s*[:—–]\s+|\s+-{1,2}\s+|\s*:\s*)(?P<d>.+)$",
    re.S,
)
_STRONG_ITEM = re.compile(r"^\s*(?P<n>\([^()]{1,60}\))?\s*[:—–.-]*\s*(?P<d>.+)$", re.S)
_FLAG = re.compile(r"^-{1,2}[A-Za-z0-9][\w-]*")
_IDENTIFIER = re.compile(r"^[A-Za-z_$@.][\w$.@/-]*$")
_TERM_LINE = re.compile(
    r"^(?:-{1,2}[A-Za-z0-9]|[A-Za-z][\w.-]*(?: [a-z-]+)?(?:\(\)|[ =]?[\[<(]).*$)"
)
_DESCRIBES = re.compile(
    r"descri|meaning|purpose|explanation|details|what it|usage|effect|notes?", re.I
)
_NO_NAMES = frozenset("note notes tip warning example default defaults type important".split())
# More names than this in a row are a list without descriptions.
_MAX_SPELLINGS = 3
_DEFAULT = re.compile(r"^default", re.I)


@dataclass(frozen=True)
class Term:
    """A described name: an option, a field, a command.

    Attributes:
        name: The name, masked code included.
        description: What the page says about it.
        kind: What it is ("attribute"), or "".
        default: Its default as the page states it, or "".
        start: First character of the evidence.
        end: Character behind the evidence.
    """

    name: str
    description: str
    kind: str
    default: str
    start: int
    end: int


def section_terms(section: Section, codes: Codes) -> Iterator[Term]:
    """The described names of a section, in order."""
    kind = _kind(section)
    position = 0
    blocks = section.blocks
    while position < len(blocks):
        block = blocks[position]
        term = _term_of_block(block, kind, codes)
        if term:
            yield term
        elif block.kind == "paragraph" and _is_term_line(block, codes):
            term, position = _defined_term(section, position, kind, codes)
            if term:
                yield term
            continue
        position += 1


def _kind(section: Section) -> str:
    """What the section's names are, from its heading or from the line that introduces them."""
    words = clean_heading(section.heading).lower().split()
    kind = _kind_word(words)
    if kind:
        return kind
    for block in section.blocks:
        if block.kind == "paragraph" and block.text.rstrip().endswith(":"):
            words = block.text.lower().rstrip(": ").split()
            return _kind_word(words)
    return ""


def _kind_word(words: list[str]) -> str:
    """The singular of the last word that names a kind in the plural ("the props below")."""
    return next((singular(w) for w in reversed(words) if is_kinds(w)), "")


def _term_of_block(block: Block, kind: str, codes: Codes) -> Term | None:
    if block.kind == "row":
        return _row_term(block, kind, codes)
    if block.kind != "item":
        return None
    if block.strong and block.text.startswith(block.strong):
        match = _STRONG_ITEM.match(block.text[len(block.strong) :])
        name = block.strong.strip(" :.-–—")
    else:
        match = _ITEM.match(block.text)
        name = match["t"] if match else ""
    if codes.restore(name).startswith("-"):
        name = codes.mask(_short_name(codes.restore(name)))
    if match is None or not _names(name, codes):
        return None
    return _term(name, match["d"], kind, _default_in(match["n"]), (block.start, block.end))


def _row_term(block: Block, kind: str, codes: Codes) -> Term | None:
    if len(block.cells) < 2 or not block.cells[0]:
        return None
    header = [cell.lower() for cell in block.header]
    column = next((i for i, cell in enumerate(header) if i and _DESCRIBES.search(cell)), None)
    if column is None:
        column = len(block.cells) - 1
        if not _names_code(block.cells[0], codes):
            return None
    first = singular(header[0].split()[-1]) if header and header[0].split() else ""
    default = next((c for h, c in zip(header, block.cells, strict=False) if _DEFAULT.match(h)), "")
    named = block.cells[0].split("(")[0].strip()
    if column >= len(block.cells) or not _names(named, codes):
        return None
    found = first if first in KINDS else kind
    has_default = default.strip(" -–—") not in {"", "none", "None"}
    return _term(named, block.cells[column], found, default if has_default else "",
                 (block.start, block.end))  # fmt: skip


def _term(
    name: str, description: str, kind: str, default: str, span: tuple[int, int]
) -> Term | None:
    if len(description.split()) < _MIN_DESCRIPTION_WORDS:
        return None
    return Term(name, " ".join(description.split()), kind, default, *span)


def _default_in(note: str | None) -> str:
    match = re.search(r"default[:=s]+(?: to)? *(.+)\)", note or "", re.I)
    return match[1] if match else ""


def _names(name: str, codes: Codes) -> bool:
    """Whether the text is a name: code, an identifier, or a few words without a stop."""
    plain = codes.restore(name)
    if (
        not 2 <= len(plain) <= 60
        or not re.search(r"[^\W\d_]", plain)
        or re.search(r"[<{\[|]", plain)
        or "http" in plain
        or plain.endswith((".", "?", ":"))
    ):
        return False
    return len(plain.split()) <= 4 and plain.lower() not in _NO_NAMES


def _names_code(cell: str, codes: Codes) -> bool:
    return any(map(is_code, cell)) or looks_like_code(codes.restore(cell))


def looks_like_code(name: str) -> bool:
    """One word that prose wouldn't spell so: dots, underscores, camel case, or lower case."""
    return bool(_IDENTIFIER.match(name)) and name != name.capitalize() and not name.istitle()


def _is_term_line(block: Block, codes: Codes) -> bool:
    text = codes.restore(block.text)
    if len(text) > 160 or text.endswith((".", ":", "!", "?", ",", ";")) or block.link_chars:
        return False
    if _TERM_LINE.match(text):
        return True
    # One code span or one dotted name alone: a definition list without its markup.
    return " " not in text and (any(map(is_code, block.text)) or "." in text.strip("."))


def _defined_term(
    section: Section, position: int, kind: str, codes: Codes
) -> tuple[Term | None, int]:
    """The term whose lines start at `position`, and where its first description ends."""
    blocks = section.blocks
    first = position
    while position < len(blocks) and _is_term_line(blocks[position], codes):
        position += 1
    names = [_short_name(codes.restore(block.text)) for block in blocks[first:position]]
    last = position
    while last < len(blocks) and last - position < _MAX_DESCRIPTION_BLOCKS:
        if blocks[last].kind != "paragraph" or _is_term_line(blocks[last], codes):
            break
        last += 1
    name = max((n for n in names if n), key=len, default="")
    listed = len(names) > _MAX_SPELLINGS and not name.startswith("-")
    if last == position or len(name) < 2 or listed:
        return None, max(position, first + 1)
    description = " ".join(block.text for block in blocks[position:last])
    masked = codes.mask(name)
    span = (blocks[first].start, blocks[last - 1].end)
    return _term(masked, description, kind, "", span), last


def _short_name(line: str) -> str:
    """The name without its placeholders: "--depth=<n>" → "--depth", "pop [-q]" → "pop"."""
    flag = _FLAG.match(line)
    if flag:
        return flag[0]
    match = re.match(r"[\w.-]+(?: [a-z][\w-]*)?", line)
    return match[0] if match else ""

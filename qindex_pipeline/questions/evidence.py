"""Where a question's evidence stands in a text: verbatim, or as a reader of the page copied it."""

import re

_MARKS = re.compile(
    r"\[(?=[^\[\]]*\]\()|\]\([^()\s]*\)"  # a link around its text
    r"|`|\\(?=[^\w\s])"  # code, and an escaped character
    r"|(?<![^\W_])[*_]|[*_](?![^\W_])"  # emphasis, at the edge of a word
)
"""What markdown has and its reader does not see."""

_NOTHING = re.compile(r"(?!)")


def find_evidence(evidence: str, text: str) -> str | None:
    """The words of `text` that are `evidence`, as they stand there; None where they don't.

    A line break counts as a space. Evidence copied from the shown page lacks the marks of
    markdown: where it does not stand verbatim, they are looked past. Takes time in proportion to
    the text.
    """
    return _find(evidence, text, _NOTHING) or _find(evidence, text, _MARKS)


def _find(evidence: str, text: str, marks: re.Pattern[str]) -> str | None:
    wanted = _bare(evidence, marks)[0].strip()
    shown, places = _bare(text, marks)
    start = shown.find(wanted)
    if start < 0 or not wanted:
        return None
    return text[places[start] : places[start + len(wanted) - 1] + 1]


def _bare(text: str, marks: re.Pattern[str]) -> tuple[str, list[int]]:
    """The text without `marks`, its white space as single spaces, and each character's place."""
    hidden = {place for found in marks.finditer(text) for place in range(*found.span())}
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        if place in hidden or (character.isspace() and characters[-1:] == [" "]):
            continue
        characters.append(" " if character.isspace() else character)
        places.append(place)
    return "".join(characters), places

"""What a language model reads of a chunk: where it stands, the overlap, and its text."""

import re
from collections.abc import Sequence
from functools import lru_cache

from qindex_pipeline.chunking.model import PageText

_LINK_TARGET = re.compile(r"\]\([^()\s]*+[^()]*+\)")


def text_for_llm(
    page: PageText, *, sections: Sequence[str], body: str, text: str, overlap: str
) -> str:
    """The chunk under lines that name its source, page and section; empty lines are left out.

    Args:
        page: the page, for its URL, label and summary.
        sections: the headings above the chunk that its text does not repeat.
        body: the beginning of its text behind its headings; where it is the page's summary,
            the summary is not said twice.
        text: the chunk's own text.
        overlap: the end of the previous chunk and the space between the two, or empty.
    """
    summary = "" if _begins_with(body, page.summary) else page.summary
    lines = [
        f"Source: {_one_line(page.url)}",
        *_line("Page", " / ".join(filter(None, map(_one_line, (page.label, summary))))),
        *_line("Section", " > ".join(sections)),
    ]
    return "\n".join([*lines, "", overlap + text])


def sections_to_name(path: Sequence[str], opened: Sequence[str], label: str) -> Sequence[str]:
    """The headings of a path that the reader does not see elsewhere.

    Left out are the innermost ones that stand as headings in the chunk itself, and the
    outermost one where it is the page's label.
    """
    end = len(path)
    while end and path[end - 1] in opened:
        end -= 1
    start = 1 if path and path[0] == _one_line(label) else 0
    return path[start:end]


def _line(name: str, value: str) -> list[str]:
    return [f"{name}: {value}"] if value else []


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _begins_with(body: str, summary: str) -> bool:
    """Whether the text begins with the words of the summary, whatever their markup."""
    wanted = _summary_letters(summary)
    # Markup makes markdown longer than what it shows, rarely more than fourfold.
    return bool(wanted) and _letters(body[: 4 * len(summary) + 200]).startswith(wanted)


@lru_cache(maxsize=8)  # all chunks of a page ask for the same summary
def _summary_letters(summary: str) -> str:
    return _letters(summary)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, _LINK_TARGET.sub("]", text).casefold()))

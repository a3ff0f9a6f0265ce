"""What the chunker takes and gives: a page, the limits, and the chunk as the table stores it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

LEAD_IN_WORDS = 40
"""Up to this size, a line that announces the block below it ("Run:") stays with that block."""

ChunkKind = Literal["full_page", "section", "part", "plain"]


@dataclass(frozen=True)
class ChunkConfig:
    """Limits of the cascade, in words unless said otherwise.

    Attributes:
        full_page_words: a page with fewer words is one chunk (the seed's 500).
        max_words: size up to which blocks are packed (the seed's CHUNK_SIZE // 4).
        overlap_chars: most characters that a chunk repeats of its predecessor.
        min_words: a smaller chunk joins a neighbour where it can; 12 words are about the
            shortest passage that answers a question on its own.
        hard_factor: a block that must not be cut (code, table, list, quote) may grow to this
            many times max_words before it is cut all the same.
    """

    full_page_words: int = 500
    max_words: int = 125
    overlap_chars: int = 100
    min_words: int = 12
    hard_factor: int = 3

    @classmethod
    def from_constants(cls, chunk_size: int, chunk_overlap: int) -> Self:
        """The limits that follow from the seed's CHUNK_SIZE and CHUNK_OVERLAP."""
        return cls(max_words=chunk_size // 4, overlap_chars=chunk_overlap)

    @property
    def hard_max_words(self) -> int:
        """The size above which even code, a table, a list or a quote is cut."""
        return self.hard_factor * self.max_words

    @property
    def most_words(self) -> int:
        """The largest chunk, full pages apart: a block of the hardest limit and its lead-in."""
        return self.hard_max_words + LEAD_IN_WORDS


@dataclass(frozen=True)
class PageText:
    """A page as the chunker reads it.

    Attributes:
        site: site key.
        page_id: identity of the page, part of every chunk's identity.
        url: canonical URL.
        label: what the page is called: its H1, else its title.
        summary: its first real paragraph, or empty.
        markdown: its main content.
        headings: the headings of its HTML in document order, each with level, text and anchor.
        lang: the language that the page declares, if any.
    """

    site: str
    page_id: str
    url: str
    label: str
    summary: str
    markdown: str
    headings: Sequence[Mapping[str, Any]]
    lang: str | None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A row of the chunks table; `tables.CHUNKS` says what each column means.

    `text` is exactly `normalise(markdown).text[start_char:end_char]`, except where `parts` is
    above 1: a piece of one block too large to stay whole, which may carry repeated fence or
    table header lines and lose common indentation so that it can be read alone.

    `kind` is `full_page` for a whole short page, `part` for such a piece, `section` for all else
    of a page; all chunks of a longer page that could not be parsed, or has too many lines for it,
    are `plain`: cut at blank lines, without headings.
    """

    site: str
    chunk_id: str
    page_id: str
    url: str
    anchor: str | None
    title: str
    heading_path: tuple[str, ...]
    chunk_index: int
    kind: ChunkKind
    text: str
    overlap: str
    text_for_llm: str
    n_words: int
    part: int
    parts: int
    start_line: int
    end_line: int
    start_char: int
    end_char: int
    has_code: bool
    lang: str | None
    duplicate_of: str | None = None
    duplicate_reason: str | None = None

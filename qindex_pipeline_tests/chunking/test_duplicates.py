"""Chunks that repeat across the pages of a site."""

from dataclasses import replace

import pytest

from qindex_pipeline.chunking import Chunk, ChunkConfig
from qindex_pipeline.chunking.duplicates import mark_duplicates
from qindex_pipeline_tests.chunking.pages import chunks_of


def chunk(text: str, page_id: str, site: str = "docs.example.com") -> Chunk:
    (made,) = chunks_of(text, ChunkConfig())
    return replace(made, page_id=page_id, site=site, chunk_id=f"{site}/{page_id}/{text}")


def marks(*texts: str) -> list[str | None]:
    """The reasons of texts that stand on a page each."""
    found = mark_duplicates([chunk(text, f"page {number}") for number, text in enumerate(texts)])
    return [made.duplicate_reason for made in found]


FOOTER = "Was this page helpful? Tell us."
LICENCE = (
    "This software is provided as it is, without warranty of any kind, and whoever uses it does "
    "so at their own risk."
)


def test_a_repeated_text_is_kept_once_and_the_others_name_it_and_the_reason() -> None:
    chunks = [chunk(FOOTER, "a"), chunk("Own text.", "a"), chunk(FOOTER, "b"), chunk(FOOTER, "c")]
    marked = mark_duplicates(chunks)
    assert [made.duplicate_of for made in marked] == [None, None, *[chunks[0].chunk_id] * 2]
    assert marked[2].duplicate_reason == "same text on 3 pages"
    unmarked = [replace(made, duplicate_of=None, duplicate_reason=None) for made in marked]
    assert unmarked == chunks


SAME = {
    "case": ("Read More.", "read more."),
    "white space": ("Read  more\nhere.", "Read more here."),
    "link targets": ("See [it](https://a.b/x(y)).", "See [it](https://a.b/z 'T')."),
    "punctuation": ("See also: a, b.", "“See also” a; b!"),
    "emphasis": ("**Note** see *it*.", "Note see it."),
    "marks of blocks": ("## More\n\n- a\n- b\n\n> c", "### More\n\n* a\n* b\n\nc"),
}


@pytest.mark.parametrize("texts", SAME.values(), ids=SAME)
def test_texts_that_say_the_same_are_repetitions(texts: tuple[str, str]) -> None:
    assert marks(*texts) == [None, "same text on 2 pages"]


DIFFERENT = {
    "a version": ("Django 1.4.4 fixes this bug.", "Django 1.4.5 fixes this bug."),
    "an option": ("Use **--all** here.", "Use **-all** here."),
    "the case of an option": ("**-M**\n\nRename it.", "**-m**\n\nRename it."),
    "a variable": ("Set PATH to this.", "Set path to this."),
    "a name": ("createdb accepts these options.", "vacuumdb accepts these options."),
    "a language": ("Write it in C++ code.", "Write it in C# code."),
    "inline code": ("Call `Get()` now.", "Call `get()` now."),
    "an operator in inline code": ("It is `a + b`.", "It is `a - b`."),
    "an operator": ("Then a = b holds.", "Then a < b holds."),
    "code": ("Run it:\n\n```\nx[0](A)\n```", "Run it:\n\n```\nx[0](B)\n```"),
    "indentation of code": ("```\nif a:\n  b\nc\n```", "```\nif a:\n  b\n  c\n```"),
    "a negation": (f"{LICENCE} You may copy it.", f"{LICENCE} You may not copy it."),
    "a quantity": (f"{LICENCE} All of it.", f"{LICENCE} Some of it."),
    "an article in a short text": ("Pick the page.", "Pick a page."),
    "the end": (LICENCE, f"{LICENCE} Ask us."),
}


@pytest.mark.parametrize("texts", DIFFERENT.values(), ids=DIFFERENT)
def test_texts_that_differ_in_what_a_reader_asks_about_stay_apart(texts: tuple[str, str]) -> None:
    assert marks(*texts) == [None, None]


def test_a_longer_text_that_differs_only_in_words_that_point_is_a_repetition() -> None:
    other = LICENCE.replace("This software", "The software").replace(
        "is provided", "is just provided"
    )
    assert marks(LICENCE, other) == [None, "same text but for 2 of 23 words"]


def test_a_page_that_repeats_itself_keeps_every_occurrence() -> None:
    chunks = [chunk(FOOTER, "a"), chunk(FOOTER, "a"), chunk(FOOTER, "b")]
    assert [made.duplicate_of for made in mark_duplicates(chunks)] == [
        None,
        None,
        chunks[0].chunk_id,
    ]


def test_sites_are_looked_at_apart() -> None:
    chunks = [chunk(FOOTER, "a", "one.example"), chunk(FOOTER, "b", "two.example")]
    assert [made.duplicate_of for made in mark_duplicates(chunks)] == [None, None]


def test_what_is_kept_is_never_itself_a_repetition() -> None:
    texts = [LICENCE.replace("This", word) for word in ("This", "The", "That", "This", "The")]
    chunks = [chunk(text, f"page {number}") for number, text in enumerate(texts)]
    kept = {made.duplicate_of for made in mark_duplicates(chunks)} - {None}
    assert kept == {chunks[0].chunk_id}

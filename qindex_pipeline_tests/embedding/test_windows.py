"""Windows: every one fits the real tokenizer, and nothing of a text is lost between them."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qindex_pipeline.embedding.minilm_embedder import MiniLMEmbedder
from qindex_pipeline.embedding.openai_embedder import OpenAIEmbedder
from qindex_pipeline.embedding.windows import PLACE_SHARE, at_place, place, windows

MINILM = MiniLMEmbedder()
OPENAI = OpenAIEmbedder("openai", "text-embedding-3-small", client=None)
NOMIC = OpenAIEmbedder("ollama", "nomic-embed-text", client=None)
E5 = OpenAIEmbedder("ollama", "multilingual-e5-large", client=None)
PLACE = "Command line > Options"

WORD = st.sampled_from(
    "the option --verbose installs `qindex` v0.2.1, über naïve 設定 файл don't /usr/lib/x86_64 "
    "antidisestablishmentarianism https://docs.example.com/a_b?c=d#e {'key': [1, 2]} ✓".split()
)
TEXT = st.builds(
    lambda words, ends: "".join(word + end for word, end in zip(words, ends, strict=False)),
    st.lists(WORD, max_size=600),
    st.lists(st.sampled_from([" ", " ", " ", "\n", "\n\n", "\t"]), min_size=600, max_size=600),
)
ANYTHING = st.text(st.characters(codec="utf-8"), max_size=300) | st.text(
    "abcdeginst0-._/(é設 ", max_size=300
)


def texts_of(cut: list[str], where: str) -> list[str]:
    """The windows' own texts: what stands behind the place."""
    assert all(window.startswith(f"{where}\n") for window in cut)
    return [window.removeprefix(f"{where}\n") for window in cut]


@settings(max_examples=25, deadline=None)
@given(text=TEXT)
def test_windows_hold_every_word_in_order_and_fit_the_model(text: str) -> None:
    cut = windows(PLACE, text, MINILM.max_tokens, MINILM.count_tokens)
    assert " ".join(texts_of(cut, PLACE)).split() == text.split()
    assert max(MINILM.count_tokens(cut)) <= MINILM.max_tokens


@pytest.mark.parametrize("embedder", [MINILM, OPENAI, NOMIC, E5], ids=lambda made: made.spec)
@settings(max_examples=100, deadline=None)
@given(text=ANYTHING, max_tokens=st.integers(16, 40))
@example(text="a.b" * 100, max_tokens=16)
@example(text="設定" * 60, max_tokens=16)
@example(text="x" * 2000, max_tokens=16)
def test_any_text_is_cut_to_windows_that_fit_without_losing_a_character(
    embedder: MiniLMEmbedder | OpenAIEmbedder, text: str, max_tokens: int
) -> None:
    cut = windows("", text, max_tokens, embedder.count_tokens)
    assert re.sub(r"\s", "", "".join(cut)) == re.sub(r"\s", "", text)
    assert max(embedder.count_tokens(cut)) <= max_tokens


@settings(max_examples=25, deadline=None)
@given(where=ANYTHING, text=TEXT)
def test_no_place_makes_a_window_too_long(where: str, text: str) -> None:
    cut = windows(where, text, MINILM.max_tokens, MINILM.count_tokens)
    assert max(MINILM.count_tokens(cut)) <= MINILM.max_tokens


@settings(max_examples=25, deadline=None)
@given(text=TEXT)
def test_windows_leave_room_for_the_prefix(text: str) -> None:
    cut = windows(PLACE, text, 64, NOMIC.count_tokens)
    assert max(MINILM.count_tokens([f"search_document: {window}" for window in cut])) <= 64


def test_a_tokenizer_that_makes_more_of_a_window_than_of_its_pieces_gets_smaller_ones() -> None:
    def count_tokens(texts: Sequence[str]) -> list[int]:
        return [len(text) ** 2 // 25 for text in texts]

    cut = windows("", "word " * 200, 20, count_tokens)
    assert " ".join(cut).split() == ["word"] * 200
    assert max(count_tokens(cut)) <= 20


def test_a_chunk_of_a_thousand_words_becomes_several_windows() -> None:
    text = " ".join(f"word{number}" for number in range(1000))
    cut = windows(PLACE, text, MINILM.max_tokens, MINILM.count_tokens)
    assert " ".join(texts_of(cut, PLACE)).split() == text.split()
    assert len(cut) > MINILM.count_tokens([text])[0] // MINILM.max_tokens
    assert all(tokens <= MINILM.max_tokens for tokens in MINILM.count_tokens(cut))
    # Full but for the last: windows that are cut early cost vectors and lose context.
    assert min(MINILM.count_tokens(cut[:-1])) > MINILM.max_tokens * 3 // 4


def test_a_text_that_fits_is_one_window_as_it_stands() -> None:
    text = "  Run it:\n\n    make install\n"
    cut = windows(PLACE, text, MINILM.max_tokens, MINILM.count_tokens)
    assert cut == [at_place(PLACE, text)]


def test_cuts_fall_between_lines_where_lines_fit() -> None:
    lines = [f"--option-{number} sets the number {number} of the tool" for number in range(60)]
    cut = windows(PLACE, "\n".join(lines), MINILM.max_tokens, MINILM.count_tokens)
    assert len(cut) > 1
    assert [line for text in texts_of(cut, PLACE) for line in text.split("\n")] == lines


def test_a_place_that_is_too_long_is_shortened_at_its_end() -> None:
    where = " > ".join(f"Section number {number}" for number in range(100))
    cut = windows(where, "Some text.", MINILM.max_tokens, MINILM.count_tokens)
    assert len(cut) == 1
    kept, _, text = cut[0].rpartition("\n")
    assert text == "Some text."
    assert where.startswith(kept)
    assert kept.startswith("Section number 0 >")
    assert MINILM.count_tokens([kept])[0] <= MINILM.max_tokens // PLACE_SHARE


@pytest.mark.parametrize(
    ("title", "path", "expected"),
    [
        ("Guide", ["Setup", "Linux"], "Guide > Setup > Linux"),
        ("Guide", ["Guide", "Setup"], "Guide > Setup"),
        ("Guide", [" Guide "], "Guide"),
        ("Guide", ["", " "], "Guide"),
        ("", ["Setup"], "Setup"),
        ("", [], ""),
    ],
)
def test_a_place_is_page_and_section_each_once(title: str, path: list[str], expected: str) -> None:
    assert place(title, path) == expected


def test_a_text_without_a_place_stands_alone() -> None:
    assert windows("", "Some text.", MINILM.max_tokens, MINILM.count_tokens) == ["Some text."]

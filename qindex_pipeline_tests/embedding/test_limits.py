"""Limits of served models: counts that enclose the real tokenizer's."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qindex_pipeline.embedding.limits import FRAME_TOKENS, limit_of
from qindex_pipeline.embedding.minilm_embedder import MiniLMEmbedder

MINILM = MiniLMEmbedder()
WORDPIECE = limit_of("nomic-embed-text")
UNKNOWN = limit_of("a-model-of-ones-own")


@pytest.mark.parametrize(
    ("models", "max_tokens"),
    [
        (["text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002"], 8191),
        (["nomic-embed-text", "nomic-embed-text:v1.5", "nomic-ai/nomic-embed-text-v1.5-Q"], 2048),
        (
            ["bge-m3", "embeddinggemma:300m", "qwen3-embedding:0.6b", "snowflake-arctic-embed2"],
            2048,
        ),
        (
            ["mxbai-embed-large", "snowflake-arctic-embed:22m", "bge-large", "thenlper/gte-base"],
            512,
        ),
        (["nomic-embed-text-v2-moe", "granite-embedding", "multilingual-e5-large", "own"], 512),
        (["all-minilm", "all-minilm:33m"], 256),
    ],
)
def test_a_model_reads_what_it_was_made_for(models: list[str], max_tokens: int) -> None:
    assert {limit_of(model).max_tokens for model in models} == {max_tokens}


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=300) | st.text("aegin .-_/#{}", max_size=300))
def test_both_counts_enclose_what_wordpiece_makes_of_a_text(text: str) -> None:
    (real,) = MINILM.count_tokens([text])
    for limit in (WORDPIECE, UNKNOWN):
        assert limit.most([text])[0] >= real
        assert limit.least([text])[0] <= real


def test_words_that_a_tokenizer_joins_count_once() -> None:
    text = "a\x1cb\x1cc\x85d\x0be"
    assert UNKNOWN.least([text]) == [1]
    assert MINILM.count_tokens([text])[0] >= 1 + FRAME_TOKENS


def test_prose_is_counted_as_the_tokenizer_does() -> None:
    text = "Configuration files are read from the working folder. " * 20
    assert WORDPIECE.most([text]) == MINILM.count_tokens([text])


def test_a_word_that_the_tokenizer_gives_up_on_is_spelt_out_in_the_upper_count_alone() -> None:
    word = "abcdefghij" * 30
    assert MINILM.count_tokens([word]) == [1 + FRAME_TOKENS]
    assert WORDPIECE.most([word])[0] > 100
    assert WORDPIECE.least([word]) == [0]


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [("", 0, 2), ("two words", 2, 11), ("— · —", 0, 12), ("é", 1, 4), ("a\n\n b-c ✓", 2, 13)],
)
def test_without_a_tokenizer_words_and_bytes_enclose_the_tokens(
    text: str, least: int, most: int
) -> None:
    assert (UNKNOWN.least([text]), UNKNOWN.most([text])) == ([least], [most])

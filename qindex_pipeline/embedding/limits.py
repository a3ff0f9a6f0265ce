"""How much of a text a served model reads, and how long a text is for it.

The server has the tokenizer, we mostly don't. A text is therefore counted twice: what it takes
at most, so that windows fit whatever it says, and what it takes at least, so that a server
which read less is caught.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from qindex_pipeline.embedding.prefixes import bare_name
from qindex_pipeline.embedding.wordpiece import wordpiece

if TYPE_CHECKING:
    from tokenizers import Tokenizer

FRAME_TOKENS = 2
"""Tokens that frame a text, such as [CLS] and [SEP]."""

COUNTING_SHARE = 0.9
"""A server's own WordPiece differs from ours in rare characters; a text that was cut loses more."""

_LONG_WORD = re.compile(r"\w{100}(?=\w)")
"""The tokenizer gives up on a longer word and makes one token of it, a server spells it out."""

_WORD = re.compile(r"[^ \t\r\n]*[^\W_][^ \t\r\n]*")
"""Between words stands what every tokenizer takes for white space."""


@dataclass(frozen=True)
class Limit:
    """What a model reads of a text, and two counts of a text's tokens.

    Attributes:
        max_tokens: Tokens of a text that the model reads.
        most: The tokens of each text or more.
        least: The tokens of each text or fewer.
    """

    max_tokens: int
    most: Callable[[Sequence[str]], list[int]]
    least: Callable[[Sequence[str]], list[int]]


def limit_of(model: str) -> Limit:
    """The limit of `model`; 512 tokens, what most encoders read, where it is not known."""
    name = bare_name(model)
    for pattern, max_tokens in _WORDPIECE:
        if re.fullmatch(pattern, name):
            return Limit(max_tokens, _most_wordpiece, _least_wordpiece)
    for pattern, max_tokens in _OTHER:
        if re.match(pattern, name):
            return Limit(max_tokens, _most_bytes, _least_words)
    return Limit(512, _most_bytes, _least_words)


# Models with the vocabulary of BERT (uncased, English). all-MiniLM was trained on 256 tokens.
# nomic's own limit is 8,192 only with a scaling that its GGUF files do not switch on.
_WORDPIECE = (
    (r"nomic-embed-text(-v1(\.5)?)?(-q|[.-]gguf|[.-]f16)?", 2048),
    (r"all-minilm.*", 256),
    (r"(mxbai-embed-large|snowflake-arctic-embed(-(xs|s|m|l))?)(-v1)?", 512),
    (r"(bge|gte|e5)-(small|base|large)(-en)?(-v[12](\.5)?)?", 512),
)

# Others, matched by how their names start. OpenAI refuses what is longer. The rest read 8,192
# tokens and more on paper, but Ollama cuts some of them at 2,048 whatever their settings say
# (its issue 14259); no window of a chunk needs more.
_OTHER = (
    (r"text-embedding-(3-|ada-002)", 8191),
    (r"(bge-m3|embeddinggemma|qwen3-embedding|snowflake-arctic-embed(2|-.*v2))", 2048),
)


@cache
def _tokenizer() -> "Tokenizer":
    return wordpiece()


def _wordpiece_lengths(texts: Sequence[str]) -> list[int]:
    return [len(encoding.ids) for encoding in _tokenizer().encode_batch(list(texts))]


def _most_wordpiece(texts: Sequence[str]) -> list[int]:
    return _wordpiece_lengths([_LONG_WORD.sub(r"\g<0> ", text) for text in texts])


def _least_wordpiece(texts: Sequence[str]) -> list[int]:
    lengths = _wordpiece_lengths(texts)
    return [math.floor(COUNTING_SHARE * (tokens - FRAME_TOKENS)) for tokens in lengths]


def _most_bytes(texts: Sequence[str]) -> list[int]:
    """No tokenizer in use makes more than one token of a byte."""
    return [len(text.encode()) + FRAME_TOKENS for text in texts]


def _least_words(texts: Sequence[str]) -> list[int]:
    """No tokenizer in use makes one token of two words."""
    return [len(_WORD.findall(text)) for text in texts]

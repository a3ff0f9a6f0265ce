"""An embedding without a model: texts that share words, or parts of words, are near.

Signed feature hashing of stemmed words and character trigrams. Unrelated texts have a cosine
around 0; words that every question has carry no weight.
"""

import re
import zlib
from functools import lru_cache

import numpy as np
import numpy.typing as npt

TRIGRAM_WEIGHT = 0.3
_WORD = re.compile(r"[^\W_]+")
_SUFFIX = re.compile(r"(?<=\w{4})(?:ations?|ings?|ers?|ed|es|ly|s|e)$")
_STOP_WORDS = frozenset(
    _WORD.findall(
        "a an and are as at be by can could do does documentation for from has have how i if in is "
        "it its my of on or say should that the there this to use using was what when where which "
        "who why will with you your"
    )
)


def embed(text: str, dimension: int) -> npt.NDArray[np.float32]:
    """Unit vector of the text, float32 of shape (dimension,)."""
    vector = np.zeros(dimension, dtype=np.float32)
    words = _WORD.findall(text.lower())
    for word in [word for word in words if word not in _STOP_WORDS] or words or [text]:
        for feature, weight in _features(word):
            vector[feature % dimension] += weight if feature & 1 << 31 else -weight
    return vector / max(float(np.linalg.norm(vector)), 1e-9)


@lru_cache(maxsize=50_000)
def _features(word: str) -> tuple[tuple[int, float], ...]:
    stem = _SUFFIX.sub("", word)
    padded = f"^{stem}$"
    trigrams = [padded[start : start + 3] for start in range(len(padded) - 2)]
    return (
        (zlib.crc32(f"word {stem}".encode()), 1.0),
        *((zlib.crc32(f"part {part}".encode()), TRIGRAM_WEIGHT) for part in trigrams),
    )

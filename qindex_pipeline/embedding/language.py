"""Tells when an English-only embedder is given pages in another language."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

ENGLISH_ONLY = frozenset({"minilm"})
"""Embedders that were trained on English alone."""

MIN_WORDS = 20
"""Shorter texts are not judged: their language cannot be told reliably."""


def warn_about_language(
    chunks: Sequence[Mapping[str, Any]], embedder: str, warn: Callable[[str], None]
) -> None:
    """Warn once a site, naming the first page that is not in English.

    A page's declared language counts; where it declares none, its text is judged.

    Args:
        chunks: Rows of the chunks table.
        embedder: Who will embed them.
        warn: Takes the line.
    """
    if embedder not in ENGLISH_ONLY:
        return
    foreign: dict[str, str] = {}
    for chunk in chunks:
        language = _language(chunk)
        if language is not None and language != "en":
            foreign.setdefault(chunk["url"], language)
    if foreign:
        url, language = next(iter(foreign.items()))
        warn(
            f"{len(foreign)} pages are not in English, the first is {url} ({language}): {embedder} "
            "knows English only, so expect poor answers; use another QINDEX_EMBEDDER"
        )


def _language(chunk: Mapping[str, Any]) -> str | None:
    if chunk["lang"]:
        return str(chunk["lang"]).lower().split("-")[0].split("_")[0]
    if chunk["n_words"] < MIN_WORDS or chunk["has_code"]:
        return None
    from py3langid.langid import classify

    return classify(chunk["text"])[0]

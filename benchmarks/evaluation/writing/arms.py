"""The page's parts about every arm: what each finds on each set, and fused against the others."""

from collections.abc import Iterator, Mapping, Sequence

from evaluation.results import Results
from evaluation.writing.words import SETS, by_set, figure, gained, sentence, spread, table, told

PEER = "LlamaIndex"

ARMS: Mapping[str, tuple[str, str]] = {
    "passage": ("passages", "cosine with a chunk's text, in windows that fit the embedder"),
    "question": ("questions alone", "cosine with a chunk's generated questions"),
    "bm25": ("BM25", "words of title, headings, text and generated questions"),
    "bm25, no questions": ("BM25, no questions", "the same without the questions' words"),
    "no questions": ("fused, no questions", "passages and BM25, no question written at all"),
    "fused": ("**fused**", "passages, questions and BM25: what `qindex ask` does"),
    "seed": ("first write-up", "questions alone, threshold 0.60, three results"),
    PEER: (PEER, "its defaults, same embedder, not tuned: of chunks of 1,024 tokens it reads 256"),
}
"""Name of an arm in tables, and what it ranks by."""

PUBLISHED: Mapping[str, tuple[float, ...]] = {
    "published: basic": (0.4283, 0.6592, 0.5193, 0.7367),
    "published: summaries": (0.4533, 0.7142, 0.5546, 0.7733),
    "published: re-ranked by a model": (0.4367, 0.6933, 0.5359, 0.8650),
}
"""Precision, recall, F1 and MRR at 3 as the authors of rag_docs published them."""


def arm_parts(results: Results) -> Iterator[tuple[str, str]]:
    """Name and text of each part of the page that this module makes."""
    yield "arms", table(("arm", "what ranks"), ARMS.values(), texts=2)
    yield "levels", "\n\n".join(_levels(results))
    yield "against", _against(results)
    yield "against_told", _against_told(results)


def _levels(results: Results) -> Iterator[str]:
    for name, figures in results.sets.items():
        rows: list[Sequence[str]] = [
            (ARMS[arm][0], *map(spread, results.level(name, arm).values())) for arm in ARMS
        ]
        if name == "rag_docs":
            rows += [(arm, "", *map(figure, values)) for arm, values in PUBLISHED.items()]
        yield f"### On {SETS[name]}"
        yield table((f"{figures['questions']} questions", *results.measures(name)), rows)
    yield (
        "`published` are the figures of the authors of rag_docs, with another embedder and other "
        "models, without intervals."
    )


def _against(results: Results) -> str:
    others = ("passage", "question", "bm25", "no questions", PEER)
    gains = {other: by_set(results.main_gains("fused", other)) for other in others}
    return table(
        ("fused minus", *gains["passage"]),
        [(ARMS[other][0], *map(gained, found.values())) for other, found in gains.items()],
    )


def _against_told(results: Results) -> str:
    finds = ("fused finds more on", "fused finds less on", "no difference shows on")
    return " ".join(
        sentence(f"against {plain}: {told(by_set(results.main_gains('fused', other)), *finds)}")
        for other, plain in {"passage": "passages", "bm25": "BM25", PEER: PEER}.items()
    )

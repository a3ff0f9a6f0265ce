"""What every arm ranks on every set, as ranks and counts: no question and no page is kept."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from git_doc import read_rows as read_objects
from retrieval import PEER, SETS, peer_rankings
from retrieval_sets import Corpus, git_data, site_corpus

from qindex_pipeline.questions.filters.terms import Text, terms
from qindex_pipeline.retrieval.evaluation.arms import ARMS, Arm, shown
from qindex_pipeline.retrieval.evaluation.rows import EvalRow, read_rows
from qindex_pipeline.retrieval.legs import Hits

Row = dict[str, Any]

DATA = Path(__file__).parents[3] / "qindex_pipeline_tests" / "data"
KEYWORD_FORMS, FOREIGN_KEYWORDS = "git_keyword_forms.jsonl", "foreign_keyword_forms.txt"

SHOWN = 3
"""Chunks that count on the set whose labels are chunks, as its authors published it."""

UNASKED = Arm(("passage", "bm25"))
"""What the product's fusion makes of the two legs that need no question."""


def keyword_rows(shared: Path) -> list[EvalRow]:
    """The labelled questions of git that have a keyword form, in that form."""
    rows = {row.id: row for row in read_rows(shared / "eval/git_questions.jsonl")}
    return [
        rows[row["id"]].model_copy(update={"question": row["keywords"]})
        for row in read_objects(DATA / KEYWORD_FORMS)
    ]


def _keywords(options: argparse.Namespace) -> Corpus:
    return site_corpus("git, keywords", keyword_rows(options.shared), git_data(options), "git")


EVALUATED: Mapping[str, Callable[[argparse.Namespace], Corpus]] = {
    "git": SETS["git"],
    "git, keywords": _keywords,
    "rag_docs": SETS["rag_docs"],
    "stl": SETS["stl"],
}


def measured_sets(options: argparse.Namespace) -> dict[str, Row]:
    """The figures of every set, by its name."""
    figures: dict[str, Row] = {}
    for name, made in EVALUATED.items():
        corpus = made(options)
        figures[name] = measured(corpus, options.cache)
    labels = read_objects(options.shared / "eval/git_questions.jsonl")
    figures["git"]["kinds"] = {
        field: [row[field] for row in labels] for field in ("style", "evidence")
    }
    return figures


def measured(corpus: Corpus, folder: Path) -> Row:
    """What every arm ranks, and how many of each question's words stand together in the docs."""
    found = outcome(ranked(corpus) | {PEER: peer_rankings(corpus, folder)}, corpus.right)
    found["words_in_one_chunk"] = [
        share_of_words(question, [text for label in right for text in corpus.texts[label]])
        for question, right in zip(corpus.questions, corpus.right, strict=True)
    ]
    if corpus.name == "rag_docs":
        return {"labels": "chunks", **found}
    del found["right"], found["right_shown"]
    return {"labels": "pages", **found}


def outcome(
    rankings: Mapping[str, Sequence[Sequence[str]]], right: Sequence[frozenset[str]]
) -> Row:
    """By arm the rank of the first right label, and the right ones among the first three.

    Args:
        rankings: By arm, for each question the labels in their order, each once.
        right: The right labels of each question.
    """
    pairs = {name: list(zip(found, right, strict=True)) for name, found in rankings.items()}
    return {
        "questions": len(right),
        "ranks": {name: [rank_of(*pair) for pair in found] for name, found in pairs.items()},
        "right": [len(labels) for labels in right],
        "right_shown": {
            name: [len(wanted.intersection(labels[:SHOWN])) for labels, wanted in found]
            for name, found in pairs.items()
        },
    }


def ranked(corpus: Corpus) -> dict[str, Sequence[Sequence[str]]]:
    """The labels that each arm ranks for each question, best first, each once."""
    arms = {
        **{name: (arm, corpus.found.hits) for name, arm in ARMS.items()},
        "fused, as typed": (ARMS["fused"], corpus.typed.hits),
        "no question leg": (UNASKED, corpus.found.hits),
        "no questions": (UNASKED, corpus.without.hits),
        "bm25, no questions": (ARMS["bm25"], corpus.without.hits),
    }

    def labels(arm: Arm, hits: Hits) -> list[str]:
        return list(dict.fromkeys(corpus.labels[chunk] for chunk in shown(arm, hits)))

    return {name: [labels(arm, each) for each in hits] for name, (arm, hits) in arms.items()}


def rank_of(labels: Sequence[str], right: frozenset[str]) -> int | None:
    """Rank of the first right label, from 1; None where there is none."""
    return next((rank for rank, label in enumerate(labels, start=1) if label in right), None)


def share_of_words(question: str, texts: Sequence[str]) -> float | None:
    """The most of a question's telling words that one text holds, inflected or not; of 1.

    None where the question has no such word, or there is no text.
    """
    asked = terms(question, "en")
    if not asked or not texts:
        return None
    held = max(sum(map(_text(text).holds, asked)) for text in texts)
    return round(held / len(asked), 3)


@cache
def _text(text: str) -> Text:
    return Text(text, "en")

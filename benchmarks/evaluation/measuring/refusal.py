"""How sure an index is of each question that it should answer and of each that it should refuse."""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from retrieval_index import Index, opened, without_questions
from retrieval_sets import git_data, stl_data

from evaluation.measuring.sets import DATA, FOREIGN_KEYWORDS, keyword_rows
from qindex_pipeline.retrieval.evaluation.rows import read_rows, read_unanswerable

Row = dict[str, Any]
Asked = Mapping[str, Sequence[str]]

DIGITS = 5
"""Of a confidence: thresholds have three."""


def measured_refusal(options: argparse.Namespace) -> dict[str, Row]:
    """By site: its threshold, and the confidence of every question of every group."""
    folder = options.shared / "eval"
    git = [row.question for row in read_rows(folder / "git_questions.jsonl")]
    stl = [row.question for row in read_rows(folder / "stl_seed_queries.jsonl")]
    rag_docs = _rag_docs(folder / "rag_docs/docs_evaluation_dataset.json")
    unanswerable = read_unanswerable(folder / "git_unanswerable.jsonl")
    foreign_keywords = (DATA / FOREIGN_KEYWORDS).read_text(encoding="utf-8").splitlines()
    of_git = {
        "own": git,
        "own, keywords": [row.question for row in keyword_rows(options.shared)],
        **{
            kind: [row.question for row in unanswerable if row.kind == kind]
            for kind in ("near", "far")
        },
        "foreign: rag_docs": rag_docs,
        "foreign: stl": stl,
        "foreign, keywords": foreign_keywords,
    }
    of_stl = {"own": stl, "foreign: git": git, "foreign: rag_docs": rag_docs}
    return {
        "git": _measured(git_data(options), "git", of_git),
        "stl": _measured(stl_data(options), "stl", of_stl),
    }


def _measured(data: Path, site: str, asked: Asked) -> Row:
    with opened(data, site) as index, without_questions(index, data) as passages:
        return {
            "threshold": index.threshold,
            "with": _confidences(index, asked),
            "without": _confidences(passages, asked),
        }


def _confidences(index: Index, asked: Asked) -> dict[str, list[float]]:
    return {
        name: [round(sure, DIGITS) for sure in index.confidences(index.search(questions))]
        for name, questions in asked.items()
    }


def _rag_docs(file: Path) -> list[str]:
    return [row["question"] for row in json.loads(file.read_text(encoding="utf-8"))]

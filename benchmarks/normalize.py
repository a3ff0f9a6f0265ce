"""What bringing keyword queries to questions does on git's manual, for better and for worse.

    python benchmarks/normalize.py [--git-data FOLDER]

FOLDER is the data folder (QINDEX_DATA) of an offline index of the package `git-doc`; without it
the cache of retrieval.py is used. Keyword forms of 40 of the labelled questions, the 112
questions themselves, git's unanswerable questions and keyword queries about other subjects are
searched in the user's words alone, and with their canonical form beside them. Labels: `eval/`
below QINDEX_SHARED (default `../shared`).
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from git_doc import read_rows as read_objects
from measure import print_table
from retrieval_index import Index, opened
from retrieval_sets import add_data_options, git_data, only_offline

from qindex_pipeline.retrieval.evaluation.arms import ARMS as RANKINGS
from qindex_pipeline.retrieval.evaluation.arms import pages
from qindex_pipeline.retrieval.evaluation.measures import auroc, first_right, reciprocal
from qindex_pipeline.retrieval.evaluation.rows import EvalRow, read_rows
from qindex_pipeline.retrieval.normalizing.forms import Normalizer, search_forms
from qindex_pipeline.retrieval.normalizing.normalize import normalize_query

DATA = Path(__file__).parents[1] / "qindex_pipeline_tests" / "data"
FIXED = (0.40, 0.50, 0.60)
"""Thresholds beside the one that the site was calibrated to."""
ARMS: Mapping[str, Normalizer] = {"without": str.strip, "with": normalize_query}


def main() -> None:
    """Search every set in both arms and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    add_data_options(parser)
    options = parser.parse_args()
    only_offline()
    with opened(git_data(options), "git") as index:
        report(index, options.shared / "eval")


def report(index: Index, labels: Path) -> None:
    """Print what normalising does to questions that git's manual answers, and to others."""
    thresholds = (index.threshold, *FIXED)
    rows = {row.id: row for row in read_rows(labels / "git_questions.jsonl")}
    style = {row["id"]: row["style"] for row in read_objects(labels / "git_questions.jsonl")}
    keywords = [
        rows[row["id"]].model_copy(update={"question": row["keywords"]})
        for row in read_objects(DATA / "git_keyword_forms.jsonl")
    ]
    answered = {
        "keyword forms": keywords,
        "questions, all": list(rows.values()),
        "  natural": [row for row in rows.values() if style[row.id] == "natural"],
        "  titles without a question": [r for r in rows.values() if style[r.id] == "keyword"],
    }
    limits = [f"{limit:.3f}" for limit in thresholds]
    header = ("", "n", "changed", "MRR", *(f"refused at {limit}" for limit in limits))
    table = [
        answered_row(f"{name}, {arm}", asked, index, normalize, thresholds)
        for name, asked in answered.items()
        for arm, normalize in ARMS.items()
    ]
    print_table("git's manual answers: page MRR@10, false refusals", header, table)
    foreign = (DATA / "foreign_keyword_forms.txt").read_text(encoding="utf-8").splitlines()
    unanswerable = [row["question"] for row in read_objects(labels / "git_unanswerable.jsonl")]
    header = ("", "n", "changed", *(f"accepted at {limit}" for limit in limits), "AUROC")
    against = {
        "foreign keywords": ([row.question for row in keywords], foreign),
        "unanswerable questions": ([row.question for row in rows.values()], unanswerable),
    }
    table = [
        foreign_row(f"{name}, {arm}", *sets, index, normalize, thresholds)
        for name, sets in against.items()
        for arm, normalize in ARMS.items()
    ]
    print_table("git's manual does not answer: false acceptances", header, table)


def answered_row(
    name: str,
    rows: Sequence[EvalRow],
    index: Index,
    normalize: Normalizer,
    thresholds: Sequence[float],
) -> Sequence[object]:
    """Name, queries, changed queries, MRR, and refusals at each threshold."""
    questions = [row.question for row in rows]
    found = index.search(questions, normalize)
    ranks = [
        first_right(pages(RANKINGS["fused"], hits, found.urls), row.right)
        for row, hits in zip(rows, found.hits, strict=True)
    ]
    sure = index.confidences(found)
    refused = (sum(best < limit for best in sure) for limit in thresholds)
    mrr = sum(map(reciprocal, ranks)) / len(ranks)
    return (name, len(rows), count_changed(questions, normalize), mrr, *refused)


def foreign_row(
    name: str,
    own: Sequence[str],
    foreign: Sequence[str],
    index: Index,
    normalize: Normalizer,
    thresholds: Sequence[float],
) -> Sequence[object]:
    """Name, queries, changed queries, acceptances at each threshold, AUROC against `own`."""
    right = index.confidences(index.search(own, normalize))
    wrong = index.confidences(index.search(foreign, normalize))
    accepted = (sum(best >= limit for best in wrong) for limit in thresholds)
    changed = count_changed(foreign, normalize)
    return (name, len(foreign), changed, *accepted, auroc(right, wrong))


def count_changed(queries: Sequence[str], normalize: Normalizer) -> int:
    """Queries that have a canonical form of their own."""
    return sum(len(search_forms(query, normalize)) > 1 for query in queries)


if __name__ == "__main__":
    main()

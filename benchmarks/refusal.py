"""What an index refuses at its calibrated threshold, rightly and wrongly.

    python benchmarks/refusal.py [--git-data FOLDER] [--stl-data FOLDER]

git's manual and the STL site are asked their own questions, questions about the other subjects,
and what git's manual does not answer: in the user's words alone, and with the canonical form
beside them, as `ask` does. A folder is the QINDEX_DATA of an offline index; without one the
cache of retrieval.py is used. Labels: `eval/` below QINDEX_SHARED (default `../shared`).
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from measure import print_table
from retrieval_index import Index, opened
from retrieval_sets import add_data_options, git_data, only_offline, stl_data

from qindex_pipeline.retrieval.evaluation.measures import auroc
from qindex_pipeline.retrieval.evaluation.rows import read_rows, read_unanswerable
from qindex_pipeline.retrieval.normalizing.forms import Normalizer
from qindex_pipeline.retrieval.normalizing.normalize import normalize_query

ARMS: Mapping[str, Normalizer] = {"as typed": str.strip, "as asked": normalize_query}
Questions = Mapping[str, Sequence[str]]


def main() -> None:
    """Ask both indexes and print a table of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    add_data_options(parser)
    options = parser.parse_args()
    only_offline()
    folder = options.shared / "eval"
    git = [row.question for row in read_rows(folder / "git_questions.jsonl")]
    stl = [row.question for row in read_rows(folder / "stl_seed_queries.jsonl")]
    rag_docs = _rag_docs(folder / "rag_docs/docs_evaluation_dataset.json")
    unanswerable = read_unanswerable(folder / "git_unanswerable.jsonl")
    by_kind = {
        f"unanswerable, {kind}": [row.question for row in unanswerable if row.kind == kind]
        for kind in sorted({row.kind for row in unanswerable})
    }
    with opened(git_data(options), "git") as index:
        foreign = {"rag_docs": rag_docs, "stl": stl, "rag_docs and stl": rag_docs + stl}
        print_refusals(index, git, foreign | by_kind)
    with opened(stl_data(options), "stl") as index:
        print_refusals(index, stl, {"rag_docs": rag_docs, "git": git})


def _rag_docs(file: Path) -> list[str]:
    return [row["question"] for row in json.loads(file.read_text(encoding="utf-8"))]


def print_refusals(index: Index, own: Sequence[str], foreign: Questions) -> None:
    """Refusals of the site's own questions and of each foreign set, with its AUROC."""
    rows: list[tuple[object, ...]] = []
    for arm, normalize in ARMS.items():
        right = index.confidences(index.search(own, normalize))
        rows.append((f"its own, {arm}", *_refused(right, index.threshold), ""))
        for name, questions in foreign.items():
            wrong = index.confidences(index.search(questions, normalize))
            refused = _refused(wrong, index.threshold)
            rows.append((f"{name}, {arm}", *refused, auroc(right, wrong)))
    title = f"{index.site}: refused below its threshold of {index.threshold:.3f}"
    print_table(title, ("", "n", "refused", "share", "AUROC"), rows)


def _refused(confidences: Sequence[float], threshold: float) -> tuple[int, int, float]:
    refused = sum(confidence < threshold for confidence in confidences)
    return len(confidences), refused, refused / len(confidences)


if __name__ == "__main__":
    main()

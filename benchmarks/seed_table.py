"""The seed's result table: for each query the best passage, the best question, and the answer.

Serve the STL site, ingest it as site `stl`, then:

    python benchmarks/seed_table.py [--site stl] [--queries FILE]

The last lines count what the product promises: a right page first and in the top three, and
refusals, for the fused ranking and for each leg alone.
"""

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from qindex_pipeline.query import QIndex
from qindex_pipeline.retrieval.legs import LEGS, Leg
from qindex_pipeline.retrieval.result import Answer

ARMS: dict[str, Sequence[Leg]] = {
    "passage": ("passage",),
    "question": ("question",),
    "bm25": ("bm25",),
    "fused": LEGS,
}


def main() -> None:
    """Print the table and the counts."""
    shared = Path(os.environ.get("QINDEX_SHARED", "../shared"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", default="stl")
    parser.add_argument("--queries", type=Path, default=shared / "eval/stl_seed_queries.jsonl")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.queries.read_text().splitlines() if line.strip()]
    index = QIndex.from_env()
    counts = {arm: {"first": 0, "top three": 0, "refused": 0} for arm in ARMS}
    print(f"{'query':55} {'passage':35} {'question':35} answer")
    for row in rows:
        asked = {
            arm: index.ask(row["question"], options.site, 3, legs=legs, write_answer=arm == "fused")
            for arm, legs in ARMS.items()
        }
        for arm, answer in asked.items():
            judge(counts[arm], answer, {row["page"], *row["also"]})
        fused = asked["fused"]
        reply = " ".join((fused.answer or "").split())
        print(
            f"{row['question'][:54]:55} {_best(asked['passage']):35} {_best(asked['question']):35} "
            f"{reply[:120]}"
        )
    print()
    for arm, count in counts.items():
        print(f"{arm:9}", ", ".join(f"{name} {value}/{len(rows)}" for name, value in count.items()))


def judge(count: dict[str, int], answer: Answer, right: set[str]) -> None:
    """Count one answer: whether a right page is first, among the first three, or refused."""
    pages = [page_of(result.url) in right for result in answer.results]
    count["first"] += pages[:1] == [True]
    count["top three"] += any(pages[:3])
    count["refused"] += answer.refused


def page_of(url: str) -> str:
    """The path below the host's root, with a folder's slash, as the labels write it."""
    path = urlsplit(url).path.lstrip("/")
    is_folder = path and "." not in path.rsplit("/", maxsplit=1)[-1]
    return path.rstrip("/") + "/" if is_folder else path


def _best(answer: Any) -> str:
    if not answer.results:
        return "-"
    best = answer.results[0]
    return f"{best.confidence:.3f} {page_of(best.url) or '/'}"


if __name__ == "__main__":
    main()

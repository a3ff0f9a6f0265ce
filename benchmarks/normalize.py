"""What bringing keyword queries to questions does on git's manual, for better and for worse.

    python benchmarks/normalize.py --git-data FOLDER [--site KEY] [--docs FOLDER]

FOLDER is the data folder (QINDEX_DATA) of an offline index of the package `git-doc`. Keyword
forms of 40 of the labelled questions, the 112 questions themselves, git's unanswerable questions
and keyword queries about other subjects are searched in the user's words alone, and with their
canonical form beside them. Labels: `eval/` below QINDEX_SHARED (default `../shared`).
"""

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from git_doc import page_names, read_rows
from measure import print_table

from qindex_pipeline.embedding.embedder import Embedder
from qindex_pipeline.ids import point_id
from qindex_pipeline.index.engine import Collection
from qindex_pipeline.index.sparse import Bm25Model
from qindex_pipeline.retrieval.fusion import fuse
from qindex_pipeline.retrieval.legs import LEGS, Hits, ask_legs
from qindex_pipeline.retrieval.normalizing.forms import Normalizer, merge_forms, search_forms
from qindex_pipeline.retrieval.normalizing.normalize import normalize_query
from qindex_pipeline.retrieval.normalizing.words import option_names
from qindex_pipeline.retrieval.opening import index_embedder, open_collection
from qindex_pipeline.settings import Settings

DATA = Path(__file__).parents[1] / "qindex_pipeline_tests" / "data"
THRESHOLDS = (0.40, 0.50, 0.60)
RANKED, TOP_K = 50, 3
ARMS: Mapping[str, Normalizer] = {"without": str.strip, "with": normalize_query}


@dataclass(frozen=True)
class Index:
    """An open index of git's manual."""

    collection: Collection
    embedder: Embedder
    bm25: Bm25Model
    site: str
    page_of: Callable[[str], str]

    def search(self, question: str, normalize: Normalizer) -> tuple[float, list[str]]:
        """Best confidence among the first three results, and the distinct pages in order."""
        forms = search_forms(question, normalize)
        vectors = self.embedder.embed(list(forms)).tolist()
        found = [
            ask_legs(self.collection, LEGS, vector, self.bm25.query(form), self.site)
            for form, vector in zip(forms, vectors, strict=True)
        ]
        ranked = fuse(merge_forms(found, option_names(question)), LEGS)[:RANKED]
        confidence = max((item.confidence for item in ranked[:TOP_K]), default=-1.0)
        urls = self._urls([item.chunk_id for item in ranked], found)
        return confidence, list(dict.fromkeys(map(self.page_of, urls)))

    def _urls(self, chunks: Sequence[str], found: Sequence[Hits]) -> list[str]:
        seen = {
            chunk: hit.payload["url"]
            for hits in found
            for leg in hits.values()
            for chunk, hit in leg.items()
            if "url" in hit.payload
        }
        missing = [point_id(chunk) for chunk in chunks if chunk not in seen]
        read = self.collection.retrieve(missing) if missing else {}
        return [seen.get(chunk) or read[point_id(chunk)]["url"] for chunk in chunks]


def main() -> None:
    """Search every set in both arms and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--git-data", type=Path, required=True)
    parser.add_argument("--site", default="git")
    parser.add_argument("--docs", type=Path, default=Path("/usr/share/doc/git/html"))
    options = parser.parse_args()
    os.environ |= {"QINDEX_DATA": str(options.git_data), "QINDEX_PROFILE": "offline"}
    settings = Settings.from_env()
    collection, models = open_collection(settings)
    with closing(collection):
        embedder = index_embedder(collection.manifest, models, settings)
        pages = page_names(options.docs)
        report(Index(collection, embedder, Bm25Model(), options.site, pages))


def report(index: Index) -> None:
    """Print what normalising does to questions that git's manual answers, and to others."""
    shared = Path(os.environ.get("QINDEX_SHARED", "../shared")).resolve() / "eval"
    labels = {row["id"]: row for row in read_rows(shared / "git_questions.jsonl")}
    keywords = [
        {**labels[row["id"]], "question": row["keywords"]}
        for row in read_rows(DATA / "git_keyword_forms.jsonl")
    ]
    answered = {
        "keyword forms": keywords,
        "questions, all": list(labels.values()),
        "  natural": [row for row in labels.values() if row["style"] == "natural"],
        "  titles without a question": [r for r in labels.values() if r["style"] == "keyword"],
    }
    header = ("", "n", "changed", "MRR", *(f"refused at {limit:.2f}" for limit in THRESHOLDS))
    rows = [
        answered_row(f"{name}, {arm}", rows, index, normalize)
        for name, rows in answered.items()
        for arm, normalize in ARMS.items()
    ]
    print_table("git's manual answers: page MRR@10, false refusals", header, rows)
    foreign = (DATA / "foreign_keyword_forms.txt").read_text(encoding="utf-8").splitlines()
    unanswerable = [row["question"] for row in read_rows(shared / "git_unanswerable.jsonl")]
    header = ("", "n", "changed", *(f"accepted at {limit:.2f}" for limit in THRESHOLDS), "AUROC")
    against = {
        "foreign keywords": ([row["question"] for row in keywords], foreign),
        "unanswerable questions": ([row["question"] for row in labels.values()], unanswerable),
    }
    rows = [
        foreign_row(f"{name}, {arm}", *sets, index, normalize)
        for name, sets in against.items()
        for arm, normalize in ARMS.items()
    ]
    print_table("git's manual does not answer: false acceptances", header, rows)


def answered_row(
    name: str, rows: Sequence[Mapping[str, Any]], index: Index, normalize: Normalizer
) -> Sequence[object]:
    """Name, queries, changed queries, MRR, and refusals at each threshold."""
    found = [index.search(row["question"], normalize) for row in rows]
    gains = [
        reciprocal(pages, {row["page"], *row["also"]})
        for row, (_, pages) in zip(rows, found, strict=True)
    ]
    refused = (sum(best < limit for best, _ in found) for limit in THRESHOLDS)
    changed = count_changed([row["question"] for row in rows], normalize)
    return (name, len(rows), changed, sum(gains) / len(gains), *refused)


def foreign_row(
    name: str,
    own: Sequence[str],
    foreign: Sequence[str],
    index: Index,
    normalize: Normalizer,
) -> Sequence[object]:
    """Name, queries, changed queries, acceptances at each threshold, AUROC against `own`."""
    right = [index.search(query, normalize)[0] for query in own]
    wrong = [index.search(query, normalize)[0] for query in foreign]
    accepted = (sum(best >= limit for best in wrong) for limit in THRESHOLDS)
    return (name, len(foreign), count_changed(foreign, normalize), *accepted, auroc(right, wrong))


def count_changed(queries: Sequence[str], normalize: Normalizer) -> int:
    """Queries that have a canonical form of their own."""
    return sum(len(search_forms(query, normalize)) > 1 for query in queries)


def reciprocal(pages: Sequence[str], right: set[str]) -> float:
    """1 / rank of the first right page within ten, else 0."""
    return next((1 / rank for rank, page in enumerate(pages[:10], 1) if page in right), 0.0)


def auroc(right: Sequence[float], wrong: Sequence[float]) -> float:
    """Share of pairs in which the right one is higher; ties count half."""
    pairs = [(a > b) + 0.5 * (a == b) for a in right for b in wrong]
    return sum(pairs) / len(pairs)


if __name__ == "__main__":
    main()

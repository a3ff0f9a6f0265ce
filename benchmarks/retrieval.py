"""Retrieval on three corpora: every arm beside LlamaIndex with the same embedder.

    python benchmarks/retrieval.py [--set rag_docs] [--set git] [--set stl] [--forms]
        [--git-data FOLDER] [--stl-data FOLDER]

Builds what it asks with the product's own stages and the offline profile, in a cache folder:
rag_docs from its ready chunks, git from the Debian package `git-doc`, stl from the folder of
QINDEX_SHARED (default `../shared`). --git-data and --stl-data name the QINDEX_DATA of ready sites
instead. --forms compares ways to fuse, chosen leave-one-corpus-out.
"""

import argparse
import json
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from measure import print_table
from retrieval_choice import print_choice
from retrieval_measures import Values, interval_text
from retrieval_sets import (
    Corpus,
    add_data_options,
    git_data,
    only_offline,
    rag_docs,
    site_corpus,
    stl_data,
)

from qindex_pipeline.retrieval.evaluation.arms import ARMS, Arm, shown
from qindex_pipeline.retrieval.evaluation.measures import Interval
from qindex_pipeline.retrieval.evaluation.rows import read_rows
from qindex_pipeline.retrieval.legs import Hits

PEER = "LlamaIndex"
REQUIREMENT = "llama-index-core==0.14.*"
PUBLISHED = {
    "published: basic": (0.4283, 0.6592, 0.5193, 0.7367),
    "published: summaries": (0.4533, 0.7142, 0.5546, 0.7733),
    "published: LLM re-ranker": (0.4367, 0.6933, 0.5359, 0.8650),
}
"""rag_docs as its authors published it: precision, recall, F1 and MRR at 3."""


def main() -> None:
    """Build, ask, print."""
    options = _options()
    only_offline()
    corpora = [corpus_of(name, options) for name in options.set or SETS]
    if options.forms:
        report = print_choice(corpora)
    else:
        report = {corpus.name: compared(corpus, options.cache) for corpus in corpora}
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--set", action="append", choices=SETS, help="repeatable; default all")
    parser.add_argument("--forms", action="store_true", help="compare ways to fuse")
    add_data_options(parser)
    parser.add_argument("--json", type=Path, help="write all figures here too")
    return parser.parse_args()


def corpus_of(name: str, options: argparse.Namespace) -> Corpus:
    """The corpus `name`, built where the cache does not hold it."""
    return SETS[name](options)


def _git(options: argparse.Namespace) -> Corpus:
    rows = read_rows(options.shared / "eval/git_questions.jsonl")
    return site_corpus("git", rows, git_data(options), "git")


def _stl(options: argparse.Namespace) -> Corpus:
    rows = read_rows(options.shared / "eval/stl_seed_queries.jsonl")
    return site_corpus("stl", rows, stl_data(options), "stl")


SETS: Mapping[str, Callable[[argparse.Namespace], Corpus]] = {
    "rag_docs": lambda options: rag_docs(options.shared, options.cache),
    "git": _git,
    "stl": _stl,
}


def compared(corpus: Corpus, cache: Path) -> dict[str, Any]:
    """Score every arm and the peer, print the tables, and give the figures."""
    rankings: dict[str, Sequence[Sequence[str]]] = {
        name: [ranked(arm, hits, corpus) for hits in corpus.found.hits]
        for name, arm in ARMS.items()
    }
    rankings[PEER] = peer_rankings(corpus, cache)
    values = {name: corpus.scoring.table(found, corpus.right) for name, found in rankings.items()}
    rows = [(name, *corpus.scoring.scores(found).values()) for name, found in values.items()]
    if corpus.name == "rag_docs":
        rows += [(name, *numbers) for name, numbers in PUBLISHED.items()]
    header = ("", *corpus.scoring.measures)
    print_table(f"{corpus.name}: {len(corpus.questions)} questions", header, rows)
    differences = _differences(corpus, values)
    shown = [
        (name, *(interval_text(each) for each in measured.values()))
        for name, measured in differences.items()
    ]
    print_table("fused minus the other, 95 % of 10,000 paired resamples", header, shown)
    return {
        "n": len(corpus.questions),
        "arms": {name: corpus.scoring.scores(found) for name, found in values.items()},
        "bootstrap": {
            name: {measure: asdict(each) for measure, each in measured.items()}
            for name, measured in differences.items()
        },
    }


def _differences(corpus: Corpus, values: Mapping[str, Values]) -> dict[str, dict[str, Interval]]:
    return {
        name: corpus.scoring.against(values["fused"], values[name])
        for name in ("passage", "bm25", PEER)
    }


def ranked(arm: Arm, hits: Hits, corpus: Corpus) -> list[str]:
    """The labels that an arm ranks, best first, each once."""
    return list(dict.fromkeys(corpus.labels[chunk] for chunk in shown(arm, hits)))


def peer_rankings(corpus: Corpus, cache: Path) -> Sequence[Sequence[str]]:
    """What LlamaIndex ranks for the corpus's questions."""
    request = {
        "documents": list(corpus.documents),
        "questions": list(corpus.questions),
        "cache": str(cache / "llama_index_vectors.sqlite"),
    }
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "request.json"), Path(folder, "ranked.json")
        given.write_text(json.dumps(request), encoding="utf-8")
        worker = Path(__file__).with_name("retrieval_llama.py")
        subprocess.run([peer_python(cache), worker, given, made], check=True)
        return json.loads(made.read_text(encoding="utf-8"))


def peer_python(cache: Path) -> Path:
    """The interpreter of an environment with LlamaIndex, made when it is not there yet.

    It sees this environment's packages behind its own, so that both embed with the same code.
    """
    folder = cache / "llama_index"
    python, done = folder / "bin/python", folder / "installed"
    if not done.is_file() or done.read_text(encoding="utf-8") != REQUIREMENT:
        print("installing LlamaIndex, once", flush=True)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", REQUIREMENT], check=True)
        done.write_text(REQUIREMENT, encoding="utf-8")
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    behind = [Path(__file__).resolve().parent.parent, Path(sysconfig.get_path("purelib"))]
    path_file = folder / "lib" / version / "site-packages" / "qindex.pth"
    path_file.write_text("".join(f"{path}\n" for path in behind), encoding="utf-8")
    return python


if __name__ == "__main__":
    main()

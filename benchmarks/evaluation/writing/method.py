"""The page's parts about how it was made: the sets, hashes, versions, constants."""

from collections.abc import Iterator

from evaluation.results import Results, share
from evaluation.writing.words import figure, table
from qindex_pipeline.retrieval.evaluation.measures import RESAMPLES, SEED
from qindex_pipeline.retrieval.fusion import BM25_WEIGHT, DENSE_WEIGHT


def method_parts(results: Results) -> Iterator[tuple[str, str]]:
    """Name and text of each part of the page that this module makes."""
    plans = results.raw["cost"]["git"]["plans"]
    for profile, plan in plans.items():
        yield f"{profile}_model", plan["generator"]
        yield f"{profile}_embedder", plan["embedder"]
    yield "sets", table(("set", "asked", "right", "questions"), _sets(results), texts=3)
    yield "dense", f"{DENSE_WEIGHT:g}"
    yield "bm25", f"{BM25_WEIGHT:g}"
    yield "resamples", f"{RESAMPLES:,}"
    yield "seed", str(SEED)
    always = share(10, 10)
    yield "ten_of_ten", f"{figure(always.low)} to {figure(always.high)}"
    versions = results.raw["versions"].items()
    yield "versions", table(("made with", "version"), versions, texts=2)
    yield "hashes", table(("made from", "version or SHA-256"), _hashes(results), texts=2)


def _sets(results: Results) -> Iterator[list[str]]:
    cost = results.raw["cost"]
    said = {
        "git": (
            f"titles of real users' questions, on git's manual ({cost['git']['pages']} pages)",
            "pages; labels are incomplete, so compare arms and don't quote levels",
        ),
        "git, keywords": ("some of them as keywords, rewritten for this project", "the same"),
        "rag_docs": (
            "a published set (MIT), on a docs site as 232 ready chunks",
            "chunks, one or more; the first three count",
        ),
        "stl": (
            f"queries of the first write-up, on their own site ({cost['stl']['pages']} pages)",
            "pages",
        ),
    }
    for name, figures in results.sets.items():
        yield [name, *said[name], str(figures["questions"])]


def _hashes(results: Results) -> Iterator[tuple[str, str]]:
    inputs = results.raw["inputs"]
    yield "Debian's package git-doc", f"version `{inputs['git_doc']}`"
    for name, digest in inputs["files"].items():
        yield f"`{name}`", f"`{digest}`"
    for site, digest in inputs["pages"].items():
        yield f"pages of {site}, as markdown", f"`{digest}`"
    yield "vectors", f"fingerprint `{inputs['fingerprint']}`"

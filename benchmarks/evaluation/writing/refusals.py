"""The page's parts about refusing: own questions, near misses, far ones, foreign ones."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluation.results import Results, separation, separation_gain, share
from evaluation.writing.words import SITES, figure, gained, listed, sentence, spread, table
from qindex_pipeline.profiles import PROFILES
from qindex_pipeline.retrieval.evaluation.measures import Interval

Row = Mapping[str, Any]

GROUPS: Mapping[str, str] = {
    "own": "its own questions",
    "own, keywords": "its own, as keywords",
    "near": "near: about it, not answered by it",
    "far": "far: about other software",
    "foreign: rag_docs": "foreign: rag_docs' questions",
    "foreign: stl": "foreign: the STL site's questions",
    "foreign: git": "foreign: git's questions",
    "foreign, keywords": "foreign: keyword queries",
}

FIXED = (0.40, 0.50, 0.60)
"""Thresholds beside the calibrated one; the last is the one of the first write-up."""


def refusal_parts(results: Results) -> Iterator[tuple[str, str]]:
    """Name and text of each part of the page that this module makes."""
    yield "refusals", "\n\n".join(_sites(results))
    yield "thresholds", _thresholds(results)
    yield "near", _near(results)
    yield "uncalibrated", _uncalibrated(results)


def refused(results: Results, site: str, group: str, threshold: float | None = None) -> int:
    """Questions of a group that stay below the threshold, the site's own where none is given."""
    figures = results.raw["refusal"][site]
    least = figures["threshold"] if threshold is None else threshold
    return sum(sure < least for sure in figures["with"][group])


def asked(results: Results, site: str, group: str) -> int:
    """Questions of a group."""
    return len(results.raw["refusal"][site]["with"][group])


def foreign_refused(results: Results, site: str) -> tuple[int, int]:
    """Refused and asked over the questions of other sets."""
    groups = [name for name in results.raw["refusal"][site]["with"] if name.startswith("foreign: ")]
    return (
        sum(refused(results, site, group) for group in groups),
        sum(asked(results, site, group) for group in groups),
    )


def near_gain(results: Results) -> Interval:
    """AUROC of git's near misses with questions minus that without."""
    return _auroc_gain(results.raw["refusal"]["git"], "near")


def _sites(results: Results) -> Iterator[str]:
    header = ("", "questions", "refused", "share", "AUROC", "without questions", "difference")
    for site, figures in results.raw["refusal"].items():
        name = sentence(SITES[site]).rstrip(".")
        yield f"### {name}, calibrated to {figures['threshold']:.3f}"
        yield table(header, [_row(results, site, group) for group in figures["with"]])


def _row(results: Results, site: str, group: str) -> Sequence[str]:
    figures = results.raw["refusal"][site]
    found, count = refused(results, site, group), asked(results, site, group)
    first = [GROUPS[group], str(count), str(found), spread(share(found, count))]
    if group.startswith("own"):
        return [*first, "", "", ""]
    of = {kind: separation(figures[kind]["own"], figures[kind][group]) for kind in _KINDS}
    return [
        *first,
        spread(of["with"]),
        figure(of["without"].difference),
        gained(_auroc_gain(figures, group)),
    ]


_KINDS = ("with", "without")


def _auroc_gain(figures: Row, group: str) -> Interval:
    own, foreign = ([figures[kind][name] for kind in _KINDS] for name in ("own", group))
    return separation_gain(own, foreign)


def _thresholds(results: Results) -> str:
    figures = results.raw["refusal"]["git"]
    limits = (figures["threshold"], *FIXED)
    return table(
        ("refused at", "questions", *(f"{limit:.3f}" for limit in limits)),
        [
            (
                GROUPS[group],
                str(asked(results, "git", group)),
                *(str(refused(results, "git", group, limit)) for limit in limits),
            )
            for group in figures["with"]
        ],
    )


def _uncalibrated(results: Results) -> str:
    """What a site without questions would refuse, which cannot be calibrated."""
    default = PROFILES["offline"].confidence_threshold
    found = results.raw["refusal"]["git"]["without"]
    foreign = [
        sure for name, each in found.items() if name.startswith("foreign: ") for sure in each
    ]
    counts = listed(
        f"{sum(sure < default for sure in each)} of {len(each)} {words}"
        for each, words in (
            (found["own"], "of its own questions"),
            (foreign, "foreign ones"),
            (found["near"], "near misses"),
        )
    )
    return (
        "Without generated questions a site has no calibrated threshold but its embedder's, for "
        f"MiniLM {default:.2f}; git's index would then refuse {counts}."
    )


def _near(results: Results) -> str:
    found, count = refused(results, "git", "near"), asked(results, "git", "near")
    near = share(found, count)
    if near.high < 0.5:
        told = "most near misses pass: a cosine does not tell them from what is answered"
    elif near.low > 0.5:
        told = "most near misses are refused"
    else:
        told = f"whether most near misses pass, {count} questions cannot tell"
    return f"At its calibrated threshold {found} of {count} near misses are refused; {told}."

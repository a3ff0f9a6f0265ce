"""Whether what was evaluated may be published, and what the next run is held against.

A run is held against the best accepted run with the same questions, not against the last one:
nights that each lose less than the margin would otherwise add up to any loss, unnoticed. The
figure is the mean reciprocal rank of the fused arm, which is what users are answered with.

- The baseline is the best figure that was accepted for these questions. It rises with every better
  run, and falls only when a person says so: a margin of 1, which no fall exceeds, accepts any
  figure and makes it the new baseline, so that the next night is held against it.
- A changed question file starts anew; its first run can only fail the site's floor. Another
  embedder does not: a model change that finds less is what the gate is for.
- The margin is absolute. One question of n moves the figure by at most 1/n: with fewer than 20
  questions a single one exceeds the default of 0.05. It also covers what a language model's newly
  written questions move by chance.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from qindex_pipeline.ids import content_hash
from qindex_pipeline.retrieval.evaluation.evaluation import Evaluation
from qindex_pipeline.retrieval.evaluation.site_questions import SiteQuestions
from qindex_pipeline.sites import Site

Row = Mapping[str, Any]

ARM, MEASURE = "fused", "mrr@10"
"""What is held against the floor and the baseline."""

_DIGITS = 6
"""Figures are compared to a millionth: 0.75 - 0.70 exceeds 0.05 in binary fractions."""


@dataclass(frozen=True)
class Terms:
    """When a figure is held: below `floor`, where there is one, or fallen by more than `margin`."""

    floor: float | None
    margin: float


@dataclass(frozen=True)
class Verdict:
    """What came of an evaluation.

    Attributes:
        mrr: The figure.
        best: The best accepted figure for the same questions, None without a baseline.
        compared: What the figure was held against, in a few words for people.
        faults: Why it may not be published; none: it may.
    """

    mrr: float
    best: float | None
    compared: str
    faults: Sequence[str] = ()

    def problem(self, site: str, asked: SiteQuestions, report: str) -> str | None:
        """One line: the figures, what was compared, what to do; None where nothing is wrong.

        Args:
            site: The site's key.
            asked: The questions.
            report: Where the report lies.
        """
        if not self.faults:
            return None
        return (
            f"site {site!r}: fused MRR@10 is {self.mrr:.3f} on the {len(asked.rows)} questions of "
            f"{asked.file}, {' and '.join(self.faults)}. The index stays as it was; look at the "
            f"report ({report})"
        )


def judge(evaluation: Evaluation, last: Sequence[Row], digest: str, terms: Terms) -> Verdict:
    """Hold an evaluation against the site's floor and its accepted runs.

    Args:
        evaluation: The new figures.
        last: Rows of the evaluation table; none without an accepted run.
        digest: Hash of the questions that were asked now.
        terms: Floor and margin.
    """
    mrr = evaluation.arms[ARM][MEASURE]
    best = _best(last, digest).get(ARM)
    faults = [*_below_the_floor(mrr, terms.floor), *_fallen(mrr, best, terms.margin)]
    if best is None:
        changed = "the questions have changed" if last else "no earlier run was accepted"
        return Verdict(mrr, None, f"{changed}: this run is the baseline", faults)
    if terms.margin >= 1:
        accepted = f"accepted whatever the best accepted run found ({best:.3f}): the new baseline"
        return Verdict(mrr, None, accepted, faults)
    return Verdict(mrr, best, f"best accepted run {best:.3f}", faults)


def _below_the_floor(mrr: float, floor: float | None) -> Iterable[str]:
    if floor is not None and round(mrr, _DIGITS) < floor:
        yield (
            f"below the site's eval_floor of {floor:g} (lower it in the sites file if that is "
            "as good as it gets)"
        )


def _fallen(mrr: float, best: float | None, margin: float) -> Iterable[str]:
    if best is not None and round(best - mrr, _DIGITS) > margin:
        yield (
            f"{best - mrr:.3f} less than the {best:.3f} of the best accepted run with the same "
            f"questions, where QINDEX_EVAL_MARGIN allows {margin:g} (QINDEX_EVAL_MARGIN=1 for one "
            "run accepts it)"
        )


@dataclass(frozen=True)
class Accepted:
    """What an accepted run is remembered by, beside its figures; hashes as in the table."""

    site: str
    questions_hash: str
    embeddings_hash: str
    fingerprint: str
    evaluated_at: datetime


def accepted_rows(
    run: Accepted, evaluation: Evaluation, verdict: Verdict, last: Sequence[Row]
) -> list[Row]:
    """The rows of the evaluation table after an accepted run.

    Args:
        run: What it is remembered by.
        evaluation: Its figures.
        verdict: What they were held against.
        last: The rows before.
    """
    before = {} if verdict.best is None else _best(last, run.questions_hash)
    return [
        {
            **{name.replace("@", "_at_"): value for name, value in measured.items()},
            "site": run.site,
            "arm": arm,
            "n": len(evaluation.rows),
            "best_mrr_at_10": max(measured[MEASURE], before.get(arm, 0.0)),
            "threshold": evaluation.threshold,
            "questions_hash": run.questions_hash,
            "embeddings_hash": run.embeddings_hash,
            "fingerprint": run.fingerprint,
            "evaluated_at": run.evaluated_at,
        }
        for arm, measured in evaluation.arms.items()
    ]


def _best(rows: Sequence[Row], digest: str) -> dict[str, float]:
    """The best accepted figure of each arm, if it is one of the same questions."""
    return {row["arm"]: row["best_mrr_at_10"] for row in rows if row["questions_hash"] == digest}


def evaluation_report(state_dir: Path, site: str) -> Path:
    """Where the report of a site's last evaluation lies, accepted or held."""
    return state_dir / "evaluation" / f"{site}.md"


def embeddings_hash(embeddings: Sequence[Row]) -> str:
    """Hash of a site's embeddings, whatever their order: what decides how it ranks."""
    names = ("point_id", "text_hash", "fingerprint")
    return content_hash(*sorted(" ".join(row[name] for name in names) for row in embeddings))


def not_accepted(site: Site, accepted: Sequence[Row], embeddings: Sequence[Row]) -> str | None:
    """Why the tables of a site may not be published, in one line; None when they may.

    A run that was held leaves its chunks, questions and embeddings in the tables, for the next
    run to start from. Whoever publishes tables without evaluating them asks here.

    Args:
        site: The site.
        accepted: Rows of its evaluation table.
        embeddings: Rows of its embeddings table.
    """
    if site.eval_questions is None:
        return None
    if embeddings_hash(embeddings) in {row["embeddings_hash"] for row in accepted}:
        return None
    return (
        f"the tables of site {site.key!r} have not passed its evaluation with "
        f"{site.eval_questions.name}: run `qindex ingest` for it, which says why if they don't"
    )

"""Checks of the questions and their verdicts; they only warn."""

from collections.abc import Mapping, Sequence

import dagster as dg

from qindex_pipeline.checks.gate import warning

CHUNKS_HAVE_QUESTIONS = dg.AssetCheckSpec(
    "chunks_have_questions",
    asset="grounded_questions",
    description="A good share of the chunks has a question; the others are found by their text.",
)

REJECTION_IS_STEADY = dg.AssetCheckSpec(
    "rejection_is_steady",
    asset="grounded_questions",
    description="Each filter rejects about as large a share of the candidates as in the last run.",
)

HUMAN_QUESTIONS_STAND = dg.AssetCheckSpec(
    "human_questions_stand",
    asset="grounded_questions",
    description="The evidence of every question that people add or pin is on its page.",
)

LEAST_CHUNKS_WITH_QUESTIONS = 0.5
"""Share of chunks below which `chunks_have_questions` warns."""

MOST_REJECTION_CHANGE = 0.10
"""Change of a filter's share of the candidates above which `rejection_is_steady` warns."""


def human_questions_stand(file: str, fallen: Sequence[str]) -> dg.AssetCheckResult:
    """Judge what people want by the questions among it that are not accepted, a line each."""
    problem = (
        f"{len(fallen)} questions of {file} are not indexed, the first is {fallen[0]}: mend their "
        "page or their evidence, or take them out"
        if fallen
        else None
    )
    lines = "\n".join(f"- {line}" for line in fallen)
    metadata = {"not_indexed": len(fallen), "questions": dg.MetadataValue.md(lines)}
    return warning(HUMAN_QUESTIONS_STAND, problem, metadata)


def chunks_have_questions(with_question: int, askable: int) -> dg.AssetCheckResult:
    """Judge the questions by how many chunks have one.

    Args:
        with_question: Chunks with at least one accepted question.
        askable: Chunks that a generator was asked about: all but repetitions and navigation.
    """
    share = min(1.0, with_question / askable) if askable else 1.0
    problem = (
        f"only {share:.0%} of {askable} chunks have an accepted question: look at the rejected "
        "examples, and at the model that proposes"
        if share < LEAST_CHUNKS_WITH_QUESTIONS
        else None
    )
    metadata = {"share": round(share, 3), "chunks_with_a_question": with_question}
    return warning(CHUNKS_HAVE_QUESTIONS, problem, metadata | {"chunks_asked_about": askable})


def rejection_is_steady(
    shares: Mapping[str, float], last: Mapping[str, float] | None
) -> dg.AssetCheckResult:
    """Judge the filters by what they rejected in the last run.

    Args:
        shares: Share of the candidates that each filter rejects; one that is absent rejects none.
        last: The same of the last run; None where there was none.
    """
    last = shares if last is None else last
    names = sorted(shares.keys() | last.keys())
    change = {name: round(shares.get(name, 0.0) - last.get(name, 0.0), 3) for name in names}
    moved = [name for name in names if abs(change[name]) > MOST_REJECTION_CHANGE]
    problem = (
        "; ".join(
            f"{name} rejects {shares.get(name, 0.0):.0%} of the candidates, "
            f"{last.get(name, 0.0):.0%} in the last run"
            for name in moved
        )
        or None
    )
    return warning(REJECTION_IS_STEADY, problem, change)

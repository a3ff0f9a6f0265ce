"""A real model through OpenAI's protocol, from the pages of a real site to judged questions."""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from qindex_pipeline.questions.filters.judging import FILTERS
from qindex_pipeline.questions.filters.summary import Verdicts
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import CHUNKS, GROUNDED_QUESTIONS
from qindex_pipeline_tests.chain import failure, materialize
from qindex_pipeline_tests.gated.small_model import FOLDER, MODEL, serving
from qindex_pipeline_tests.stl import serving_stl, stl_site

pytestmark = [
    pytest.mark.gated,
    pytest.mark.skipif(
        not MODEL.exists(),
        reason=f"no model in {FOLDER}: python -m qindex_pipeline_tests.gated.small_model",
    ),
    pytest.mark.skipif(stl_site() is None, reason="QINDEX_SHARED has no sites/stl"),
]

SPEC = "openai:smollm2"
STAGES = ("raw_pages", "chunks", "candidate_questions", "grounded_questions")
SHOWN = 20
PAGES = 6
"""Of nineteen: the whole site takes this model four minutes on two cores."""
VERDICTS = FOLDER / "verdicts.md"


@dataclass(frozen=True)
class Judged:
    """The tables of a run, and how long it took."""

    chunks: list[dict[str, Any]]
    rows: list[dict[str, Any]]
    seconds: float


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    folder = tmp_path_factory.mktemp("real")
    with serving() as model, serving_stl() as start, pytest.MonkeyPatch.context() as environment:
        for name, value in {
            "QINDEX_DATA": str(folder / "data"),
            "QINDEX_PROFILE": "offline",
            "QINDEX_GENERATOR": SPEC,
            "QINDEX_OPENAI_BASE_URL": model,
            "QINDEX_LLM_CONCURRENCY": "1",
            "QINDEX_LLM_TIMEOUT": "600",
            "QINDEX_MAX_QUESTIONS": "2",
            # A model of this size fails often; what matters is that each failure is recorded.
            "QINDEX_MAX_FAILED_SHARE": "1",
        }.items():
            environment.setenv(name, value)
        settings = Settings.from_env()
        begin = time.monotonic()
        result = materialize(settings, Site(key="stl", start_url=start, max_pages=PAGES), *STAGES)
        seconds = time.monotonic() - begin
    assert result.success, failure(result)
    store = ParquetStore(settings.data)
    return Judged(
        store.read(CHUNKS, "stl").to_pylist(),
        store.read(GROUNDED_QUESTIONS, "stl").to_pylist(),
        seconds,
    )


def test_each_question_of_a_real_model_is_judged_by_what_its_chunk_says(
    judged: Judged, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {chunk["chunk_id"]: " ".join(chunk["text"].split()) for chunk in judged.chunks}
    assert judged.rows
    assert {row["generator"] for row in judged.rows} == {SPEC}
    assert sum(row["tokens_in"] for row in judged.rows) > 0
    for row in judged.rows:
        assert row["accepted"] == (not row["objections"])
        assert set(row["objections"]) <= set(FILTERS)
        is_verbatim = " ".join(row["evidence"].split()) in texts[row["chunk_id"]]
        assert is_verbatim or not row["accepted"]
    VERDICTS.write_text(report(judged))
    with capsys.disabled():
        sys.stdout.write(f"\n{summary(judged)}\n{SHOWN} of them, judged: {VERDICTS}\n")


def summary(judged: Judged) -> str:
    asked = {row["chunk_id"] for row in judged.rows}
    return (
        f"{SPEC}: {len(judged.chunks)} chunks, {len(asked)} of them with questions, "
        f"{judged.seconds:.0f} s\n\n{Verdicts.of(judged.rows).markdown}\n"
    )


def report(judged: Judged) -> str:
    """The counts, and questions of every kind of verdict, each with its chunk."""
    return "\n".join([summary(judged), *map(_shown, _chosen(judged.rows))])


def _chosen(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Accepted ones first, then those that fewest filters object to."""
    return sorted(rows, key=lambda row: (len(row["objections"]), row["question_id"]))[:SHOWN]


def _shown(row: dict[str, Any]) -> str:
    verdict = "accepted" if row["accepted"] else f"rejected: {', '.join(row['objections'])}"
    return (
        f"- {row['question']}\n  - {verdict}; the seed's rule: {row['seed_grounded']}; "
        f"shared: {', '.join(row['shared_terms'])}\n  - evidence: {row['evidence']!r}\n"
    )

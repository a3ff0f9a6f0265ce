"""What people pin, add and ban, through the chain."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import EMBEDDINGS, GROUNDED_QUESTIONS
from qindex_pipeline_tests.chain import failure, materialize, metadata
from qindex_pipeline_tests.command import write_site

PAGE = """<h1>Lantern</h1><h2>Installing Lantern</h2>
  <p>To install Lantern, run <code>pip install lantern-cli</code> in a terminal.</p>"""
STAGES = ("candidate_questions", "grounded_questions", "embeddings")


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., dg.ExecuteInProcessResult]:
    settings = Settings(
        profile="offline",
        data=str(tmp_path / "data"),
        sites=tmp_path / "sites.yaml",
        questions=tmp_path / "questions",
    )
    (tmp_path / "questions").mkdir()
    site = Site(key="docs", folder=write_site(tmp_path / "site", index=PAGE))

    def run(text: str, *stages: str) -> dg.ExecuteInProcessResult:
        (tmp_path / "questions" / "docs.yaml").write_text(text)
        return materialize(settings, site, *stages)

    return run


def rows(folder: Path) -> list[dict[str, Any]]:
    return ParquetStore(str(folder / "data")).read(GROUNDED_QUESTIONS, "docs").to_pylist()


def check(result: dg.ExecuteInProcessResult) -> dg.AssetCheckEvaluation:
    found = result.get_asset_check_evaluations()
    return next(item for item in found if item.check_name == "human_questions_stand")


def test_people_add_pin_and_ban_questions_and_are_told_of_those_that_do_not_stand(
    run, tmp_path: Path
):
    first = run("", "raw_pages", "chunks", *STAGES)
    assert first.success and check(first).passed
    (proposed, *_) = [row for row in rows(tmp_path) if row["accepted"]]
    wanted = f"""
pages:
  /:
    add:
    - question: Lamp setup?
      evidence: run pip install lantern-cli
    - question: Where is the oil?
      evidence: Oil is in the shed.
    pin: ["{proposed["question"]}"]
  /gone:
    add: [{{question: Who left?, evidence: Nobody.}}]
"""
    second = run(wanted, *STAGES)
    assert second.success
    by_question = {row["question"]: row for row in rows(tmp_path)}
    added = by_question["Lamp setup?"]
    assert (added["accepted"], added["origin"]) == (True, "human")
    assert added["evidence"] == "run `pip install lantern-cli"
    pinned = by_question[proposed["question"]]
    assert (pinned["question_id"], pinned["origin"]) == (proposed["question_id"], "human")
    for question in ("Where is the oil?", "Who left?"):
        assert by_question[question]["reject_reason"] == "evidence"
    found = check(second)
    assert not found.passed and found.severity == dg.AssetCheckSeverity.WARN
    assert "2 questions of" in (found.description or "")
    assert "docs.yaml are not indexed, the first is /: 'Where is the oil?'" in str(found)
    assert "/gone: 'Who left?' (evidence)" in str(found.metadata["questions"].value)
    seen = metadata(second)
    assert seen["candidate_questions"]["questions_human"] == 4
    assert seen["embeddings"]["texts_embedded"] <= 1  # the added one, if no filter asked before
    vectors = ParquetStore(str(tmp_path / "data")).read(EMBEDDINGS, "docs").to_pylist()
    assert added["question_id"] in {row["question_id"] for row in vectors}

    third = run(f'pages: {{/: {{ban: ["{proposed["question"].upper()}"]}}}}', *STAGES)
    assert check(third).passed
    verdicts = {row["question"]: row for row in rows(tmp_path)}
    assert set(verdicts) == set(by_question) - {"Lamp setup?", "Where is the oil?", "Who left?"}
    banned = verdicts[proposed["question"]]
    assert (banned["reject_reason"], banned["origin"]) == ("banned", "generated")


def test_a_malformed_file_stops_a_run_before_it_costs_anything(run):
    result = run("pages: {/: {pins: []}}")
    assert not result.success
    assert "docs.yaml: page '/': pins: not known" in failure(result)
    assert metadata(result) == {}

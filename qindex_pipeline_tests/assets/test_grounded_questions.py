"""Asset grounded_questions: what it shows, what its checks warn of, what it embeds."""

from collections.abc import Mapping
from pathlib import Path

import dagster as dg
import pytest

from qindex_pipeline.checks import questions as checks
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import GROUNDED_QUESTIONS
from qindex_pipeline_tests.chain import materialize, metadata
from qindex_pipeline_tests.command import write_site

KEY = "docs.lantern.dev"
LAMP = """<h1>Installing Lantern</h1><p>To install Lantern on a computer, run this command:</p>
  <pre><code class="language-bash">pip install lantern-cli</code></pre>"""


def test_a_run_shows_its_filters_and_embeds_what_the_embeddings_then_find(tmp_path: Path):
    settings = Settings(profile="offline", data=str(tmp_path / "data"))
    site = Site(key=KEY, folder=write_site(tmp_path / "site", index=LAMP))
    seen = metadata(materialize(settings, site))
    judged = seen["grounded_questions"]
    accepted = judged["accepted"]
    assert accepted > judged["chunks_with_a_question"] == 1
    assert judged["texts_embedded"] == accepted + 1  # the chunk too
    assert seen["embeddings"]["texts_embedded"] == 0
    assert judged["filters"].splitlines()[-2] == f"| **accepted** | | | **{accepted}** |"
    assert judged["accepted_examples"].count("\n") == accepted + 1
    assert judged["cost_usd"] == judged["tokens_in"] == 0
    table = Path(ParquetStore(settings.data).path(GROUNDED_QUESTIONS, KEY))
    whole = table.read_bytes()
    table.write_bytes(whole[:100])
    again = materialize(settings, site, "grounded_questions")
    assert again.success
    assert metadata(again)["grounded_questions"]["texts_embedded"] == 0
    assert len(table.read_bytes()) > 100


@pytest.mark.parametrize(
    ("with_question", "askable", "problem"),
    [
        (2, 2, None),
        (1, 2, None),
        (0, 0, None),
        (3, 2, None),
        (1, 3, "only 33% of 3 chunks have an accepted question"),
    ],
)
def test_few_chunks_with_a_question_warn(with_question: int, askable: int, problem: str | None):
    assert_warns(checks.chunks_have_questions(with_question, askable), problem)


@pytest.mark.parametrize(
    ("shares", "last", "problem"),
    [
        ({"form": 0.5}, None, None),
        ({"form": 0.5}, {"form": 0.5}, None),
        ({"form": 0.2}, {"form": 0.1, "language": 0.1}, None),
        ({"form": 0.5}, {}, "form rejects 50% of the candidates, 0% in the last run"),
        ({}, {"evidence": 0.2}, "evidence rejects 0% of the candidates, 20% in the last run"),
    ],
)
def test_a_filter_that_rejects_another_share_than_last_time_warns(
    shares: Mapping[str, float], last: Mapping[str, float] | None, problem: str | None
):
    assert_warns(checks.rejection_is_steady(shares, last), problem)


def assert_warns(result: dg.AssetCheckResult, problem: str | None):
    assert result.severity is dg.AssetCheckSeverity.WARN
    assert result.passed is (problem is None)
    assert (result.description or "").startswith(problem or "")

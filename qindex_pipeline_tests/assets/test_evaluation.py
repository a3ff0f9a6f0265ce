"""Asset evaluation and its gate through Dagster: what is published, what is held, what is said."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from qindex_pipeline.cli import main
from qindex_pipeline.embedding.minilm_embedder import MiniLMEmbedder
from qindex_pipeline.errors import WorkError
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.planning.plan import plan_sites
from qindex_pipeline.query import QIndex
from qindex_pipeline.rebuild import rebuild
from qindex_pipeline.removal import purge_site
from qindex_pipeline.retrieval.evaluation.arms import ARMS
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site, add_site
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import (
    CHUNKS,
    EMBEDDINGS,
    EVALUATION,
    GROUNDED_QUESTIONS,
    TABLES,
)
from qindex_pipeline_tests.chain import failure, materialize, metadata
from qindex_pipeline_tests.command import CLOSED, write_site

KEY = "lantern"
LINKS = '<p><a href="install.html">Install</a> <a href="colours.html">Colours</a> lead on.</p>'
PAGES = {
    "index": f"<h1>Lantern</h1><p>Lantern lights directories for those who work late.</p>{LINKS}",
    "install": """<h1>Installing Lantern</h1><p>To install Lantern, run this command in a terminal:
      </p><pre><code class="language-bash">pip install lantern-cli</code></pre>""",
    "colours": """<h1>Colours</h1><p>The colour of the light follows the variable LANTERN_COLOUR,
      which takes any colour name of the terminal.</p>""",
}
INSTALL = {"id": "1", "question": "how can I install lantern?", "page": "install.html"}
COLOUR = {"id": "2", "question": "How do I change the colour?", "page": "colours.html"}
NOWHERE = {"id": "3", "question": "Where are the palettes?", "page": "palettes.html"}
FOREIGN = {"id": "9", "question": "what is the capital of France"}


@dataclass(frozen=True)
class Place:
    """A folder with a site, its question files, its tables and its index."""

    folder: Path
    site: Site

    @property
    def settings(self) -> Settings:
        return Settings(
            profile="offline",
            data=str(self.folder / "data"),
            sites=self.folder / "sites.yaml",
            ollama_url=CLOSED,
        )

    @property
    def store(self) -> ParquetStore:
        return ParquetStore(self.settings.data)

    def ask(self, *rows: dict[str, Any]) -> None:
        """Let these be the questions of the site."""
        assert self.site.eval_questions is not None
        self.site.eval_questions.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    def evaluate(self, *assets: str, **settings: Any) -> dg.ExecuteInProcessResult:
        """Evaluate the tables as they are and publish them, or materialise the named assets."""
        made = self.settings.model_copy(update=settings)
        return materialize(made, self.site, *(assets or ("evaluation", "question_index")))

    def lose(self, page: str) -> None:
        """Take a page out of the tables that are evaluated."""
        lost = {
            row["chunk_id"]
            for row in self.store.read(CHUNKS, KEY).to_pylist()
            if row["url"].endswith(page)
        }
        assert lost
        for table in (CHUNKS, GROUNDED_QUESTIONS, EMBEDDINGS):
            rows = self.store.read(table, KEY).to_pylist()
            self.store.write(table, KEY, [row for row in rows if row["chunk_id"] not in lost])

    def accepted(self) -> list[dict[str, Any]]:
        return self.store.read(EVALUATION, KEY).to_pylist()

    def first_url(self, question: str) -> str:
        index = QIndex(self.settings)
        try:
            return index.ask(question, KEY, 1, write_answer=False).results[0].url
        finally:
            index.close()


def place_in(folder: Path) -> Place:
    files = {name: folder / f"{name}.jsonl" for name in ("eval_questions", "eval_unanswerable")}
    site = Site(key=KEY, folder=write_site(folder / "site", **PAGES), **files)
    files["eval_unanswerable"].write_text(json.dumps(FOREIGN), encoding="utf-8")
    place = Place(folder, site)
    place.ask(INSTALL, COLOUR)
    add_site(place.settings.sites, site)
    return place


@dataclass(frozen=True)
class Published:
    """A site whose first run was accepted, and that run."""

    place: Place
    run: dg.ExecuteInProcessResult


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    place = place_in(tmp_path_factory.mktemp("lantern"))
    return Published(place, materialize(place.settings, place.site))


@pytest.fixture
def place(published: Published, tmp_path: Path) -> Place:
    """A copy of the published site."""
    folder = Path(shutil.copytree(published.place.folder, tmp_path / "copy"))
    files = {name: folder / f"{name}.jsonl" for name in ("eval_questions", "eval_unanswerable")}
    return Place(folder, published.place.site.model_copy(update=files))


def check(result: dg.ExecuteInProcessResult, name: str) -> dg.AssetCheckEvaluation:
    (found,) = [check for check in result.get_asset_check_evaluations() if check.check_name == name]
    return found


def gate(result: dg.ExecuteInProcessResult) -> dg.AssetCheckEvaluation:
    return check(result, "evaluation_has_not_fallen")


def test_a_site_that_names_questions_is_evaluated_before_it_is_published(published: Published):
    run, rows = published.run, published.place.accepted()
    assert run.success, failure(run)
    assert [row["arm"] for row in rows] == list(ARMS)
    fused = next(row for row in rows if row["arm"] == "fused")
    assert (fused["n"], fused["hit_at_1"], fused["mrr_at_10"]) == (2, 1.0, 1.0)
    numbers = metadata(run)
    order = list(numbers)
    assert order.index("evaluation") < order.index("question_index")
    shown = numbers["evaluation"]
    assert (shown["mrr_at_10"], shown["fused/hit_at_1"], shown["questions"]) == (1.0, 1.0, 2)
    assert shown["refused_unanswerable"] == 1.0
    assert "| fused | 1.000" in shown["report"]
    assert "confidence answerable" in shown["report"]
    assert gate(run).passed
    assert gate(run).description == "no earlier run was accepted: this run is the baseline"


def test_an_unchanged_question_is_embedded_once_ever(place: Place, monkeypatch: pytest.MonkeyPatch):
    def embed(*_: object) -> None:
        raise AssertionError("a question is embedded again")

    monkeypatch.setattr(MiniLMEmbedder, "embed_queries", embed)
    result = place.evaluate("evaluation")
    assert result.success, failure(result)
    assert gate(result).description == "best accepted run 1.000"


def test_a_fall_is_held_until_a_person_accepts_it(place: Place):
    table = Path(place.store.path(EVALUATION, KEY))
    before = table.read_bytes()
    place.lose("install.html")
    held = place.evaluate()
    assert not held.success
    assert metadata(held) == {}
    line = gate(held).description or ""
    assert not gate(held).passed
    assert line.startswith("site 'lantern': fused MRR@10 is 0.500 on the 2 questions of eval_q")
    assert "0.500 less than the 1.000 of the best accepted run" in line
    assert "\n" not in line
    report = gate(held).metadata["report"].value
    assert "- 1: how can I install lantern? (rank none)" in report
    assert report == (place.settings.state_dir / "evaluation" / f"{KEY}.md").read_text("utf-8")
    assert str(place.settings.state_dir / "evaluation" / f"{KEY}.md") in line
    assert table.read_bytes() == before
    assert place.first_url(INSTALL["question"]).endswith("install.html")

    assert "have not passed its evaluation" in failure(place.evaluate("question_index"))
    with pytest.raises(WorkError, match="have not passed its evaluation with eval_questions"):
        list(rebuild(place.settings, KEY, pytest.fail))

    accepted = place.evaluate(eval_margin=1.0)
    assert accepted.success, failure(accepted)
    assert not place.first_url(INSTALL["question"]).endswith("install.html")
    assert {row["best_mrr_at_10"] for row in place.accepted() if row["arm"] == "fused"} == {0.5}
    assert [done.report.written for done in rebuild(place.settings, KEY, pytest.fail)] == [0]


def test_below_the_floor_nothing_is_published_whatever_the_margin(place: Place):
    place.ask(INSTALL, COLOUR, NOWHERE)
    strict = replace(place, site=place.site.model_copy(update={"eval_floor": 0.9}))
    held = strict.evaluate(eval_margin=1.0)
    assert not held.success
    assert "0.667 on the 3 questions" in (gate(held).description or "")
    assert "below the site's eval_floor of 0.9" in (gate(held).description or "")
    assert {row["n"] for row in place.accepted()} == {2}


def test_a_changed_question_file_is_a_new_baseline_and_its_unknown_pages_are_told(place: Place):
    place.ask(INSTALL, NOWHERE)
    result = place.evaluate("evaluation")
    assert result.success, failure(result)
    assert gate(result).description == "the questions have changed: this run is the baseline"
    assert {row["best_mrr_at_10"] for row in place.accepted() if row["arm"] == "fused"} == {0.5}
    warned = check(result, "evaluated_pages_are_indexed")
    assert (warned.passed, warned.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert "1 pages that are not indexed, the first is palettes.html" in (warned.description or "")


def test_a_site_without_pages_in_its_tables_is_held_and_not_broken(place: Place):
    for page in ("install.html", "colours.html", "/"):
        place.lose(page)
    held = place.evaluate()
    assert "fused MRR@10 is 0.000" in (gate(held).description or "")


def test_a_site_that_names_no_questions_is_published_unasked(place: Place):
    silent = Site(key=KEY, folder=place.site.folder)
    result = replace(place, site=silent).evaluate()
    assert result.success, failure(result)
    assert place.accepted() == []
    assert gate(result).passed
    assert "nothing was evaluated" in (gate(result).description or "")
    assert "questions" not in metadata(result)["evaluation"]


def test_a_missing_file_stops_the_run_before_the_crawl(place: Place):
    assert place.site.eval_questions is not None
    place.site.eval_questions.unlink()
    result = place.evaluate("raw_pages")
    assert f"site 'lantern': eval_questions: {place.site.eval_questions}" in failure(result)
    assert metadata(result) == {}
    (plan,) = plan_sites(Pipeline(place.settings, {KEY: place.site}), [place.site])
    assert str(place.site.eval_questions) in (plan.problem or "")


def test_a_purge_takes_the_evaluation_away(place: Place):
    purge_site(place.settings, KEY, pytest.fail)
    assert not [table.name for table in TABLES.values() if place.store.exists(table, KEY)]
    assert not list((place.settings.state_dir / "evaluation").iterdir())


def run_command(
    arguments: Sequence[str], capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch
) -> tuple[int, str, str]:
    """`qindex` with these arguments in this process: exit code, output, errors."""
    patch.setattr("sys.argv", ["qindex", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


def test_ingest_prints_the_figures_and_of_a_held_run_one_line(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    place.ask(INSTALL, COLOUR, NOWHERE)  # a warning stands before the gate's failure
    for name, value in {
        "QINDEX_DATA": place.settings.data,
        "QINDEX_SITES": str(place.settings.sites),
        "QINDEX_PROFILE": "offline",
        "COLUMNS": "200",
        "DAGSTER_DISABLE_TELEMETRY": "yes",
    }.items():
        monkeypatch.setenv(name, value)
    place.settings.sites.unlink()
    add_site(place.settings.sites, place.site)
    arguments = ["ingest", str(place.site.folder), "--site", KEY]
    code, out, err = run_command(arguments, capsys, monkeypatch)
    assert code == 0, err
    assert "MRR@10 0.667, right page first for 2 of 3 questions; the questions have changed" in out
    assert place.site.folder is not None
    write_site(place.site.folder, install="<h1>Moved</h1><p>This page has moved elsewhere.</p>")
    code, out, err = run_command(arguments, capsys, monkeypatch)
    assert (code, out) == (1, "")
    assert err.splitlines()[-1].startswith("qindex: site 'lantern': fused MRR@10 is 0.")
    assert {row["n"] for row in place.accepted()} == {3}
    assert place.first_url(INSTALL["question"]).endswith("install.html")

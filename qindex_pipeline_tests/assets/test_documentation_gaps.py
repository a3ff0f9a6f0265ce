"""Asset documentation_gaps and `qindex gaps`: from what was asked to a report, through Dagster."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import dagster as dg
import pytest

from qindex_pipeline.build import build_definitions
from qindex_pipeline.cli import main
from qindex_pipeline.query import QIndex
from qindex_pipeline.removal import purge_site
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site, add_site
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import DOCUMENTATION_GAPS
from qindex_pipeline_tests.chain import failure, materialize, metadata
from qindex_pipeline_tests.command import CLOSED, qindex, write_site

KEY = "lantern"
LINKS = '<p><a href="install.html">Install</a> <a href="colours.html">Colours</a> lead on.</p>'
PAGES = {
    "index": f"<h1>Lantern</h1><p>Lantern lights directories for those who work late.</p>{LINKS}",
    "install": """<h1>Installing Lantern</h1><p>To install Lantern, run this command in a terminal:
      </p><pre><code class="language-bash">pip install lantern-cli</code></pre>""",
    "colours": """<h1>Colours</h1><p>The colour of the light follows the variable LANTERN_COLOUR,
      which takes any colour name of the terminal.</p>""",
}
ANSWERED = "how can I install lantern?"
NEAR = "How do I install Lantern with Kubernetes?"
FAR = "Which wine goes with salmon?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an indexed site, whose index was asked with the log on."""
    made = tmp_path_factory.mktemp("gaps")
    site = Site(key=KEY, folder=write_site(made / "site", **PAGES))
    settings = settings_in(made)
    add_site(settings.sites, site)
    assert materialize(settings, site).success
    with closing(QIndex(settings)) as index:
        for question in (ANSWERED, NEAR, NEAR.lower(), FAR, "where are the colours set?"):
            index.ask(question, KEY)
        index.ask("Ask ann@example.com", KEY, write_answer=False)
    return made


def settings_in(folder: Path, **others: object) -> Settings:
    given: dict[str, object] = {
        "profile": "offline",
        "data": str(folder / "data"),
        "sites": folder / "sites.yaml",
        "query_log": str(folder / "log"),
        "ollama_url": CLOSED,
    }
    return Settings.model_validate(given | others)


def reported(settings: Settings) -> dg.ExecuteInProcessResult:
    sites = {KEY: Site(key=KEY, folder=Path(settings.data).parent / "site")}
    job = build_definitions(settings, sites=sites).resolve_job_def("gap_report")
    with dg.DagsterInstance.ephemeral() as instance:
        return job.execute_in_process(
            partition_key=KEY,
            raise_on_error=False,
            instance=instance,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )


def test_the_report_holds_what_was_asked_in_vain(folder: Path) -> None:
    settings = settings_in(folder)
    result = reported(settings)
    assert result.success, failure(result)
    rows = ParquetStore(settings.data).read(DOCUMENTATION_GAPS, KEY).to_pylist()
    (near,) = (row for row in rows if row["question"] == NEAR)
    assert (near["asks"], near["questions"], near["off_topic"]) == (2, 1, False)
    assert near["words"] == ["Kubernetes"]
    assert near["nearest_title"] == "Installing Lantern"
    assert {row["question"] for row in rows if row["off_topic"]} >= {FAR}
    assert ANSWERED not in {row["question"] for row in rows}
    numbers = metadata(result)["documentation_gaps"]
    assert (numbers["asks"], numbers["pages"]) == (6, 3)
    assert "pages_unreached" in numbers
    assert NEAR in numbers["report"]
    assert "data:image/png;base64," in numbers["report"]
    assert "ann@example.com" not in json.dumps(rows, default=str)
    file = settings.state_dir / "gaps" / f"{KEY}.md"
    assert f"]({KEY}.png)" in file.read_text(encoding="utf-8")
    assert file.with_name(f"{KEY}.png").read_bytes().startswith(b"\x89PNG")


def test_an_unchanged_log_gives_the_same_table_and_embeds_nothing(folder: Path) -> None:
    settings = settings_in(folder)
    table = Path(ParquetStore(settings.data).path(DOCUMENTATION_GAPS, KEY))
    assert reported(settings).success
    before, vectors = table.read_bytes(), (settings.state_dir / "vectors.sqlite").stat().st_size
    assert reported(settings).success
    assert table.read_bytes() == before
    assert (settings.state_dir / "vectors.sqlite").stat().st_size == vectors


def test_without_a_log_the_table_is_empty_and_the_report_says_how_to_switch_it_on(
    folder: Path,
) -> None:
    result = reported(settings_in(folder, query_log=None))
    assert result.success
    numbers = metadata(result)["documentation_gaps"]
    assert (numbers["asks"], numbers["dagster/row_count"]) == (0, 0)
    assert "QINDEX_QUERY_LOG" in numbers["report"]


def test_a_log_without_an_ask_of_the_site_is_an_empty_report(folder: Path, tmp_path: Path) -> None:
    result = reported(settings_in(folder, query_log=str(tmp_path / "empty")))
    assert result.success, failure(result)
    assert "Nothing was asked" in metadata(result)["documentation_gaps"]["report"]


def test_a_refresh_of_the_site_does_not_make_the_report(folder: Path) -> None:
    definitions = build_definitions(settings_in(folder), sites={KEY: Site(key=KEY, folder=folder)})
    job = definitions.resolve_job_def("site_refresh")
    selected = {key.path[-1] for key in job.asset_layer.selected_asset_keys}
    assert "documentation_gaps" not in selected


@pytest.fixture
def command(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[list[str]]:
    """The arguments of `qindex gaps`, run in this process."""
    for name, value in {
        "QINDEX_PROFILE": "offline",
        "QINDEX_DATA": folder / "data",
        "QINDEX_SITES": folder / "sites.yaml",
        "QINDEX_QUERY_LOG": folder / "log",
    }.items():
        monkeypatch.setenv(name, str(value))
    arguments = ["qindex", "gaps"]
    monkeypatch.setattr("sys.argv", arguments)
    yield arguments


def run(capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_the_command_prints_the_gaps(command: list[str], capsys: pytest.CaptureFixture[str]):
    command += ["--all", "--days", "7"]
    code, out, _ = run(capsys)
    assert code == 0
    assert "6 asks from" in out
    assert "Kubernetes" in out
    assert "about other subjects" in out


def test_the_command_prints_one_json_object(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    command += ["--json", "--site", KEY]
    code, out, _ = run(capsys)
    found = json.loads(out)
    assert code == 0
    assert NEAR in {gap["question"] for gap in found["gaps"]}
    assert (found["asks"], found["site"]) == (6, KEY)


def test_the_command_refuses_a_site_that_is_none(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    command += ["--site", "nowhere"]
    code, _, err = run(capsys)
    assert code == 2
    assert "no site 'nowhere'" in err


def test_without_a_log_the_command_names_the_variable(folder: Path) -> None:
    ended = qindex(folder, "gaps", QINDEX_DATA=str(folder / "data"), QINDEX_PROFILE="offline")
    assert ended.returncode == 2
    assert "QINDEX_QUERY_LOG" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_purging_a_site_deletes_its_gaps(folder: Path) -> None:
    settings = settings_in(folder)
    assert reported(settings).success
    purge_site(settings, KEY, lambda _: None)
    assert not ParquetStore(settings.data).exists(DOCUMENTATION_GAPS, KEY)
    assert not list((settings.state_dir / "gaps").iterdir())

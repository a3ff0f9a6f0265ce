"""`qindex report` in this process: what it prints, and how it ends."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from qindex_pipeline.changes.stored import Latest, read_memory, write_report
from qindex_pipeline.changes.wording import report_text
from qindex_pipeline.cli import main
from qindex_pipeline.sites import Site, add_site
from qindex_pipeline.store import ParquetStore
from qindex_pipeline_tests.changes.rows import Nights, site
from qindex_pipeline_tests.conftest import MakeSettings

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(
    settings: MakeSettings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Command:
    """`qindex report` at a place with two sites, of which `docs` has two reports."""
    made = settings(QINDEX_SITES=tmp_path / "sites.yaml")
    for key in ("docs", "new"):
        add_site(made.sites, Site(key=key, start_url=f"https://{key}.example.com/"))
    nights, store = Nights(), ParquetStore(made.data)
    for found in (site("guide"), site("guide", "oil")):
        memory = read_memory(store, "docs")
        write_report(store, "docs", memory, nights.night(found))

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["qindex", "report", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), *capsys.readouterr()

    return run


def test_the_last_report_of_each_site_is_printed(command: Command) -> None:
    code, printed, said = command()
    assert code == 0
    assert printed.startswith("docs: 1 page added\n2026-01-03 12:00 UTC, compared with 2026-01-02")
    line = "no report yet of new: `qindex ingest` writes one, or a run of the job site_refresh"
    assert said == f"{line}\n"


def test_earlier_reports_follow_newest_first(command: Command) -> None:
    code, printed, said = command("--site", "docs", "--last", "5")
    assert (code, said) == (0, "")
    assert printed.index("docs: 1 page added") < printed.index("docs: first report, 1 page")


def test_json_holds_every_figure(command: Command) -> None:
    code, printed, _ = command("--json", "--last", "2")
    docs, new = json.loads(printed)["sites"]
    assert code == 0
    assert new == {"site": "new", "crawled_at": None, "reports": []}
    newest, first = docs["reports"]
    assert (first["is_first"], newest["added"][0]["title"]) == (True, "Oil")
    assert newest["since"] == first["reported_at"] == "2026-01-02T12:00:00+00:00"


def test_a_site_without_a_report_says_what_writes_one(command: Command) -> None:
    code, printed, said = command("--site", "new")
    assert (code, printed) == (1, "")
    assert said.startswith("qindex: no report yet of new: `qindex ingest` writes one")
    assert said.count("\n") == 1


@pytest.mark.parametrize("arguments", [("--site", "other"), ("--last", "0")])
def test_a_wrong_call_is_exit_2(command: Command, arguments: tuple[str, ...]) -> None:
    assert command(*arguments)[0] == 2


def test_no_site_at_all_is_exit_1(command: Command, tmp_path: Path) -> None:
    (tmp_path / "sites.yaml").write_text("sites: {}\n")
    assert command()[0] == 1


def test_a_site_that_was_read_again_without_a_report_says_so(command: Command) -> None:
    nights = Nights()
    row = nights.night(site("guide")).row
    again = Latest("docs", [row], nights.now.replace(hour=23))
    (text,) = again.texts
    assert text.startswith(f"{report_text(row)}\n\nRead again 2026-01-02 23:00 UTC without a new")
    assert Latest("docs", [row], row["started_at"]).texts == [report_text(row)]

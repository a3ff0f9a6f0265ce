"""A command of the pipeline without the pipeline: one line, and no fault of ours is hidden by it.

The metadata are those of pyproject.toml, as an installation has them.
"""

import re
import tomllib
from importlib.metadata import packages_distributions

import pytest
import typer
from typer.testing import CliRunner

from qindex_pipeline import extras
from qindex_pipeline.cli.app import Commands
from qindex_pipeline.errors import UsageError
from qindex_pipeline_tests.environments import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]


def package(requirement: str) -> str:
    return re.split(r"[\[<>=~]", requirement)[0]


@pytest.fixture(autouse=True)
def metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of this checkout: an editable installation keeps those of the day on which it was made."""
    lines = list(PROJECT["dependencies"])
    for extra, requirements in EXTRAS.items():
        lines += [f'{requirement}; extra == "{extra}"' for requirement in requirements]
    monkeypatch.setattr(extras, "requires", {"qindex_pipeline": lines}.get)


@pytest.mark.parametrize("extra", ["pipeline", "log", "fastembed", "s3"])
def test_every_package_of_an_extra_is_imported_by_the_name_that_it_is_known_by(extra: str) -> None:
    provided = packages_distributions()
    found = {one.lower() for name in extras.modules_of(extra) for one in provided[name]}
    assert {package(requirement) for requirement in EXTRAS[extra]} <= found


def test_the_extra_of_the_log_takes_what_the_pipeline_takes() -> None:
    assert set(EXTRAS["log"]) < set(EXTRAS["pipeline"])


def test_no_package_of_the_base_counts_as_missing_with_the_pipeline() -> None:
    base = {package(requirement).replace("-", "_") for requirement in PROJECT["dependencies"]}
    assert not base & extras.modules_of("pipeline")


def command_that_misses(module: str) -> typer.Typer:
    app = typer.Typer(cls=Commands, pretty_exceptions_enable=False)

    @app.command()
    def work() -> None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    @app.command()
    def rest() -> None:
        pass

    return app


@pytest.mark.parametrize("module", ["dagster", "pyarrow.parquet", "ruamel.yaml"])
def test_a_module_of_the_pipeline_that_is_missing_is_told_by_its_extra(module: str) -> None:
    done = CliRunner().invoke(command_that_misses(module), ["work"])
    assert isinstance(done.exception, UsageError)
    assert str(done.exception) == (
        "work needs the pipeline, which is not installed: pip install 'qindex_pipeline[pipeline]'"
    )


@pytest.mark.parametrize("module", ["qindex_pipeline.nowhere", "openai", "dagsterish"])
def test_any_other_missing_module_is_a_fault_that_shows(module: str) -> None:
    done = CliRunner().invoke(command_that_misses(module), ["work"])
    assert isinstance(done.exception, ModuleNotFoundError)

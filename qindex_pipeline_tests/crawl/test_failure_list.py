"""The list of failure modes is whole, and every test that it names is there."""

import ast
import string
from functools import cache
from pathlib import Path

import pytest

import qindex_pipeline_tests
from qindex_pipeline_tests.crawl import failure_modes
from qindex_pipeline_tests.crawl.failure_modes import OBSERVED, REPORTED, FailureMode

FOLDER = Path(qindex_pipeline_tests.__file__).parent
ENTRIES = [*OBSERVED.items(), *REPORTED.items()]


@cache
def functions_of(file: str) -> frozenset[str]:
    """The names of the test functions of a file; none of a file that is not there."""
    path = FOLDER / file
    tree = ast.parse(path.read_text(encoding="utf-8") if path.exists() else "")
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return frozenset(node.name for node in functions if node.name.startswith("test_"))


def test_every_failure_mode_and_every_report_has_an_entry() -> None:
    assert list(OBSERVED) == list(string.ascii_uppercase[:20])
    assert list(REPORTED) == [*map(str, range(1, 37)), "xml"]


@pytest.mark.parametrize(("key", "entry"), ENTRIES, ids=[key for key, _ in ENTRIES])
def test_an_entry_says_what_goes_wrong_and_names_tests_that_exist(
    key: str, entry: FailureMode
) -> None:
    assert entry.what.endswith(".")
    assert entry.tests
    places = [test.split("::") for test in entry.tests]
    assert [name for file, name in places if name not in functions_of(file)] == []


def test_nothing_is_listed_twice() -> None:
    for _, entry in ENTRIES:
        assert len(set(entry.tests)) == len(entry.tests)
    texts = [entry.what for _, entry in ENTRIES]
    assert len(set(texts)) == len(texts)
    tree = ast.parse(Path(failure_modes.__file__).read_text(encoding="utf-8"))
    for mapping in (node for node in ast.walk(tree) if isinstance(node, ast.Dict)):
        keys = [key.value for key in mapping.keys if isinstance(key, ast.Constant)]
        assert len(set(keys)) == len(keys)


def test_every_test_about_failure_modes_is_in_the_list() -> None:
    listed = {test for _, entry in ENTRIES for test in entry.tests}
    for path in FOLDER.glob("crawl/test_failure_modes_*.py"):
        file = path.relative_to(FOLDER).as_posix()
        assert {f"{file}::{name}" for name in functions_of(file)} - listed == set()

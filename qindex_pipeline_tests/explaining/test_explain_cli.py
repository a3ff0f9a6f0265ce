"""`qindex explain` and `qindex show` as people run them: subprocesses on a small index."""

import json
from functools import partial
from pathlib import Path

import pytest

from qindex_pipeline.settings import Settings
from qindex_pipeline_tests import command
from qindex_pipeline_tests.explaining.lantern import (
    ALIAS,
    QUESTION,
    ROOT,
    Asked,
    Entry,
    publish,
    write_tables,
)

WITHOUT_THE_PIPELINE = """
import sys
for name in ("pyarrow", "pandas", "fsspec", "ruamel", "ruamel.yaml", "dagster", "snowballstemmer"):
    sys.modules[name] = None
sys.argv = ["qindex", *sys.argv[1:]]
from qindex_pipeline.cli import main
main()
"""


@pytest.fixture
def variables(settings_of: Settings) -> dict[str, str]:
    """What a process needs to find the index of three pages and their tables."""
    entries = (
        Entry("mirror", "Chalk cleans it.", 0.6, [Asked("How is the mirror cleaned?", 0.9)]),
        Entry("install", "Hang it on a hook.", 0.3, [Asked("How is it hung?", 0.4)]),
    )
    publish(settings_of, *entries)
    write_tables(settings_of, *entries)
    return {
        "QINDEX_PROFILE": "local",
        "QINDEX_OLLAMA_URL": settings_of.ollama_url,
        "QINDEX_COLLECTION_NAME": ALIAS,
        "QINDEX_DATA": settings_of.data,
    }


@pytest.fixture
def qindex(tmp_path: Path, variables: dict[str, str]):
    return partial(command.qindex, tmp_path, **variables)


def test_explain_prints_a_verdict_and_one_json_object(qindex):
    question = ("explain", QUESTION, "--page", "mirror")
    done = qindex(*question)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Verdict   It won, with confidence" in done.stdout
    found = json.loads(qindex(*question, "--json", "--top-k", "1").stdout)
    assert found["page"]["verdict"]["kind"] == "won"
    assert len(found["results"]) == 1
    assert found["results"][0]["section"]["url"] == f"{ROOT}mirror"


def test_explain_of_an_empty_question_is_a_wrong_call(qindex):
    done = qindex("explain", "  ")
    assert done.returncode == 2
    assert done.stderr == 'qindex: the question is empty: qindex explain "How do I …?"\n'


def test_show_prints_a_page_and_one_json_object(qindex):
    done = qindex("show", "mirror")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Mirror  mirror (docs)\nCrawl: ok, present")
    (page,) = json.loads(qindex("show", "mirror", "--json").stdout)["pages"]
    assert page["chunks"][0]["section"]["url"] == f"{ROOT}mirror"
    assert page["chunks"][0]["questions"]


def test_show_of_an_unknown_page_exits_with_2_and_names_the_nearest(qindex):
    done = qindex("show", "miror")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (f"qindex: no page 'miror' in docs; did you mean {ROOT}mirror of docs?\n")
    assert qindex("show", "mirror", "--all", "--rejected").returncode == 2


@pytest.mark.parametrize("arguments", [("explain", QUESTION, "--page"), ("show",)])
def test_a_machine_that_can_only_ask_explains_from_the_collection(
    tmp_path: Path, variables: dict[str, str], arguments: tuple[str, ...]
):
    run = ("-c", WITHOUT_THE_PIPELINE, *arguments, "mirror")
    done = command.python(tmp_path, *run, **variables)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Note: docs: crawl, rejected questions and origins are not shown" in done.stdout

"""`qindex eval` as people use it: a subprocess on a small built site."""

import json
from functools import partial
from pathlib import Path

import pytest

from qindex_pipeline_tests import command

PAGES = {
    "index": """<h1>Lantern</h1><p>Lantern is a command line tool that lights
      directories for people who work at night.</p>
      <p><a href="install.html">Installation</a> <a href="colours.html">Colours</a></p>""",
    "install": """<h1>Installing Lantern</h1>
      <p>To install Lantern on your computer, run the following command in a terminal:</p>
      <pre><code class="language-bash">pip install lantern-cli</code></pre>""",
    "colours": """<h1>Colours</h1><p>The colour of the light follows the variable
      LANTERN_COLOUR, which takes any colour name of the terminal.</p>""",
}
QUESTIONS = [
    {"id": "1", "question": "how can I install lantern?", "page": "install.html"},
    {
        "id": "2",
        "question": "How do I change the colour of the light?",
        "page": "https://lantern.dev/colours.html",
        "also": ["palette.html"],
    },
]
FOREIGN = [{"id": "9", "question": "what is the capital of France", "kind": "far"}]


def rows(file: Path, content: list[dict]) -> str:
    file.write_text("\n".join(map(json.dumps, content)), encoding="utf-8")
    return str(file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an index of the site, and files of questions."""
    folder = tmp_path_factory.mktemp("lantern")
    site = command.write_site(folder / "site", **PAGES)
    arguments = ("ingest", str(site), "--site", "lantern", "--base-url", "https://lantern.dev/")
    done = command.qindex(folder, *arguments)
    assert done.returncode == 0, done.stderr
    rows(folder / "questions.jsonl", QUESTIONS)
    rows(folder / "foreign.jsonl", FOREIGN)
    return folder


@pytest.fixture
def evaluate(folder: Path):
    return partial(command.qindex, folder, "eval")


def test_the_right_pages_are_found_and_counted_arm_by_arm(evaluate):
    done = evaluate(
        "questions.jsonl", "--site", "lantern", "--unanswerable", "foreign.jsonl", "--json"
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["n"] == 2
    assert found["arms"]["passage"] == {"hit@1": 1.0, "hit@3": 1.0, "hit@10": 1.0, "mrr@10": 1.0}
    assert set(found["arms"]) == {"passage", "question", "bm25", "fused", "seed"}
    assert set(found["bootstrap"]) >= {"mrr@10", "hit@3"}
    assert found["refusal"]["unanswerable"] == {"n": 1, "refused": 1, "rate": 1.0}
    assert found["refusal"]["auroc"] == 1.0
    assert found["not_indexed"] == ["palette.html"]


def test_people_get_a_table(evaluate):
    done = evaluate("questions.jsonl", "--site", "lantern")
    assert done.returncode == 0
    assert "2 questions on lantern" in done.stdout
    assert "arm       hit@1  hit@3  hit@10  mrr@10" in done.stdout
    assert "not in the index: palette.html" in done.stdout


def test_a_wrong_call_exits_with_2_and_one_line(evaluate, folder: Path):
    (folder / "broken.jsonl").write_text('{"id": "1"', encoding="utf-8")
    calls = {
        "broken.jsonl, line 1": ("broken.jsonl", "--site", "lantern"),
        "no site 'other'; it has lantern": ("questions.jsonl", "--site", "other"),
        "--site": ("questions.jsonl",),
    }
    for said, arguments in calls.items():
        done = evaluate(*arguments)
        assert done.returncode == 2, done.stderr
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_without_an_index_it_exits_with_1(folder: Path, tmp_path: Path):
    file = str(folder / "questions.jsonl")
    done = command.qindex(tmp_path, "eval", file, "--site", "lantern")
    assert done.returncode == 1
    assert "qindex ingest" in done.stderr

"""The command line as people use it: a subprocess, its exit code, and what it prints."""

import json
import socket
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from qindex_pipeline_tests import command
from qindex_pipeline_tests.fakes.qdrant_server import QdrantServer

PAGES = {
    "index": """<h1>Lantern</h1><p>Lantern is a command line tool that lights
      directories for people who work at night.</p>
      <p><a href="install.html">Installation</a></p>""",
    "install": """<h1>Installing Lantern</h1>
      <p>To install Lantern on your computer, run the following command in a terminal:</p>
      <pre><code class="language-bash">pip install lantern-cli</code></pre>
      <p>You can verify the installation with the version command of Lantern.</p>""",
}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def serve() -> Iterator:
    servers = []

    def start(handler) -> str:
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return command.write_site(tmp_path / "lantern-docs", **PAGES)


@pytest.fixture
def qindex(tmp_path: Path):
    return partial(command.qindex, tmp_path)


def test_a_folder_is_ingested_asked_and_asked_again_for_nothing(qindex, site: Path):
    first = qindex("ingest", str(site), "--site", "lantern", "--base-url", "https://lantern.dev/")
    assert first.returncode == 0, first.stderr
    assert "profile offline" in first.stderr
    assert "questions come from rules" in first.stderr
    assert "2 ok" in first.stdout

    asked = qindex("ask", "how can I install lantern?", "--json")
    answer = json.loads(asked.stdout)
    assert asked.returncode == 0
    assert asked.stderr == ""
    assert answer["refused"] is False
    assert "pip install lantern-cli" in answer["answer"]
    assert answer["citations"][0]["url"] == "https://lantern.dev/install.html"
    assert answer["results"][0]["site"] == "lantern"
    assert set(answer) == {
        "question", "normalized_query", "site", "threshold", "refused", "reason", "answer",
        "citations", "results", "fingerprint", "seconds",
    }  # fmt: skip
    assert set(answer["results"][0]) == {
        "rank", "chunk_id", "site", "url", "anchor", "title", "heading_path", "text",
        "matched_question", "evidence", "confidence", "confident", "score", "legs",
    }  # fmt: skip
    assert set(answer["results"][0]["legs"]) == {"question", "passage", "bm25"}

    foreign = qindex("ask", "what is the capital of France")
    assert foreign.returncode == 0
    assert foreign.stdout.startswith("I don't have enough information about that\n")
    assert "below the threshold" in foreign.stdout

    again = qindex("ingest", str(site), "--site", "lantern", "--base-url", "https://lantern.dev/")
    assert again.returncode == 0
    assert "0 by minilm" in again.stdout
    assert "0 written" in again.stdout
    assert "0 deleted" in again.stdout

    listed = qindex("sites", "list")
    assert "lantern" in listed.stdout

    assert qindex("ask", "anything", "--site", "other").returncode == 2
    healthy = qindex("doctor")
    assert healthy.returncode == 0, healthy.stdout
    assert "lantern" in healthy.stdout

    removed = qindex("sites", "remove", "lantern", "--purge")
    assert removed.returncode == 0
    assert not list((site.parent / "data").rglob("lantern.parquet"))
    assert qindex("ask", "anything", "--site", "lantern").returncode == 2


def test_an_embedder_of_another_fingerprint_is_refused_by_name(qindex, site: Path):
    assert qindex("ingest", str(site), "--site", "lantern").returncode == 0
    refused = qindex(
        "ask", "how can I install lantern?",
        QINDEX_EMBEDDER="openai:text-embedding-3-small",
        OPENAI_API_KEY="key",
    )  # fmt: skip
    assert refused.returncode == 1
    assert "was built with minilm" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1

    dimension = qindex("ask", "how can I install lantern?", QINDEX_EMBED_DIM="768")
    assert dimension.returncode == 2
    assert "EMBED_DIM is 768" in dimension.stderr

    switched = qindex(
        "ingest", str(site), "--site", "lantern", OPENAI_API_KEY="key", ANTHROPIC_API_KEY="key"
    )
    assert switched.returncode in {1, 2}
    assert "was built with minilm" in switched.stderr.splitlines()[-1]
    still = qindex("ask", "how can I install lantern?")
    assert "pip install lantern-cli" in still.stdout


CALLS_THAT_ARE_WRONG = {
    "an empty question": (["ask", "  "], {}, "the question is empty"),
    "a bad key": (["ingest", "{site}", "--site", "Not A Key"], {}, "site key 'Not A Key'"),
    "neither address nor folder": (["ingest", "no-such-folder"], {}, "neither an http(s) address"),
    "an unknown way to render": (["ingest", "{site}", "--render", "curl"], {}, "--render"),
    "an unknown leg": (["ask", "x", "--legs", "sparse"], {}, "use one or more of"),
    "no pages": (["ingest", "{site}", "0"], {}, "greater than or equal to 1"),
    "an unknown profile": (["ask", "x"], {"QINDEX_PROFILE": "cloud"}, "QINDEX_PROFILE"),
    "an unknown generator": (["ingest", "{site}"], {"QINDEX_GENERATOR": "gpt"}, "generator 'gpt'"),
    "a missing key": (["ingest", "{site}"], {"QINDEX_PROFILE": "api"}, "_API_KEY is not set"),
    "a dimension that is not the model's": (
        ["ingest", "{site}"], {"QINDEX_EMBED_DIM": "512"}, "EMBED_DIM is 512",
    ),
    "an unknown site to remove": (["sites", "remove", "gone"], {}, "has no site 'gone'"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS_THAT_ARE_WRONG)
def test_a_wrong_call_ends_with_2_and_one_line_that_says_what_to_do(qindex, site: Path, name: str):
    arguments, variables, expected = CALLS_THAT_ARE_WRONG[name]
    done = qindex(*[item.format(site=site) for item in arguments], **variables)
    assert done.returncode == 2, done.stderr
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "text",
    ["sites: [", "pages: {}", "sites:\n  a:\n    start_urll: http://a/\n", "sites:\n  A b: {}\n"],
)
def test_a_malformed_sites_file_is_named_and_left_as_it_is(
    qindex, site: Path, tmp_path: Path, text: str
):
    file = tmp_path / "sites.yaml"
    file.write_text(text)
    done = qindex("ingest", str(site))
    assert done.returncode == 2
    assert "sites.yaml" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert file.read_text() == text


def test_an_index_that_was_never_built_is_said_to_be_missing(qindex):
    done = qindex("ask", "how do I install it?")
    assert done.returncode == 1
    assert "there is no index" in done.stderr
    assert "qindex ingest" in done.stderr


def test_a_site_that_cannot_be_read_ends_with_1_and_leaves_the_last_good_result(
    qindex, site: Path, serve
):
    url = serve(partial(Quiet, directory=str(site)))
    assert qindex("ingest", url, "--site", "lantern").returncode == 0
    tables = sorted((site.parent / "data").rglob("*.parquet"))
    before = {table: table.read_bytes() for table in tables}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{free.getsockname()[1]}/"
    empty = site.parent / "empty"
    empty.mkdir()
    bad = {
        closed: "refuses the connection",
        url + "missing.html": "404",
        str(empty): "no HTML pages",
    }
    for target, expected in bad.items():
        done = qindex("ingest", target, "--site", "lantern")
        assert done.returncode == 1, (target, done.stderr)
        assert expected in done.stderr.splitlines()[-1], (target, done.stderr)
        assert "Traceback" not in done.stderr
    assert {table: table.read_bytes() for table in tables} == before
    assert "pip install lantern-cli" in qindex("ask", "how can I install lantern?").stdout


@pytest.mark.slow
def test_a_qdrant_server_takes_the_place_of_the_embedded_engine(qindex, site: Path):
    with QdrantServer(api_key="secret") as server:
        place = {"QDRANT_URL": server.url, "QDRANT_API_KEY": "secret"}
        first = qindex("ingest", str(site), "--site", "lantern", **place)
        assert first.returncode == 0, first.stderr
        assert "warning" not in first.stderr.lower()
        asked = qindex("ask", "how can I install lantern?", **place)
        assert "pip install lantern-cli" in asked.stdout
        assert asked.stderr == ""
        writes = len(server.writes)
        again = qindex("ingest", str(site), "--site", "lantern", **place)
        assert "0 written" in again.stdout
        assert len(server.writes) == writes
        refused = qindex("ask", "how?", QDRANT_URL=server.url, QDRANT_API_KEY="wrong")
        assert refused.returncode == 1
        assert "QDRANT_API_KEY" in refused.stderr
    gone = qindex("ask", "how can I install lantern?", **place)
    assert gone.returncode == 1
    assert "QDRANT_URL" in gone.stderr
    assert len(gone.stderr.splitlines()) == 1


def test_a_page_that_is_not_english_is_warned_of_once(qindex, tmp_path: Path):
    folder = command.write_site(
        tmp_path / "laterne", index="<h1>Laterne</h1>", zwei="<h1>Zwei</h1>"
    )
    german = "<p>Die Laterne leuchtet in der Nacht, damit niemand auf der Treppe stolpert.</p>"
    for page in folder.glob("*.html"):
        text = page.read_text().replace('lang="en"', 'lang="de"').replace("</h1>", f"</h1>{german}")
        page.write_text(text.replace(german, german + '<a href="zwei.html">weiter</a>'))
    done = qindex("ingest", str(folder), "--site", "laterne")
    assert done.returncode == 0
    (warning,) = [line for line in done.stderr.splitlines() if line.startswith("warning")]
    assert "http://laterne/ (de)" in warning


def test_a_site_keeps_the_way_to_render_with_which_it_was_added(qindex, tmp_path: Path):
    assert qindex("sites", "add", "http://lantern.dev/", "--render", "auto").returncode == 0
    assert "render: auto" in (tmp_path / "sites.yaml").read_text()


def test_version_and_help_need_no_settings(qindex):
    assert qindex("--version").stdout.startswith("qindex ")
    assert "ingest" in qindex("--help").stdout

"""The profiles from a real site to an answer, through the providers' real clients.

Anthropic, OpenAI and Ollama are servers on loopback that speak their protocols.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import CANDIDATE_QUESTIONS, CHUNKS, EMBEDDINGS
from qindex_pipeline_tests.command import qindex
from qindex_pipeline_tests.fakes.anthropic_server import AnthropicServer
from qindex_pipeline_tests.fakes.loopback import LoopbackServer
from qindex_pipeline_tests.fakes.ollama_server import OllamaServer
from qindex_pipeline_tests.fakes.openai_server import OpenAIServer
from qindex_pipeline_tests.stl import serving_stl, stl_site

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(stl_site() is None, reason="QINDEX_SHARED holds no sites/stl"),
]

QUESTION = "What is the use of the targetId attribute of a button in Structured Table?"


def calls(server: LoopbackServer, path: str) -> list[Mapping]:
    return [request.body for request in server.requests if request.path.endswith(path)]


def rows(folder: Path, table) -> list[dict]:
    return ParquetStore(str(folder / "data")).read(table, "stl").to_pylist()


def test_api_asks_haiku_once_a_chunk_and_embeds_with_openai(tmp_path: Path):
    with serving_stl() as url, AnthropicServer() as anthropic, OpenAIServer() as openai:
        keys = {
            "ANTHROPIC_API_KEY": "key-a",
            "OPENAI_API_KEY": "key-o",
            "QINDEX_ANTHROPIC_BASE_URL": anthropic.url,
            "QINDEX_OPENAI_BASE_URL": openai.base_url,
        }
        done = qindex(tmp_path, "ingest", url, "--site", "stl", QINDEX_PROFILE="api", **keys)
        assert done.returncode == 0, done.stderr
        chunks = rows(tmp_path, CHUNKS)
        generation = calls(anthropic, "/v1/messages")
        assert len(generation) == len({chunk["text"] for chunk in chunks})
        assert {call["model"] for call in generation} == {"claude-haiku-4-5-20251001"}
        assert all(call["tool_choice"]["type"] == "tool" for call in generation)
        embedded = calls(openai, "/embeddings")
        assert {call["model"] for call in embedded} == {"text-embedding-3-small"}
        assert {len(row["vector"]) for row in rows(tmp_path, EMBEDDINGS)} == {1536}
        assert list((tmp_path / "data/state/index").glob("qindex_docs_v1__*"))
        candidates = rows(tmp_path, CANDIDATE_QUESTIONS)
        assert {row["generator"] for row in candidates} == {"anthropic:claude-haiku-4-5-20251001"}
        assert sum(row["cost_usd"] for row in candidates) > 0

        again = qindex(tmp_path, "ingest", url, "--site", "stl", **keys)
        assert "profile api (OPENAI_API_KEY and ANTHROPIC_API_KEY are set)" in again.stderr
        assert re.search(r"LLM calls\s+│ 0 ", again.stdout)
        assert "0 by openai:text-embedding-3-small" in again.stdout
        assert "0 written" in again.stdout
        assert len(calls(anthropic, "/v1/messages")) == len(generation)
        assert len(calls(openai, "/embeddings")) == len(embedded)

        asked = qindex(tmp_path, "ask", QUESTION, "--json", "--threshold", "0.2", **keys)
        answer = json.loads(asked.stdout)
        assert answer["answer"].endswith("[1]")
        assert answer["citations"][0]["url"].startswith(url.removesuffix("docs/"))
        last = calls(anthropic, "/v1/messages")[-1]
        assert last["model"] == "claude-haiku-4-5-20251001"
        assert "tools" not in last

        before = len(anthropic.requests)
        refused = qindex(tmp_path, "ask", "zebra quantum marmalade", "--json", **keys)
        assert json.loads(refused.stdout)["answer"] == (
            "I don't have enough information about that"
        )
        assert len(anthropic.requests) == before


def test_local_asks_ollama_for_everything(tmp_path: Path):
    with serving_stl() as url, OllamaServer() as ollama:
        place = {"QINDEX_OLLAMA_URL": ollama.url}
        done = qindex(tmp_path, "ingest", url, "--site", "stl", QINDEX_PROFILE="local", **place)
        assert done.returncode == 0, done.stderr
        chats = calls(ollama, "/chat/completions")
        assert len(chats) == len({chunk["text"] for chunk in rows(tmp_path, CHUNKS)})
        assert {call["model"] for call in chats} == {"qwen2.5:14b"}
        assert {call["model"] for call in calls(ollama, "/embeddings")} == {"nomic-embed-text"}
        assert {len(row["vector"]) for row in rows(tmp_path, EMBEDDINGS)} == {768}
        assert list((tmp_path / "data/state/index").glob("qindex_local_v1__*"))

        again = qindex(tmp_path, "ingest", url, "--site", "stl", **place)
        assert f"profile local (Ollama answers at {ollama.url})" in again.stderr
        assert len(calls(ollama, "/chat/completions")) == len(chats)

        asked = qindex(tmp_path, "ask", QUESTION, "--json", "--threshold", "0.2", **place)
        assert json.loads(asked.stdout)["answer"].endswith("[1]")
        assert len(calls(ollama, "/chat/completions")) == len(chats) + 1


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("ANTHROPIC_API_KEY", "anthropic:claude-haiku-4-5-20251001 refused the key (HTTP 401)"),
        ("OPENAI_API_KEY", "openai:text-embedding-3-small refused the key (HTTP 401)"),
    ],
)
def test_a_wrong_key_is_one_line_that_names_its_variable(tmp_path: Path, variable: str, said: str):
    with serving_stl() as url, AnthropicServer() as anthropic, OpenAIServer() as openai:
        variables = {
            "ANTHROPIC_API_KEY": "key-a",
            "OPENAI_API_KEY": "key-o",
            "QINDEX_ANTHROPIC_BASE_URL": anthropic.url,
            "QINDEX_OPENAI_BASE_URL": openai.base_url,
            variable: "wrong-key",
        }
        done = qindex(tmp_path, "ingest", url, "4", "--site", "stl", **variables)
    assert done.returncode == 1
    assert said in done.stderr.splitlines()[-1]
    assert variable in done.stderr.splitlines()[-1]
    assert "wrong-key" not in done.stderr

"""Prefixes by model, and that they agree with what fastembed says of its models."""

import html
import re
from pathlib import Path

import pytest

from qindex_pipeline.embedding.fastembed_embedder import ONE_SIDED
from qindex_pipeline.embedding.prefixes import Prefixes, bare_name, prefixes_of

PASSAGES = "Represent this sentence for searching relevant passages: "


@pytest.mark.parametrize(
    ("models", "query", "document"),
    [
        (
            ["nomic-embed-text", "nomic-ai/nomic-embed-text-v1.5-Q", "nomic-embed-text:v1.5"],
            "search_query: ",
            "search_document: ",
        ),
        (
            ["intfloat/multilingual-e5-large", "e5-base-v2", "intfloat/multilingual-e5-small"],
            "query: ",
            "passage: ",
        ),
        (["BAAI/bge-small-en-v1.5", "bge-large", "BAAI/bge-base-en"], PASSAGES, ""),
        (["BAAI/bge-small-zh-v1.5"], "为这个句子生成表示以用于检索相关文章：", ""),
        (["mxbai-embed-large", "mixedbread-ai/mxbai-embed-large-v1"], PASSAGES, ""),
        (["snowflake-arctic-embed:335m", "snowflake/snowflake-arctic-embed-m-long"], PASSAGES, ""),
        (["snowflake-arctic-embed2", "Snowflake/snowflake-arctic-embed-l-v2.0"], "query: ", ""),
        (["embeddinggemma:300m"], "task: search result | query: ", "title: none | text: "),
        (
            ["hf.co/nomic-ai/nomic-embed-text-v1.5-GGUF:Q8_0"],
            "search_query: ",
            "search_document: ",
        ),
        (
            ["text-embedding-3-small", "bge-m3", "all-minilm", "thenlper/gte-large", "own"],
            "",
            "",
        ),
        (["jinaai/jina-embeddings-v2-base-en", "granite-embedding:30m"], "", ""),
    ],
)
def test_a_model_has_the_prefixes_of_its_card(models: list[str], query: str, document: str) -> None:
    assert {prefixes_of(model) for model in models} == {Prefixes(query, document)}


@pytest.mark.parametrize(
    ("model", "ending"),
    [
        ("Qwen/Qwen3-Embedding-0.6B", "\nQuery:"),
        ("qwen3-embedding:8b", "\nQuery:"),
        ("intfloat/multilingual-e5-large-instruct", "\nQuery: "),
        ("Alibaba-NLP/gte-Qwen2-7B-instruct", "\nQuery: "),
    ],
)
def test_a_model_with_instructions_has_one_before_queries_alone(model: str, ending: str) -> None:
    prefixes = prefixes_of(model)
    assert prefixes.query.startswith("Instruct: Given a web search query, retrieve relevant")
    assert prefixes.query.endswith(ending)
    assert prefixes.document == ""


def test_a_bare_name_has_neither_organisation_nor_tag() -> None:
    assert bare_name("hf.co/Org/Some-Model-GGUF:Q4_K_M") == "some-model-gguf"
    assert bare_name("nomic-embed-text") == "nomic-embed-text"


def test_fastembeds_models_that_need_a_prefix_have_one_and_the_others_none() -> None:
    from fastembed import TextEmbedding

    said = {
        row["model"]: row["description"].partition("Prefixes for queries/documents: ")[2]
        for row in TextEmbedding.list_supported_models()
        if row["model"] not in ONE_SIDED
    }
    # Said not to be necessary, since fastembed tells this one the task by other means as well.
    del said["jinaai/jina-embeddings-v3"]
    with_prefix = {model for model in said if prefixes_of(model) != Prefixes()}
    needed = {model for model, words in said.items() if words.startswith(("necessary", "`"))}
    unneeded = {model for model, words in said.items() if words.startswith("not necessary")}
    assert needed
    assert needed <= with_prefix
    assert not unneeded & with_prefix


def test_the_documentation_shows_every_prefix() -> None:
    page = (Path(__file__).parents[2] / "docs" / "profiles.html").read_text(encoding="utf-8")
    shown = {html.unescape(code) for code in re.findall("<code>(.*?)</code>", page)}
    models = "nomic-embed-text e5-base bge-large bge-large-zh arctic gte-qwen2 embeddinggemma"
    for model in (*models.split(), "jina-embeddings-v3", "snowflake-arctic-embed2"):
        prefixes = prefixes_of(model)
        lines = f"{prefixes.query}\n{prefixes.document}".split("\n")
        assert {line for line in lines if line.strip()} <= shown | {f"{code} " for code in shown}

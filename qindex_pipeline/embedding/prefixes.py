"""What a model wants to read before a query and before a document.

The source of each row is the model's card on Hugging Face: nomic-ai (nomic-embed-text-v1.5),
intfloat (e5-base-v2, multilingual-e5-large, -large-instruct), BAAI (bge-large-en-v1.5,
bge-large-zh-v1.5), mixedbread-ai (mxbai-embed-large-v1), Snowflake (arctic-embed-l,
arctic-embed-l-v2.0), jinaai (jina-embeddings-v3), google (embeddinggemma-300m), Qwen
(Qwen3-Embedding-0.6B) and Alibaba-NLP (gte-Qwen2-7B-instruct). gte, jina-embeddings-v2, bge-m3,
granite, MiniLM, mpnet, potion and OpenAI's models want none; a model that is not known gets none
either. fastembed's list says which of its models need a prefix: a test holds the table against it.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Prefixes:
    """The words before a query and before a document, with the white space that ends them."""

    query: str = ""
    document: str = ""


_PASSAGES = "Represent this sentence for searching relevant passages: "
_WEB_SEARCH = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)

# A model is matched by how its bare name starts; the first row that matches wins.
_BY_MODEL: tuple[tuple[str, Prefixes], ...] = (
    (r"nomic-embed-text", Prefixes("search_query: ", "search_document: ")),
    (r"multilingual-e5-large-instruct", Prefixes(f"{_WEB_SEARCH} ")),
    (r"(multilingual-)?e5-(small|base|large)", Prefixes("query: ", "passage: ")),
    (r"bge-(small|base|large)-zh", Prefixes("为这个句子生成表示以用于检索相关文章：")),
    (r"bge-(small|base|large)", Prefixes(_PASSAGES)),
    (r"mxbai-embed-large", Prefixes(_PASSAGES)),
    (r"snowflake-arctic-embed(2|-.*v2)", Prefixes("query: ")),
    (r"snowflake-arctic-embed", Prefixes(_PASSAGES)),
    (
        r"jina-embeddings-v3",
        Prefixes(
            "Represent the query for retrieving evidence documents: ",
            "Represent the document for retrieval: ",
        ),
    ),
    (r"embeddinggemma", Prefixes("task: search result | query: ", "title: none | text: ")),
    (r"qwen3-embedding", Prefixes(_WEB_SEARCH)),
    (r"gte-qwen2", Prefixes(f"{_WEB_SEARCH} ")),
)


def prefixes_of(model: str) -> Prefixes:
    """The prefixes of `model`, under whatever organisation and tag it is served."""
    name = bare_name(model)
    return next((row for pattern, row in _BY_MODEL if re.match(pattern, name)), Prefixes())


def bare_name(model: str) -> str:
    """A model's name in lower case without organisation and tag: `nomic-embed-text`."""
    return model.lower().rpartition("/")[2].partition(":")[0]

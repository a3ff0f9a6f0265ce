"""One chunker over all pages in a process of its own, which may belong to another environment.

    python chunking_worker.py NAME PAGES_JSON OUTPUT_JSON

Writes, for every page, the chunks as text, the headings that the chunker says they stand under
and whether it declares the chunk to be a part, and the CPU seconds of the best of two rounds.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Chunk = dict[str, Any]
Chunker = Callable[[dict[str, Any]], list[Chunk]]

ROUNDS = 2
# About 125 words of English, the size up to which ours packs, in the peers' own unit.
CHARACTERS = 750


def main() -> None:
    """Chunk every page twice; write the chunks and the faster round's CPU seconds."""
    name, pages_file, output = sys.argv[1:]
    pages = json.loads(Path(pages_file).read_text(encoding="utf-8"))
    chunker = CHUNKERS[name]()
    chunker(pages[0])  # whatever the first call imports or compiles
    rounds = []
    for _ in range(ROUNDS):
        started = time.process_time()
        chunks = [chunker(page) for page in pages]
        rounds.append(time.process_time() - started)
    result = {"cpu_seconds": min(rounds), "pages": chunks}
    Path(output).write_text(json.dumps(result), encoding="utf-8")


def ours() -> Chunker:
    """The chunker of this project as it ships."""
    from qindex_pipeline.chunking import ChunkConfig, PageText, chunk_page

    def chunker(page: dict[str, Any]) -> list[Chunk]:
        text = PageText(
            site=page["site"],
            page_id=page["url"],
            url=page["url"],
            label=page["label"],
            summary=page["summary"],
            markdown=page["markdown"],
            headings=page["headings"],
            lang="en",
        )
        return [
            chunk_of(
                chunk.text,
                chunk.heading_path,
                declared=chunk.parts > 1 or chunk.kind == "full_page",
            )
            for chunk in chunk_page(text, ChunkConfig())
        ]

    return chunker


def langchain() -> Chunker:
    """Sections by headings, then pieces by characters, as LangChain's guides combine them."""
    from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter

    headings = MarkdownHeaderTextSplitter(
        [("#", "1"), ("##", "2"), ("###", "3")], strip_headers=False
    )
    pieces = RecursiveCharacterTextSplitter(chunk_size=CHARACTERS, chunk_overlap=0)

    def chunker(page: dict[str, Any]) -> list[Chunk]:
        documents = pieces.split_documents(headings.split_text(page["markdown"]))
        return [chunk_of(made.page_content, list(made.metadata.values())) for made in documents]

    return chunker


def llama_index() -> Chunker:
    """LlamaIndex's nodes of sections."""
    from llama_index.core import Document
    from llama_index.core.node_parser import MarkdownNodeParser

    parser = MarkdownNodeParser()

    def chunker(page: dict[str, Any]) -> list[Chunk]:
        nodes = parser.get_nodes_from_documents([Document(text=page["markdown"])])
        return [
            chunk_of(node.get_content(), node.metadata["header_path"].strip("/").split("/"))
            for node in nodes
        ]

    return chunker


def semantic_text_splitter() -> Chunker:
    """The Rust splitter that knows markdown's structure."""
    from semantic_text_splitter import MarkdownSplitter

    splitter = MarkdownSplitter(CHARACTERS)
    return lambda page: [chunk_of(text, []) for text in splitter.chunks(page["markdown"])]


def markdown_it() -> Chunker:
    """No chunker: the parser alone, with tables, inline markup and all."""
    from markdown_it import MarkdownIt

    return _parsing(MarkdownIt("commonmark").enable("table"))


def markdown_it_blocks() -> Chunker:
    """The parser without inline markup, which is how ours uses it."""
    from markdown_it import MarkdownIt

    return _parsing(MarkdownIt("commonmark").enable("table").disable("inline"))


def _parsing(parser: Any) -> Chunker:
    def chunker(page: dict[str, Any]) -> list[Chunk]:
        parser.parse(page["markdown"])
        return []

    return chunker


def chunk_of(text: str, path: Sequence[str], *, declared: bool = False) -> Chunk:
    """A chunk as it goes through JSON."""
    return {"text": text, "path": list(path), "declared": declared}


CHUNKERS = {
    factory.__name__: factory
    for factory in (
        ours,
        langchain,
        llama_index,
        semantic_text_splitter,
        markdown_it,
        markdown_it_blocks,
    )
}

if __name__ == "__main__":
    main()

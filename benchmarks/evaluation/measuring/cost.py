"""What questions cost a site: pages, chunks, calls and tokens, as `qindex plan` counts them."""

import argparse
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from pydantic import SecretStr
from retrieval_sets import git_data, stl_data

from qindex_pipeline.chunking.duplicates import kept
from qindex_pipeline.embedding.opening import open_embedder
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.planning.embeddings import plan_embeddings
from qindex_pipeline.planning.questions import plan_questions, stored_chunks
from qindex_pipeline.questions.filters.navigation import is_navigation
from qindex_pipeline.questions.generators.generator import Task
from qindex_pipeline.questions.generators.prompts import rough_tokens, user_prompt
from qindex_pipeline.settings import Settings
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import CHUNKS, EMBEDDINGS, GROUNDED_QUESTIONS, RAW_PAGES

Row = dict[str, Any]

_EMPTY: Row = {"title": "", "heading_path": [], "text": "", "lang": None}

PAID: tuple[Literal["api", "local"], ...] = ("api", "local")
"""Profiles with a language model; the rules of the third one call nobody."""


def measured_cost(options: argparse.Namespace) -> dict[str, Row]:
    """The figures of each site that was crawled."""
    return {
        "git": site_figures(git_data(options), "git"),
        "stl": site_figures(stl_data(options), "stl"),
    }


def site_figures(data: Path, site: str) -> Row:
    """What `site` has, and what a first run of each profile with a model would ask for."""
    store = ParquetStore(str(data))
    pages = store.read(RAW_PAGES, site).column("markdown").to_pylist()
    kinds = store.read(EMBEDDINGS, site).column("kind").to_pylist()
    accepted = store.read(GROUNDED_QUESTIONS, site).column("accepted").to_pylist()
    chunks = store.read(CHUNKS, site).to_pylist()
    return {
        "pages": sum(text is not None for text in pages),
        "chunks": len(chunks),
        "repeats": len(chunks) - len(kept(chunks)),
        "proposed_by_rules": len(accepted),
        "accepted_of_rules": sum(accepted),
        "vectors": {kind: kinds.count(kind) for kind in ("passage", "question")},
        "plans": {profile: first_run(data, site, profile) for profile in PAID},
        "bert_tokens_a_rough_token": _bert_tokens(chunks),
    }


def first_run(data: Path, site: str, profile: Literal["api", "local"]) -> Row:
    """Calls and tokens of a first run, where nothing is known but the chunks."""
    with TemporaryDirectory(prefix="qindex-plan-") as folder:
        stored = ParquetStore(folder).path(CHUNKS, site)
        Path(stored).parent.mkdir(parents=True)
        shutil.copy(ParquetStore(str(data)).path(CHUNKS, site), stored)
        unused = SecretStr("unused")  # a client wants a key when it is opened, to ask or not
        settings = Settings(
            profile=profile, data=folder, anthropic_api_key=unused, openai_api_key=unused
        )
        pipeline = Pipeline(settings, {})
        chunks = stored_chunks(pipeline, site)
        questions = plan_questions(pipeline, site, chunks, (0, 0))
        texts = plan_embeddings(pipeline, site, chunks, questions, (0, 0))
        assert texts is not None, "no profile embeds with fastembed"
        one = pipeline.generator.estimate(Task(_EMPTY))
        return {
            "generator": questions.generator,
            "prompt_version": questions.prompt_version,
            "embedder": texts.embedder,
            "calls": questions.stored.calls,
            "tokens_in": questions.stored.tokens_in,
            "tokens_out": questions.stored.tokens_out,
            "fixed_tokens": one.tokens_in,
            "passage_tokens": texts.least.tokens,
            "most_tokens": texts.most.tokens,
        }


def _bert_tokens(chunks: list[Row]) -> float:
    """Tokens of the chunks' prompts by BERT's tokenizer, as a multiple of the rough count."""
    asked = [chunk for chunk in kept(chunks) if not is_navigation(chunk)]
    prompts = [user_prompt(Task(chunk)) for chunk in asked]
    embedder = open_embedder("minilm", Settings(profile="offline"), None)
    return round(sum(embedder.count_tokens(prompts)) / rough_tokens(*prompts), 3)

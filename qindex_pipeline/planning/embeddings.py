"""What a run would embed, and what that would cost; nothing is embedded and nothing written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from qindex_pipeline.chunking.duplicates import kept
from qindex_pipeline.embedding.embedder import Embedder
from qindex_pipeline.embedding.openai_embedder import DIMENSIONS, open_openai_embedder
from qindex_pipeline.embedding.stage import texts_of_site
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.planning.questions import CHUNK_CHARACTERS, CHUNKS_A_PAGE, QuestionPlan
from qindex_pipeline.questions.asking.prices import Prices
from qindex_pipeline.questions.generators.generator import Usage
from qindex_pipeline.questions.generators.prompts import rough_tokens
from qindex_pipeline.tables import EMBEDDINGS, GROUNDED_QUESTIONS, to_rows

QUESTION_TOKENS = 30
"""An ordinary question behind its place."""


@dataclass(frozen=True)
class Texts:
    """Texts to embed with their tokens; `cost_usd` is None where the price is not known."""

    texts: int
    tokens: int
    cost_usd: float | None


@dataclass(frozen=True)
class EmbeddingPlan:
    """What a run of one site would embed.

    Attributes:
        embedder: Who would make the vectors, as `provider:model`.
        texts: Stored passages and accepted questions.
        cached: Those whose vector is there already.
        least: Those without one, and the fewest that further pages may have.
        most: The same with the most, and with as many questions as may be written.
        price: Where the price comes from.
    """

    embedder: str
    texts: int
    cached: int
    least: Texts
    most: Texts
    price: str


def plan_embeddings(
    pipeline: Pipeline,
    site: str,
    chunks: Sequence[dict[str, Any]],
    questions: QuestionPlan,
    further_pages: tuple[int, int],
) -> EmbeddingPlan | None:
    """What a run of `site` would embed, given what it would ask.

    None for models of fastembed, which cut texts only when they are downloaded; they cost nothing.

    Args:
        pipeline: Settings, models and tables.
        site: Key of the site.
        chunks: Rows of its chunks table.
        questions: What would be asked: each answer brings new texts.
        further_pages: Pages that nobody has read yet, least and most.

    Raises:
        UsageError: The embedder or the prices of the settings are wrong.
        WorkError: A table of the last run cannot be read.
    """
    if pipeline.models.embedder.startswith("fastembed:"):
        return None
    embedder, digest = _unasked(pipeline, site)
    texts = _stored_texts(pipeline, site, chunks, embedder)
    missing = pipeline.vector_cache.missing(digest, texts) if digest else list(texts)
    prices = Prices.from_settings(pipeline.settings)
    spec = pipeline.models.embedder

    def amount(number: int, tokens: int) -> Texts:
        return Texts(number, tokens, prices.cost(spec, Usage(tokens)))

    tokens = rough_tokens(*(texts[key] for key in missing))
    low, high = (pages * a_page for pages, a_page in zip(further_pages, CHUNKS_A_PAGE, strict=True))
    passage = CHUNK_CHARACTERS // 4
    written = (questions.stored.calls + high) * pipeline.settings.max_questions
    return EmbeddingPlan(
        embedder=spec,
        texts=len(texts),
        cached=len(texts) - len(missing),
        least=amount(len(missing) + low, tokens + low * passage),
        most=amount(
            len(missing) + high + written, tokens + high * passage + written * QUESTION_TOKENS
        ),
        price=prices.source(spec),
    )


def _unasked(pipeline: Pipeline, site: str) -> tuple[Embedder, str | None]:
    """The embedder, and under which fingerprint its vectors are kept; no model is asked.

    A served model that we don't know tells its dimension only when it embeds: its vectors are
    looked for under the site's last fingerprint. None: there is nothing to look for.
    """
    spec = pipeline.models.embedder
    provider, _, model = spec.partition(":")
    if provider not in {"openai", "ollama"} or model in DIMENSIONS:
        return pipeline.embedder, pipeline.fingerprint.digest
    embedder = open_openai_embedder(provider, model, pipeline.settings, None)
    is_same = pipeline.store.first(EMBEDDINGS, site, "embedder") == spec
    digest = pipeline.store.first(EMBEDDINGS, site, "fingerprint") if is_same else None
    return embedder, digest


def _stored_texts(
    pipeline: Pipeline, site: str, chunks: Sequence[dict[str, Any]], embedder: Embedder
) -> dict[str, str]:
    """The texts of the stored passages and of the accepted questions about them, by their hash."""
    store, passages = pipeline.store, kept(chunks)
    known = {chunk["chunk_id"] for chunk in passages}
    rows: list[dict[str, Any]] = []
    if store.exists(GROUNDED_QUESTIONS, site):
        rows = to_rows(GROUNDED_QUESTIONS, store.read(GROUNDED_QUESTIONS, site))
    questions = [row for row in rows if row["chunk_id"] in known]
    return {row["text_hash"]: row["text"] for row in texts_of_site(passages, questions, embedder)}

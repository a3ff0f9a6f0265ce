"""What a run would ask a model, and what that would cost; nothing is asked and nothing written.

Of stored chunks it is known which have to be asked about: the same selection decides in a run.
Of pages that nobody has read only their number is, so that they get a range.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from qindex_pipeline.chunking.duplicates import kept
from qindex_pipeline.pipeline import Pipeline
from qindex_pipeline.questions.asking.budget import check_cap
from qindex_pipeline.questions.asking.entries import input_hash
from qindex_pipeline.questions.asking.pending import select
from qindex_pipeline.questions.asking.prices import Prices
from qindex_pipeline.questions.filters.navigation import is_navigation
from qindex_pipeline.questions.generators.generator import Generator, Task, Usage
from qindex_pipeline.questions.human import HUMAN, load_human
from qindex_pipeline.tables import CANDIDATE_QUESTIONS, CHUNKS, to_rows

CHUNKS_A_PAGE = (1, 35)
"""Means of ten docs sites, up to 60 pages of each: the STL's 1.2 and CMake's 1.8 are the lowest,
Python's 34 is the highest, six of them lie between 6 and 19."""

CHUNK_CHARACTERS = 700
"""An ordinary chunk of those sites: their means lie between 510 and 1,100 characters."""


@dataclass(frozen=True)
class Calls:
    """Calls of a model with their tokens; `cost_usd` is None where the price is not known."""

    calls: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None


@dataclass(frozen=True)
class QuestionPlan:
    """What a run of one site would ask for.

    Attributes:
        generator: Who would be asked, as `provider:model`.
        prompt_version: Version of its prompt or rules.
        anew: What changed since the last run, so that its answers don't count; None: nothing.
        chunks: Stored chunks to ask about: those that repeat no other one and hold more than
            links.
        inputs: Different texts among them: equal ones are asked about once.
        answered: Inputs whose answer the ledger has.
        given_up: Inputs that were asked about in vain too often to be asked again.
        kept: Inputs that were edited, and need no call: the questions kept are enough.
        revised: Edited inputs that are asked about, with some of their questions kept.
        stored: The calls for the inputs that are left.
        least: All calls, with the fewest chunks that pages nobody has read may have.
        most: All calls, with the most.
        price: Where the price comes from.
        human: Questions that people add or pin, for nothing.
        batch: Whether they go through the batch interface, at half the price.
        max_cost_usd: What a run may spend; None: no cap.
        fits_cap: Whether even the most stays below the cap; None without a cap.
        chunks_a_page: What is taken for a page that nobody has read.
    """

    generator: str
    prompt_version: str
    anew: str | None
    chunks: int
    inputs: int
    answered: int
    given_up: int
    kept: int
    revised: int
    stored: Calls
    least: Calls
    most: Calls
    price: str
    human: int
    batch: bool
    max_cost_usd: float | None
    fits_cap: bool | None
    chunks_a_page: tuple[int, int] = CHUNKS_A_PAGE


def stored_chunks(pipeline: Pipeline, site: str) -> list[dict[str, Any]]:
    """Rows of the site's chunks table, [] before its first run."""
    store = pipeline.store
    return to_rows(CHUNKS, store.read(CHUNKS, site)) if store.exists(CHUNKS, site) else []


def plan_questions(
    pipeline: Pipeline,
    site: str,
    chunks: Sequence[dict[str, Any]],
    further_pages: tuple[int, int],
) -> QuestionPlan:
    """What a run of `site` would ask a model.

    Args:
        pipeline: Settings, models and tables.
        site: Key of the site.
        chunks: Rows of its chunks table.
        further_pages: Pages that nobody has read yet, least and most.

    Raises:
        UsageError: The models or the prices of the settings are wrong, a cap is set without a
            price, or the site's file of people's questions is malformed.
        WorkError: The table of the last run cannot be read.
    """
    settings, generator = pipeline.settings, pipeline.generator
    asked = [chunk for chunk in kept(chunks) if not is_navigation(chunk)]
    by_key = {input_hash(chunk, generator): chunk for chunk in asked}
    found = select(by_key, generator, pipeline.ledger, settings.max_questions)
    tasks = [item.task for item in found.pending] if generator.is_paid else []
    batch = settings.llm_batch and generator.batches is not None
    prices = Prices.from_settings(settings)
    check_cap(generator.spec, prices, settings.max_cost_usd)

    def calls(number: int, usage: Usage) -> Calls:
        cost = prices.cost(generator.spec, usage, batch=batch)
        return Calls(number, usage.tokens_in, usage.tokens_out, cost)

    usage = sum((generator.estimate(task) for task in tasks), Usage())
    low, high = (
        _further(generator, pages * a_page)
        for pages, a_page in zip(further_pages, CHUNKS_A_PAGE, strict=True)
    )
    most = calls(len(tasks) + high[0], usage + high[1])
    cap = settings.max_cost_usd
    return QuestionPlan(
        generator=generator.spec,
        prompt_version=generator.prompt_version,
        anew=_anew(pipeline, site, len(tasks), len(by_key)),
        chunks=len(asked),
        inputs=len(by_key),
        answered=len(found.answered),
        given_up=len(found.given_up),
        kept=len(found.revised),
        revised=sum(bool(task.kept) for task in tasks),
        stored=calls(len(tasks), usage),
        least=calls(len(tasks) + low[0], usage + low[1]),
        most=most,
        price=prices.source(generator.spec),
        human=load_human(settings.questions, site).wanted,
        batch=batch,
        max_cost_usd=cap,
        fits_cap=None if cap is None else (most.cost_usd or 0.0) <= cap,
    )


def _further(generator: Generator, chunks: int) -> tuple[int, Usage]:
    """Calls and tokens for so many chunks of ordinary length."""
    if not generator.is_paid or not chunks:
        return 0, Usage()
    words = "word " * (CHUNK_CHARACTERS // 5)
    chunk = {"title": "A page", "heading_path": ["A section"], "text": words, "lang": None}
    one = generator.estimate(Task(chunk))
    return chunks, Usage(one.tokens_in * chunks, one.tokens_out * chunks)


def _anew(pipeline: Pipeline, site: str, asked: int, inputs: int) -> str | None:
    last = _last_generator(pipeline, site)
    generator = pipeline.generator
    now = (generator.spec, generator.prompt_version)
    if last is None or last == now:
        return None
    what, before, after = (
        ("generator", last[0], now[0]) if last[0] != now[0] else ("prompt", last[1], now[1])
    )
    changed = f"the {what} changed from {before} to {after}"
    if not generator.is_paid:
        return f"{changed}: everything is written anew: {inputs} chunks"
    if asked == inputs:
        return f"{changed}: everything is asked anew: {inputs} chunks"
    return f"{changed}: {asked} of {inputs} chunks are asked anew, the ledger has the others"


def _last_generator(pipeline: Pipeline, site: str) -> tuple[str, str] | None:
    """Generator and prompt version of the last run, None before the first."""
    store = pipeline.store
    if not store.exists(CANDIDATE_QUESTIONS, site):
        return None
    last = store.read(CANDIDATE_QUESTIONS, site)
    columns = (last.column(name).to_pylist() for name in ("generator", "prompt_version", "origin"))
    rows = zip(*columns, strict=True)
    return next(((spec, version) for spec, version, by in rows if by != HUMAN), None)

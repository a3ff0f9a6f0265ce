"""Stage candidate_questions: ask the generator about each chunk, once ever."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from qindex_pipeline.errors import WorkError
from qindex_pipeline.ids import content_hash
from qindex_pipeline.progress import Progress, silent
from qindex_pipeline.questions.asking import Asking, Clock
from qindex_pipeline.questions.generator import Chunk, Generator
from qindex_pipeline.questions.ledger import Entry, Ledger, input_hash
from qindex_pipeline.questions.prices import cost_usd

MAX_FAILED_SHARE = 0.10
"""A run fails when more chunks than this have no valid answer: the index would be full of holes."""


@dataclass(frozen=True)
class Proposed:
    """The rows of the candidate_questions table, and what this run did for them."""

    rows: list[dict[str, Any]]
    calls: int
    from_ledger: int
    tokens_in: int
    tokens_out: int
    cost_usd: float | None
    failed_chunks: tuple[str, ...]


def propose_questions(
    chunks: Sequence[Chunk],
    generator: Generator,
    ledger: Ledger,
    now: Clock,
    concurrency: int = 4,
    progress: Progress = silent,
) -> Proposed:
    """Questions for every chunk: from the ledger, else from the generator.

    Chunks with the same input (equal text, place, model and prompt) share one call. An
    answer out of shape is asked for once more; when it fails again its chunk has no questions
    in this run.

    Args:
        chunks: Rows of the chunks table.
        generator: Who proposes.
        ledger: What was answered before; new paid answers go into it as they arrive.
        now: The clock that dates new answers.
        concurrency: Calls in flight.
        progress: Told of each answer.

    Raises:
        WorkError: The provider failed, or more than a tenth of the chunks has no valid answer.
    """
    keys = {chunk["chunk_id"]: input_hash(chunk, generator) for chunk in chunks}
    by_key = {keys[chunk["chunk_id"]]: chunk for chunk in chunks}
    asked = {key: chunk for key, chunk in by_key.items() if ledger.get(key) is None}
    asking = Asking(generator, ledger, now)
    fresh = asking.ask_all(asked, concurrency, progress)
    failed = tuple(chunk_id for chunk_id, key in keys.items() if key in asked and key not in fresh)
    if len(failed) > MAX_FAILED_SHARE * len(chunks):
        raise WorkError(
            f"{len(failed)} of {len(chunks)} chunks got no valid answer from {generator.spec}: "
            "try another model; what was answered is kept"
        )
    rows: list[dict[str, Any]] = []
    for chunk in chunks:
        key = keys[chunk["chunk_id"]]
        entry = fresh.get(key) or ledger.get(key)
        if entry is not None:
            rows.extend(_rows(chunk, key, entry, generator))
    tokens_in = sum(entry.answer.tokens_in for entry in fresh.values())
    tokens_out = sum(entry.answer.tokens_out for entry in fresh.values())
    return Proposed(
        rows=rows,
        calls=asking.calls,
        from_ledger=len(by_key) - len(asked),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost_usd=cost_usd(generator.spec, tokens_in, tokens_out),
        failed_chunks=failed,
    )


def _rows(chunk: Chunk, key: str, entry: Entry, generator: Generator) -> list[dict[str, Any]]:
    answer, rows = entry.answer, list[dict[str, Any]]()
    seen: Counter[str] = Counter()
    for proposal in answer.proposals:
        name = normalize(proposal.question)
        seen[name] += 1
        first = not rows
        tokens_in, tokens_out = (answer.tokens_in, answer.tokens_out) if first else (0, 0)
        rows.append(
            {
                "site": chunk["site"],
                "question_id": content_hash(chunk["chunk_id"], name, str(seen[name])),
                "chunk_id": chunk["chunk_id"],
                "question": proposal.question,
                "evidence": proposal.evidence,
                "generator": generator.spec,
                "prompt_version": generator.prompt_version,
                "input_hash": key,
                "tokens_in": tokens_in,
                "tokens_out": tokens_out,
                "cost_usd": cost_usd(generator.spec, tokens_in, tokens_out),
                "created_at": entry.created_at,
            }
        )
    return rows


def normalize(question: str) -> str:
    """A question's identity: case, spaces and the closing mark do not matter."""
    return " ".join(question.casefold().split()).rstrip("?!. ")

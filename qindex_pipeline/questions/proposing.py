"""Stage candidate_questions: the questions of each chunk, each asked for once ever."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qindex_pipeline.errors import WorkError
from qindex_pipeline.progress import Progress, silent
from qindex_pipeline.questions.asking.asking import Asking, Means
from qindex_pipeline.questions.asking.batching import Batching
from qindex_pipeline.questions.asking.budget import Budget
from qindex_pipeline.questions.asking.entries import input_hash
from qindex_pipeline.questions.asking.ledger import Ledger
from qindex_pipeline.questions.asking.limiter import limiter_of
from qindex_pipeline.questions.asking.notes import Notes
from qindex_pipeline.questions.asking.options import AskingOptions
from qindex_pipeline.questions.asking.pending import Selection, select
from qindex_pipeline.questions.asking.recorder import Clock, Recorder
from qindex_pipeline.questions.candidate_rows import candidate_rows
from qindex_pipeline.questions.filters.navigation import is_navigation
from qindex_pipeline.questions.generators.generator import Chunk, Generator, Usage
from qindex_pipeline.questions.generators.prompts import answer_tokens


@dataclass(frozen=True)
class Proposed:
    """The rows of the candidate_questions table, and what this run did for them.

    Attributes:
        rows: Of the table.
        skipped: Chunks about which nobody is asked: navigation, lists of links.
        from_ledger: Different chunks whose answer an earlier run got.
        asked: Different chunks about which this run asked the generator.
        revalidated: Edited chunks for which what is kept of the earlier answer was enough.
        calls: That cost something; those that gave no valid answer count too.
        usage: Their tokens.
        cost_usd: Their price; None when it is not known.
        failed: Cause by the id of each chunk without a valid answer.
    """

    rows: list[dict[str, Any]]
    skipped: int
    from_ledger: int
    asked: int
    revalidated: int
    calls: int
    usage: Usage
    cost_usd: float | None
    failed: Mapping[str, str]


def propose_questions(
    chunks: Sequence[Chunk],
    generator: Generator,
    ledger: Ledger,
    now: Clock,
    options: AskingOptions | None = None,
    progress: Progress = silent,
) -> Proposed:
    """Questions for every chunk: from the ledger, else from the generator.

    Chunks with the same input (equal text, place, model and prompt) share one call. Of an
    edited chunk the questions are kept whose evidence still stands, and the generator is asked
    where words are new. An answer that cannot be used is asked for once more; when it fails
    again, two later runs ask for it.

    Args:
        chunks: Rows of the chunks table.
        generator: Who proposes.
        ledger: What was answered before; new paid answers go into it as they arrive.
        now: The clock that dates new answers.
        options: How to ask; None: as the settings' defaults say.
        progress: Told of each answer.

    Raises:
        UsageError: A cap is set, and the price of the model is not known.
        WorkError: The provider failed, the cap was reached, the ledger cannot be written, or too
            many chunks have no valid answer. What was answered is kept.
    """
    options = options or AskingOptions()
    asked = [chunk for chunk in chunks if not is_navigation(chunk)]
    keys = {chunk["chunk_id"]: input_hash(chunk, generator) for chunk in asked}
    by_key: dict[str, Chunk] = {}
    for chunk in asked:
        by_key.setdefault(keys[chunk["chunk_id"]], chunk)
    budget = Budget(
        generator.spec,
        options.prices,
        options.max_cost_usd,
        answer_tokens(options.max_questions),
    )
    recorder = Recorder(generator, ledger, now, options.max_questions)
    selection = select(by_key, generator, ledger, options.max_questions)
    for key, (source, kept) in selection.revised.items():
        recorder.kept(key, source, kept)
    limiter = limiter_of(
        generator.spec.partition(":")[0], options.requests_per_minute, options.tokens_per_minute
    )
    means = Means(generator, recorder, budget, limiter, progress)
    is_whole = _ask(means, selection, options, ledger)
    causes = {chunk_id: recorder.cause(key) for chunk_id, key in keys.items()}
    failed = {chunk_id: cause for chunk_id, cause in causes.items() if cause is not None}
    if not is_whole:
        raise WorkError(budget.cap_line(len(asked) - len(failed), len(asked)))
    if len(failed) > options.max_failed_share * len(asked):
        raise WorkError(_too_many(failed, len(asked), generator.spec))
    return Proposed(
        rows=list(candidate_rows(asked, keys, recorder.entry, generator, options.prices)),
        skipped=len(chunks) - len(asked),
        from_ledger=len(selection.answered),
        asked=len(selection.pending),
        revalidated=len(selection.revised),
        calls=budget.calls,
        usage=budget.usage,
        cost_usd=budget.spent,
        failed=failed,
    )


def _ask(means: Means, selection: Selection, options: AskingOptions, ledger: Ledger) -> bool:
    """Ask what has to be asked; whether all of it was."""
    if options.batch and means.generator.is_paid:
        batches = means.generator.batches
        if batches is not None:
            durable = None if ledger.durable is None else ledger.durable.below("batches")
            notes = Notes(ledger.folder / "batches", durable)
            batching = Batching(means, batches, notes, options.batch_poll)
            return batching.ask_all(selection.pending)
        means.progress.warn(
            f"{means.generator.spec} has no batch interface: it is asked call by call"
        )
    return Asking(means, options.concurrency).ask_all(selection.pending)


def _too_many(failed: Mapping[str, str], total: int, spec: str) -> str:
    causes = ", ".join(f"{count} {cause}" for cause, count in Counter(failed.values()).items())
    return (
        f"{len(failed)} of {total} chunks got no valid answer from {spec} ({causes}): try another "
        "model, or accept more with QINDEX_MAX_FAILED_SHARE; what was answered is kept"
    )

"""Which chunks of a run have to be asked about, and what is known of the others.

Nothing is asked and nothing is written here: a plan looks at the same selection as a run.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from qindex_pipeline.questions.asking.entries import Entry, Source
from qindex_pipeline.questions.asking.ledger import Ledger
from qindex_pipeline.questions.asking.revising import Revision, predecessor, revise
from qindex_pipeline.questions.generators.generator import Chunk, Generator, Task
from qindex_pipeline.questions.generators.proposal import Proposal

MOST_TRIES = 3
"""Runs that ask about a chunk in vain: the first, and two later ones."""


@dataclass(frozen=True)
class Pending:
    """A chunk that has to be asked about.

    Attributes:
        key: Under which the answer will be kept.
        source: What is asked.
        task: The same for the generator, with the questions that are kept.
        tries: Runs that asked in vain before.
    """

    key: str
    source: Source
    task: Task
    tries: int = 0


@dataclass(frozen=True)
class Selection:
    """The chunks of a run by what has to be done for them, each by its key.

    Attributes:
        answered: The ledger has the answer.
        given_up: Asked in vain by as many runs as may.
        revised: Edited, and what is kept of the earlier answer is enough; with its questions.
        pending: To be asked about, in the order of the chunks.
    """

    answered: list[str] = field(default_factory=list[str])
    given_up: list[str] = field(default_factory=list[str])
    revised: dict[str, tuple[Source, tuple[Proposal, ...]]] = field(
        default_factory=dict[str, tuple[Source, tuple[Proposal, ...]]]
    )
    pending: list[Pending] = field(default_factory=list[Pending])


def select(
    chunks: Mapping[str, Chunk], generator: Generator, ledger: Ledger, limit: int
) -> Selection:
    """What has to be done for each chunk.

    Args:
        chunks: Rows of the chunks table by their key (`entries.input_hash`).
        generator: Who would be asked.
        ledger: What was answered before.
        limit: Questions a chunk, at most.
    """
    found = Selection()
    texts = {chunk["text"] for chunk in chunks.values()}
    for key, chunk in chunks.items():
        source = Source.of(chunk, generator)
        entry = ledger.get(key) if generator.is_paid else None
        if entry is not None and entry.failure is None:
            found.answered.append(key)
        elif entry is not None and entry.tries >= MOST_TRIES:
            found.given_up.append(key)
        else:
            revision = _revision(source, ledger, texts, limit) if generator.is_paid else None
            if revision is not None and not revision.asks:
                found.revised[key] = source, revision.kept
                continue
            kept = revision.kept if revision is not None else ()
            tries = _tries(entry)
            found.pending.append(Pending(key, source, Task(chunk, kept), tries))
    return found


def _tries(entry: Entry | None) -> int:
    return 0 if entry is None else entry.tries


def _revision(
    source: Source, ledger: Ledger, texts: Collection[str], limit: int
) -> Revision | None:
    """What is left of the answer about an earlier state of a chunk; None when there is none.

    What still stands somewhere is no earlier state of anything.
    """
    answers = ledger.answers_at(source.place)
    gone = [
        entry for entry in answers if entry.source is not None and entry.source.text not in texts
    ]
    old = predecessor(source.text, gone)
    return None if old is None else revise(old, source.text, limit)

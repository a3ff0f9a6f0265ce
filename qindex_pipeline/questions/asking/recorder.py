"""From what a generator said about a chunk to its entry, stored the moment it arrives."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from qindex_pipeline.questions.asking.entries import Cause, Entry, Question, Source
from qindex_pipeline.questions.asking.ledger import Ledger
from qindex_pipeline.questions.asking.pending import Pending
from qindex_pipeline.questions.generators.generator import Answer, Generator, Usage
from qindex_pipeline.questions.generators.proposal import Proposal
from qindex_pipeline.questions.identity import normalize

Clock = Callable[[], datetime]

ATTEMPTS = 2
"""Calls of one run for one chunk: an answer that cannot be used is asked for once more."""


@dataclass(frozen=True)
class Call:
    """A call to be made: for which chunk, the how many-eth, and what earlier ones took."""

    pending: Pending
    attempt: int = 1
    spent: Usage = field(default_factory=Usage)


class Recorder:
    """Writes the entries of one run; safe for several threads.

    What a generator says that costs nothing is not kept in the ledger.
    """

    def __init__(self, generator: Generator, ledger: Ledger, now: Clock, limit: int) -> None:
        """Store in `ledger`, dated by `now`, at most `limit` questions a chunk."""
        self._fresh: dict[str, Entry] = {}
        self._is_paid, self._ledger = generator.is_paid, ledger
        self._now, self._limit = now, limit

    def entry(self, key: str) -> Entry | None:
        """What is known of a key by now."""
        return self._ledger.get(key) if self._is_paid else self._fresh.get(key)

    def cause(self, key: str) -> Cause | None:
        """Why a key has no valid answer by now; None when it has one."""
        entry = self.entry(key)
        return "unanswered" if entry is None else entry.failure

    def kept(self, key: str, source: Source, kept: Iterable[Proposal]) -> None:
        """Store what a chunk keeps of its earlier state, about which nothing is asked."""
        self._store(key, Entry(tuple(_as_kept(kept)), self._now(), source=source))

    def answered(self, call: Call, answer: Answer, *, batch: bool = False) -> None:
        """Store an answer, behind what the chunk keeps of its earlier state."""
        pending = call.pending
        kept = [*_as_kept(pending.task.kept)]
        known = {normalize(item.proposal.question) for item in kept}
        new = [
            Question(proposal)
            for proposal in answer.proposals
            if normalize(proposal.question) not in known
        ]
        entry = Entry(
            questions=tuple([*kept, *new][: self._limit]),
            created_at=self._now(),
            usage=call.spent + answer.usage,
            source=pending.source,
            batch=batch,
        )
        self._store(pending.key, entry)

    def failed(self, call: Call, failure: Cause, *, batch: bool = False) -> None:
        """Store that a chunk got no valid answer in this run; what it keeps, it keeps."""
        pending = call.pending
        entry = Entry(
            questions=tuple(_as_kept(pending.task.kept)),
            created_at=self._now(),
            usage=call.spent,
            source=pending.source,
            failure=failure,
            tries=pending.tries + 1,
            batch=batch,
        )
        self._store(pending.key, entry)

    def _store(self, key: str, entry: Entry) -> None:
        if self._is_paid:
            self._ledger.put(key, entry)
        else:
            self._fresh[key] = entry


def _as_kept(proposals: Iterable[Proposal]) -> Iterator[Question]:
    return (Question(proposal, "kept") for proposal in proposals)

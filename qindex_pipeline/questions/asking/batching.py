"""Asking through a provider's batch interface: at half the price, over as many runs as it takes.

Every batch is noted before it is submitted, and its note removed last: a run that was killed at
any moment leaves a batch that the next one picks up.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from qindex_pipeline.errors import WorkError
from qindex_pipeline.questions.asking.asking import STAGE, Means
from qindex_pipeline.questions.asking.entries import Cause
from qindex_pipeline.questions.asking.notes import Note, Notes
from qindex_pipeline.questions.asking.pending import Pending
from qindex_pipeline.questions.asking.recorder import ATTEMPTS, Call
from qindex_pipeline.questions.generators.generator import (
    Answer,
    Batches,
    BatchState,
    InvalidAnswerError,
    Usage,
)

MOST_REQUESTS = 10_000
"""Requests of a batch: Anthropic takes 100,000 and 256 MB, OpenAI 50,000 and 200 MB; a request
takes up to some 10 kB."""

Outcome = Answer | InvalidAnswerError | None


class Batching:
    """One run's batches."""

    def __init__(
        self,
        means: Means,
        batches: Batches,
        notes: Notes,
        poll: float,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Look at a batch every `poll` seconds."""
        self._means, self._batches, self._notes = means, batches, notes
        self._poll, self._sleep = poll, sleep
        self._waiting: dict[str, Call] = {}
        self._reserved: dict[str, float] = {}

    def ask_all(self, pending: Sequence[Pending]) -> bool:
        """Ask about each chunk that no batch of an earlier run asks about already.

        Returns:
            Whether all were asked; False: the budget's cap was reached.

        Raises:
            WorkError: The provider failed, or the ledger cannot be written.
        """
        self._waiting = {item.key: Call(item) for item in pending}
        try:
            return self._ask_all()
        finally:
            self._notes.leave_all()

    def _ask_all(self) -> bool:
        for note in self._notes.left_behind(self._means.generator.spec):
            self._pick_up(note)
        while self._waiting:
            calls = list(self._fitting())
            if not calls:
                return False
            parts = [
                calls[start : start + MOST_REQUESTS]
                for start in range(0, len(calls), MOST_REQUESTS)
            ]
            for note in [self._submit(part) for part in parts]:
                self._collect(note)
        return True

    def _fitting(self) -> Iterator[Call]:
        """The calls that surely fit under the cap, all at once."""
        for key, call in self._waiting.items():
            estimate = self._means.generator.estimate(call.pending.task)
            reserved = self._means.budget.take(estimate, batch=True)
            if reserved is None:
                return
            self._reserved[key] = reserved
            yield call

    def _submit(self, calls: Sequence[Call]) -> Note:
        note = self._notes.begin(self._means.generator.spec, calls)
        tasks = {key: call.pending.task for key, call in note.calls.items()}
        return self._notes.submitted(note, self._batches.submit(tasks, note.label))

    def _pick_up(self, note: Note) -> None:
        """Go on with a batch of an earlier run; wait for it where this run needs its answers."""
        if note.batch_id is None:
            found = self._batches.find(note.label, len(note.calls))
            if found is None:  # killed before it was submitted
                self._notes.end(note)
                return
            note = self._notes.submitted(note, found)
        is_needed = bool(self._waiting.keys() & note.calls.keys())
        state = self._state(note)
        if state is None or state.ended or is_needed:
            self._collect(note)
        else:
            self._notes.leave(note)

    def _state(self, note: Note) -> BatchState | None:
        assert note.batch_id is not None
        state = self._batches.state(note.batch_id)
        if state is not None:
            line = f"batch {note.batch_id} of {note.spec}"
            self._means.progress(STAGE, state.done, state.total, line)
        return state

    def _collect(self, note: Note) -> None:
        """Wait until a batch has ended, and store each of its answers as it is read."""
        while (state := self._state(note)) is not None and not state.ended:
            self._sleep(self._poll)
        silent = dict(note.calls)
        if state is not None:
            for key, outcome in self._results(note, state):
                call = silent.pop(key, None)
                if call is not None:
                    self._settle(call, outcome)
        for call in silent.values():
            self._settle(call, None)
        self._notes.end(note)

    def _results(self, note: Note, state: BatchState) -> Iterator[tuple[str, Outcome]]:
        assert note.batch_id is not None
        try:
            yield from self._batches.results(note.batch_id)
        except WorkError:
            if state.done == 0:  # refused as a whole: the next run hands it over anew
                self._notes.end(note)
            raise

    def _settle(self, call: Call, outcome: Outcome) -> None:
        key = call.pending.key
        if self._means.recorder.cause(key) is None:
            return  # stored by a run that was killed before it removed the note
        reserved = self._reserved.pop(key, 0.0)
        usage = outcome.usage if outcome is not None else Usage()
        if outcome is None:
            self._means.budget.release(reserved)
        else:
            self._means.budget.charge(reserved, usage, batch=True)
        if isinstance(outcome, Answer):
            self._waiting.pop(key, None)
            self._means.recorder.answered(call, outcome, batch=True)
            return
        failure: Cause = "unanswered" if outcome is None else outcome.failure
        self._again(replace(call, spent=call.spent + usage), failure)

    def _again(self, call: Call, failure: Cause) -> None:
        """Ask in the next round, where the chunk may be asked about once more."""
        key = call.pending.key
        if key not in self._waiting:
            return  # of another run's chunks, which will ask for it
        if call.attempt < ATTEMPTS:
            # The run's own chunk, of which a note holds only what an answer has to be stored with.
            self._waiting[key] = replace(
                self._waiting[key], attempt=call.attempt + 1, spent=call.spent
            )
        else:
            del self._waiting[key]
            self._means.recorder.failed(call, failure, batch=True)

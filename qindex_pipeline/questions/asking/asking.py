"""Asking a generator about many chunks, some calls at a time: bounded, durable, within a budget."""

import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace

from qindex_pipeline.errors import WorkError
from qindex_pipeline.progress import Progress
from qindex_pipeline.questions.asking.budget import Budget
from qindex_pipeline.questions.asking.limiter import Limiter
from qindex_pipeline.questions.asking.pending import Pending
from qindex_pipeline.questions.asking.recorder import ATTEMPTS, Call, Recorder
from qindex_pipeline.questions.generators.generator import (
    Generator,
    InvalidAnswerError,
    Usage,
)

STAGE = "candidate_questions"


@dataclass(frozen=True)
class Means:
    """What a run asks with."""

    generator: Generator
    recorder: Recorder
    budget: Budget
    limiter: Limiter
    progress: Progress


class Asking:
    """One run's single calls."""

    def __init__(self, means: Means, concurrency: int) -> None:
        """Make at most `concurrency` calls at a time, one where nothing waits for a provider."""
        self._means = means
        self._workers = concurrency if means.generator.is_paid else 1
        self._stop = threading.Event()
        self._done = 0

    def ask_all(self, pending: Sequence[Pending]) -> bool:
        """Ask about each chunk; what is answered is stored as it arrives.

        When the provider fails, no further call begins; those in flight still end, and what
        they answer is stored.

        Returns:
            Whether all were asked; False: the budget's cap was reached.

        Raises:
            WorkError: The provider failed, or the ledger cannot be written.
        """
        waiting = deque(Call(item) for item in pending)
        flight: set[Future[Call | None]] = set()
        with ThreadPoolExecutor(self._workers) as pool:
            try:
                while waiting or flight:
                    # No more than can be under way: a queue of thousands would hold them all.
                    while len(flight) < self._workers and (begun := self._begin(pool, waiting)):
                        flight.add(begun)
                    if not flight:
                        return False
                    ended, flight = wait(flight, return_when=FIRST_COMPLETED)
                    self._go_on(ended, waiting, len(pending))
            finally:
                self._stop.set()
        return True

    def _begin(self, pool: ThreadPoolExecutor, waiting: deque[Call]) -> Future[Call | None] | None:
        """The next call under way; None when none is left, or the budget has no room for it."""
        if not waiting:
            return None
        estimate = self._means.generator.estimate(waiting[0].pending.task)
        reserved = self._means.budget.take(estimate)
        if reserved is None:
            return None
        return pool.submit(self._ask, waiting.popleft(), estimate, reserved)

    def _go_on(self, ended: set[Future[Call | None]], waiting: deque[Call], total: int) -> None:
        for future in ended:
            again = future.result()
            if again is not None:
                waiting.appendleft(again)
                continue
            self._done += 1
            self._means.progress(STAGE, self._done, total, self._means.generator.spec)

    def _ask(self, call: Call, estimate: Usage, reserved: float) -> Call | None:
        """Make a call when its turn comes; the call to be made once more, None when none is."""
        turn = self._means.limiter.reserve(estimate.tokens_in + estimate.tokens_out)
        if self._stop.wait(turn):
            return None
        try:
            return self._made(call, estimate, reserved)
        except WorkError:
            # At once: this future is looked at only when the main thread gets to it.
            self._stop.set()
            raise

    def _made(self, call: Call, estimate: Usage, reserved: float) -> Call | None:
        recorder = self._means.recorder
        try:
            answer = self._means.generator.generate(call.pending.task)
        except InvalidAnswerError as error:
            self._charge(error.usage, estimate, reserved)
            failed = replace(call, spent=call.spent + error.usage)
            if call.attempt < ATTEMPTS:
                return replace(failed, attempt=call.attempt + 1)
            recorder.failed(failed, error.failure)
        else:
            self._charge(answer.usage, estimate, reserved)
            recorder.answered(call, answer)
        return None

    def _charge(self, usage: Usage, estimate: Usage, reserved: float) -> None:
        if not self._means.generator.is_paid:
            return
        # Some servers count no tokens; the cap and the limit hold for them all the same.
        taken = usage if usage.tokens_in else estimate
        self._means.budget.charge(reserved, taken)
        self._means.limiter.correct(
            taken.tokens_in + taken.tokens_out - estimate.tokens_in - estimate.tokens_out
        )

"""Asking a generator about many chunks: bounded, durable, counted."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import datetime

from qindex_pipeline.errors import WorkError
from qindex_pipeline.progress import Progress
from qindex_pipeline.questions.generator import Chunk, Generator, InvalidAnswerError
from qindex_pipeline.questions.ledger import Entry, Ledger

Clock = Callable[[], datetime]

ATTEMPTS = 2
"""An answer out of shape is asked for once more; a model that fails twice fails always."""


class Asking:
    """One run's calls; `calls` counts those that cost something."""

    def __init__(self, generator: Generator, ledger: Ledger, now: Clock) -> None:
        """Ask `generator` and store what it answers in `ledger`, dated by `now`."""
        self._generator, self._ledger, self._now = generator, ledger, now
        self._lock = threading.Lock()
        self.calls = 0

    def ask_all(
        self, chunks: Mapping[str, Chunk], concurrency: int, progress: Progress
    ) -> dict[str, Entry]:
        """Answers by input hash, for the chunks that got a valid one.

        When the provider fails, no further call begins; those in flight still end, and what
        they answer is stored.

        Raises:
            WorkError: The provider failed.
        """
        answers: dict[str, Entry] = {}
        workers = concurrency if self._generator.is_paid else 1
        with ThreadPoolExecutor(workers) as pool:
            futures = {pool.submit(self._ask, key, chunk): key for key, chunk in chunks.items()}
            try:
                for done, future in enumerate(as_completed(futures), start=1):
                    entry = future.result()
                    if entry is not None:
                        answers[futures[future]] = entry
                    progress("candidate_questions", done, len(chunks), self._generator.spec)
            except WorkError:
                pool.shutdown(cancel_futures=True)
                raise
        return answers

    def _ask(self, key: str, chunk: Chunk) -> Entry | None:
        for _ in range(ATTEMPTS):
            self._count()
            try:
                entry = Entry(self._generator.generate(chunk), self._now())
            except InvalidAnswerError:
                continue
            if self._generator.is_paid:
                self._ledger.put(key, entry)
            return entry
        return None

    def _count(self) -> None:
        if self._generator.is_paid:
            with self._lock:
                self.calls += 1

"""Asking one index for many clients at once: what may be asked, how much, and what went wrong.

The page and the MCP server ask through it, so that both have the same limits and the same words
for a failure.
"""

from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING

from qindex_pipeline.errors import QIndexError, TransientError, UsageError, WorkError
from qindex_pipeline.query import QIndex
from qindex_pipeline.retrieval.result import Answer
from qindex_pipeline.serving.threads import Threads

if TYPE_CHECKING:
    from qindex_pipeline.settings import Settings

RUNNING = 8
"""Questions that are worked on at once. A search takes milliseconds; most of the time of an answer
is the wait for its model."""

WAITING = 32
"""Questions that wait for their turn, at most: one further behind would wait for minutes."""

SEARCH_SECONDS = 10.0
"""For the search, on top of what a model's call may take."""

MAX_CHARACTERS = 2_000
"""Of a question: more than anybody types, and less than embedders read."""

MAX_TOP_K = 50
"""What each leg returns: there are no more results to show."""

Piece = str | Answer
"""What an answer arrives as: pieces of its text, in the end the whole."""


class NotReadyError(TransientError):
    """There is no index yet that can be asked; one that is published later will be."""


class Asker:
    """Asks an index on behalf of many clients, from an event loop."""

    def __init__(self, index: QIndex, site: str | None = None, seconds: float = 120.0) -> None:
        """Ask `index`.

        Args:
            index: What is asked; it is opened with the first question.
            site: The only site that may be asked; None allows all.
            seconds: How long a model's call may take.
        """
        self._index, self._site = index, site
        self._threads = Threads(RUNNING, WAITING, seconds + SEARCH_SECONDS)
        # Of its own, so that a look at the sites need not wait for models.
        self._looking = Threads(1, WAITING, SEARCH_SECONDS)

    @classmethod
    def of(cls, settings: "Settings", site: str | None) -> "Asker":
        """Ask the index that the settings name."""
        return cls(QIndex(settings), site, settings.llm_timeout)

    async def ask(self, question: str, site: str | None = None, top_k: int | None = None) -> Answer:
        """The whole answer.

        Raises:
            UsageError: The caller's mistake: no question, one that is too long, an unknown site.
            NotReadyError: There is no index that can be asked.
            BusyError: Too many ask at once.
            WorkError: A provider failed, or took too long.
        """
        async with aclosing(self.stream(question, site, top_k)) as pieces:
            return [piece async for piece in pieces if isinstance(piece, Answer)][-1]

    async def search(
        self, question: str, site: str | None = None, top_k: int | None = None
    ) -> Answer:
        """An answer without a text, for its results: no model is asked. Errors as of `ask`."""

        def answer() -> Iterator[Answer]:
            chosen = self._checked(question, site, top_k)
            with _own_trouble():
                yield self._index.ask(question, chosen, top_k, write_answer=False)

        async with aclosing(self._threads.run(answer)) as answers:
            return [found async for found in answers][-1]

    async def stream(
        self, question: str, site: str | None = None, top_k: int | None = None
    ) -> AsyncGenerator[Piece]:
        """The answer while it is written. Errors as of `ask`.

        The first piece, an empty text, comes when the search is done: what is the caller's
        mistake has been raised by then. Closing the generator early ends the writing.
        """

        def pieces() -> Iterator[Piece]:
            chosen = self._checked(question, site, top_k)
            with _own_trouble():
                stream = self._index.stream(question, chosen, top_k)
                yield ""
                yield from stream
                yield stream.answer

        async with aclosing(self._threads.run(pieces)) as written:
            async for piece in written:
                yield piece

    async def sites(self) -> list[str]:
        """The sites that may be asked, in order; raises NotReadyError, BusyError."""
        async with aclosing(self._looking.run(lambda: [self.open()])) as opened:
            return [sites async for sites in opened][-1]

    def open(self) -> list[str]:
        """`sites` for a caller without an event loop: opens the index, or raises NotReadyError."""
        try:
            sites = self._index.sites
        except QIndexError as error:
            # Wrong settings are the server's own trouble too, no mistake of whoever asks.
            raise NotReadyError(str(error)) from error
        return sorted(sites if self._site is None else sites & {self._site})

    @property
    def collection_name(self) -> str:
        """Name of the collection that is asked; raises as `QIndex.models` does."""
        return self._index.models.collection_name

    def close(self, seconds: float = 2.0) -> None:
        """Let what is at work end, for so many seconds, and release the index."""
        self._threads.wait(seconds)
        self._index.close()

    def _checked(self, question: str, site: str | None, top_k: int | None) -> str | None:
        """The site to ask; raises UsageError for what is the caller's mistake."""
        if not question.strip():
            raise UsageError("the question is empty")
        if len(question) > MAX_CHARACTERS:
            raise UsageError(
                f"the question has {len(question):,} characters, more than {MAX_CHARACTERS:,}"
            )
        if top_k is not None and not 1 <= top_k <= MAX_TOP_K:
            raise UsageError(f"top_k is {top_k}, give a number from 1 to {MAX_TOP_K}")
        chosen, sites = site or self._site, self.open()
        if chosen is not None and chosen not in sites:
            raise UsageError(
                f"there is no site {chosen!r} here, there is {', '.join(sites) or 'none'}"
            )
        return chosen


@contextmanager
def _own_trouble() -> Generator[None]:
    """Wrong settings, of whichever kind, are no mistake of whoever asks."""
    try:
        yield
    except UsageError as error:
        raise WorkError(str(error)) from error

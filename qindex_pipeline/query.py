"""Ask a finished collection. This module and what it imports know no Dagster.

from qindex_pipeline.query import QIndex

index = QIndex.from_env()
answer = index.ask("How do I install it?", site="docs.example.com")
print(answer.answer, [citation.url for citation in answer.citations])
"""

import asyncio
import logging
import time
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Self

from qindex_pipeline.profiles import Models
from qindex_pipeline.query_log.recorder import open_recorder
from qindex_pipeline.retrieval.answering.answerer import Answerer, Ended, Part
from qindex_pipeline.retrieval.answering.opening import open_answerer
from qindex_pipeline.retrieval.held import REFRESH_SECONDS, HeldIndex, limits, require_site
from qindex_pipeline.retrieval.legs import LEGS, Leg
from qindex_pipeline.retrieval.normalizing.forms import Normalizer, in_one_line, search_forms
from qindex_pipeline.retrieval.normalizing.model import open_normalizer
from qindex_pipeline.retrieval.result import Answer, reason
from qindex_pipeline.retrieval.result_stream import AnswerStream
from qindex_pipeline.retrieval.search import search

if TYPE_CHECKING:
    from qindex_pipeline.settings import Settings


_LOG = logging.getLogger(__name__)


class QIndex:
    """An index of questions, open for asking.

    Made to be held: threads may ask it at once, and a newly published index is found within
    `refresh_seconds` without a restart. Each question sees one published state throughout.
    """

    def __init__(self, settings: "Settings", *, refresh_seconds: float = REFRESH_SECONDS) -> None:
        """Use the collection that `settings` name; it is opened with the first question.

        Args:
            settings: Where the index is and what it is asked with.
            refresh_seconds: How old the last look for a newer index may be when a question comes.
        """
        self._settings = settings
        self._held = HeldIndex(settings, refresh_seconds)
        self._log = open_recorder(settings)

    @classmethod
    def from_env(cls) -> Self:
        """Open with the settings of the environment."""
        from qindex_pipeline.settings import Settings

        return cls(Settings.from_env())

    def ask(
        self,
        question: str,
        site: str | None = None,
        top_k: int | None = None,
        *,
        threshold: float | None = None,
        legs: Sequence[Leg] = LEGS,
        write_answer: bool = True,
    ) -> Answer:
        """Rank the chunks that answer `question`, and answer from those that pass.

        Args:
            question: What the user asks.
            site: Only this site; None asks all.
            top_k: Results, at most; TOP_K where not given.
            threshold: Confidence a result needs; the site's where not given.
            legs: The legs that rank.
            write_answer: False leaves `answer` None, and asks no model.

        Raises:
            UsageError: Empty question, or a site that the index does not have.
            WorkError: No index, another fingerprint, or a provider that fails.
        """
        started = time.perf_counter()
        ranked = self._rank(question, site, top_k, threshold, legs)
        if write_answer:
            return self._written(ranked, started).answer
        self._log.record(ranked)
        return ranked.after(time.perf_counter() - started)

    def stream(
        self,
        question: str,
        site: str | None = None,
        top_k: int | None = None,
        *,
        threshold: float | None = None,
        legs: Sequence[Leg] = LEGS,
    ) -> AnswerStream:
        """Ask, and read the answer while it is written; arguments and errors as of `ask`.

        stream = index.stream("How do I install it?")
        for text in stream:
            print(text, end="", flush=True)
        print(stream.answer.citations)

        The search is done when this returns; the answerer begins with the first piece of text.
        """
        started = time.perf_counter()
        return self._written(self._rank(question, site, top_k, threshold, legs), started)

    async def aask(
        self,
        question: str,
        site: str | None = None,
        top_k: int | None = None,
        *,
        threshold: float | None = None,
        legs: Sequence[Leg] = LEGS,
        write_answer: bool = True,
    ) -> Answer:
        """`ask` for an event loop, which goes on meanwhile: the work is done in a thread.

        answer = await index.aask("How do I install it?")

        A task that is cancelled stops waiting; the thread ends with its answer.
        """
        return await asyncio.to_thread(
            self.ask,
            question,
            site,
            top_k,
            threshold=threshold,
            legs=legs,
            write_answer=write_answer,
        )

    @property
    def models(self) -> Models:
        """The models that questions are asked with."""
        return self._held.current().models

    @property
    def sites(self) -> frozenset[str]:
        """Keys of the sites that the index has; raises WorkError where nothing was published."""
        return self._held.current().sites

    def close(self) -> None:
        """Release the collection and write the log; a question after this opens it again."""
        self._held.close()
        self._log.close()

    def _rank(
        self,
        question: str,
        site: str | None,
        top_k: int | None,
        threshold: float | None,
        legs: Sequence[Leg],
    ) -> Answer:
        """The answer before its text is written: what was found, and what of it passes."""
        asked = in_one_line(question, "ask")
        index = self._held.current()
        require_site(index, site)
        forms = search_forms(asked, self._normalize, index.subject(site))
        limit_of = limits(self._settings, index, threshold)
        results = search(index, forms, site, top_k or self._settings.top_k, limit_of, legs)
        limit = limit_of(site or (results[0].site if results else None))
        refused = not any(result.confident for result in results)
        return Answer(
            question=question,
            normalized_query=forms[-1],
            site=site,
            threshold=limit,
            refused=refused,
            reason=reason(results, limit) if refused else None,
            answer=None,
            citations=[],
            results=results,
            fingerprint=index.collection.manifest.fingerprint.digest,
            seconds=0.0,
        )

    def _written(self, ranked: Answer, started: float) -> AnswerStream:
        """The answer as it is written; it is logged once it is whole, or nobody reads on."""
        return AnswerStream(ranked, self._log.follow(ranked, self._parts(ranked)), started)

    def _parts(self, ranked: Answer) -> Iterable[Part]:
        """What the answerer writes; it is not asked when nothing passes."""
        if ranked.reason is not None:
            return [Ended(refused=True, reason=ranked.reason)]
        return self._answerer.stream(" ".join(ranked.question.split()), ranked.passing)

    @cached_property
    def _normalize(self) -> Normalizer:
        return open_normalizer(self._settings, self.models.answerer, _LOG.warning)

    @cached_property
    def _answerer(self) -> Answerer:
        return open_answerer(self.models.answerer, self._settings)

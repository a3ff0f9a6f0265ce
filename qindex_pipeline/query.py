"""Ask a finished collection. This module and what it imports know no Dagster.

from qindex_pipeline.query import QIndex
answer = QIndex.from_env().ask("How do I install it?", site="docs.example.com")
"""

import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, cast

from qindex_pipeline.embedding.embedder import Embedder
from qindex_pipeline.errors import UsageError
from qindex_pipeline.ids import point_id
from qindex_pipeline.index.engine import Collection
from qindex_pipeline.index.sparse import Bm25Model
from qindex_pipeline.profiles import Models, confidence_threshold
from qindex_pipeline.retrieval.answerer import Answerer, open_answerer
from qindex_pipeline.retrieval.fusion import Ranked, fuse
from qindex_pipeline.retrieval.legs import LEGS, Hits, Leg, ask_legs
from qindex_pipeline.retrieval.opening import index_embedder, open_collection
from qindex_pipeline.retrieval.result import REFUSAL, Answer, Result, citations, judge, reason

if TYPE_CHECKING:
    from qindex_pipeline.settings import Settings


class QIndex:
    """An index of questions, open for asking; cheap to hold, reopened with `QIndex(...)`."""

    def __init__(self, settings: "Settings") -> None:
        """Use the collection that `settings` name; it is opened with the first question."""
        self._settings = settings

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
        normalized = " ".join(question.split())
        if not normalized:
            raise UsageError('the question is empty: qindex ask "How do I …?"')
        self._require_site(site)
        limit = self._threshold(threshold)
        results = self._results(normalized, site, top_k, limit, legs)
        passing = [result for result in results if result.confident]
        answer = None
        if write_answer:
            answer = self._answerer.answer(normalized, passing) if passing else REFUSAL
        refused = not passing or answer == REFUSAL
        return Answer(
            question=question,
            normalized_query=normalized,
            site=site,
            threshold=limit,
            refused=refused,
            reason=reason(results, passing, limit) if refused else None,
            answer=answer,
            citations=[] if refused else citations(passing),
            results=results,
            fingerprint=self._collection.manifest.fingerprint.digest,
            seconds=round(time.perf_counter() - started, 4),
        )

    @property
    def models(self) -> Models:
        """The models that questions are asked with."""
        return self._opened[1]

    def close(self) -> None:
        """Release the collection."""
        self._collection.close()

    def _results(
        self,
        question: str,
        site: str | None,
        top_k: int | None,
        limit: float,
        legs: Sequence[Leg],
    ) -> list[Result]:
        vector = cast("list[float]", self._embedder.embed([question])[0].tolist())
        # Without a dense leg there would be no cosine to judge a result by.
        asked: tuple[Leg, ...] = tuple(legs) if set(legs) - {"bm25"} else ("passage", *legs)
        hits = ask_legs(self._collection, asked, vector, self._bm25.query(question), site)
        ranked = fuse(hits, legs)[: top_k or self._settings.top_k]
        texts = self._passages(ranked, hits)
        return [
            judge(rank, item, texts[item.chunk_id], limit)
            for rank, item in enumerate(ranked, start=1)
        ]

    def _passages(self, ranked: Sequence[Ranked], hits: Hits) -> dict[str, Mapping[str, Any]]:
        """The payload that carries each chunk's text: seen by a leg, else read by its id."""
        seen = {
            chunk: hit.payload
            for leg in hits
            if leg != "question"
            for chunk, hit in hits[leg].items()
            if "text" in hit.payload
        }
        missing = [item.chunk_id for item in ranked if item.chunk_id not in seen]
        read = self._collection.retrieve([point_id(chunk) for chunk in missing]) if missing else {}
        return {
            item.chunk_id: seen.get(item.chunk_id) or read[point_id(item.chunk_id)]
            for item in ranked
        }

    def _threshold(self, given: float | None) -> float:
        if given is not None:
            return given
        built_with = self._collection.manifest.fingerprint.embedder
        return confidence_threshold(self._settings, built_with)

    def _require_site(self, site: str | None) -> None:
        if site is not None and site not in self._sites:
            raise UsageError(
                f"the index has no site {site!r}; it has {', '.join(sorted(self._sites))}"
            )

    @cached_property
    def _sites(self) -> dict[str, int]:
        return self._collection.sites()

    @cached_property
    def _bm25(self) -> Bm25Model:
        return Bm25Model()

    @cached_property
    def _answerer(self) -> Answerer:
        return open_answerer(self.models.answerer, self._settings)

    @cached_property
    def _opened(self) -> tuple[Collection, Models]:
        return open_collection(self._settings)

    @property
    def _collection(self) -> Collection:
        return self._opened[0]

    @cached_property
    def _embedder(self) -> Embedder:
        collection, models = self._opened
        return index_embedder(collection.manifest, models, self._settings)

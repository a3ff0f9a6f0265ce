"""Explaining a question: the search that `ask` makes, with all that it found, kept and left out."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from qindex_pipeline.explaining.forms import explained_forms
from qindex_pipeline.explaining.gathering.records import RecordsOfSites
from qindex_pipeline.explaining.gathering.searched import (
    Searched,
    search,
    section_of,
    sections,
)
from qindex_pipeline.explaining.model.explanation import Candidate, Explanation, Fused, Shown
from qindex_pipeline.explaining.model.facts import Page, Section
from qindex_pipeline.explaining.pages import Wanted, explained_page, site_of
from qindex_pipeline.explaining.thresholds import explained_threshold
from qindex_pipeline.retrieval.fusion import BM25_WEIGHT, DENSE_WEIGHT
from qindex_pipeline.retrieval.held import HeldIndex, limits, require_site
from qindex_pipeline.retrieval.legs import LEGS, Leg
from qindex_pipeline.retrieval.normalizing.forms import in_one_line, search_forms
from qindex_pipeline.retrieval.normalizing.model import open_normalizer
from qindex_pipeline.retrieval.result import Result, reason

if TYPE_CHECKING:
    from qindex_pipeline.settings import Settings

_LOG = logging.getLogger(__name__)

LISTED = 10
"""Candidates of a leg, and of the fused order, that are shown; more where more results are."""


@dataclass(frozen=True)
class Request:
    """What is to be explained.

    Attributes:
        question: As for `ask`.
        site: As for `ask`.
        page: The page that should have won, as a URL or a path, with or without an anchor.
        threshold: As for `ask`.
        top_k: As for `ask`.
    """

    question: str
    site: str | None = None
    page: str | None = None
    threshold: float | None = None
    top_k: int | None = None


def explain(settings: "Settings", request: Request) -> Explanation:
    """Search a question as `ask` does, and say why it got the results that it got.

    No answer is written, so that no model is asked.

    Raises:
        UsageError: Empty question, a site that the index does not have, or a page that is in
            several sites or lacks the section.
        WorkError: No index, another fingerprint, or an embedder that fails.
    """
    asked = in_one_line(request.question, "explain")
    with closing(HeldIndex(settings)) as held:
        index = held.current()
        require_site(index, request.site)
        normalize = open_normalizer(settings, index.models.answerer, _LOG.warning)
        forms = search_forms(asked, normalize, index.subject(request.site))
        top_k = request.top_k or settings.top_k
        limit = limits(settings, index, request.threshold)
        searched = search(index, forms, request.site, top_k, limit)
        return _explanation(settings, request, searched, top_k)


def _explanation(
    settings: "Settings", request: Request, searched: Searched, top_k: int
) -> Explanation:
    index, results = searched.index, searched.results
    located = sections(index.collection, [item.chunk_id for item in searched.ranked])
    records = RecordsOfSites(settings)
    site = request.site or (results[0].site if results else None)
    threshold = explained_threshold(settings, index, request.threshold, site)
    model = index.models.answerer if settings.normalize == "model" else None
    count = max(LISTED, top_k)
    return Explanation(
        question=request.question,
        site=request.site,
        forms=explained_forms(searched.forms, index.subject(request.site), model),
        threshold=threshold,
        refused=not any(result.confident for result in results),
        decision=_decision(results, threshold.value, index.models.answerer),
        results=[_shown(result, records) for result in results],
        fused=_fused(searched, located, limits(settings, index, request.threshold))[:count],
        legs={leg: _candidates(searched, located, leg)[:count] for leg in LEGS},
        candidates={leg: len(searched.hits[leg]) for leg in LEGS} | {"fused": len(searched.ranked)},
        weights={"dense": DENSE_WEIGHT, "bm25": BM25_WEIGHT},
        page=_page(searched, located, records, request, top_k),
        notes=records.notes,
    )


def _decision(results: Sequence[Result], limit: float, answerer: str) -> str:
    """Why the question is answered or refused."""
    passing = sum(result.confident for result in results)
    if not passing:
        return f"refused: {reason(results, limit)}"
    of = f"{passing} of {len(results)} results"
    return f"answered: {of} reach the threshold {limit:.2f}; {answerer} writes from them"


def _shown(result: Result, records: RecordsOfSites) -> Shown:
    asked = result.matched_question
    known = records.of(result.site)
    return Shown(
        rank=result.rank,
        section=section_of(vars(result)),
        confidence=result.confidence,
        confident=result.confident,
        question=asked,
        evidence=result.evidence,
        made=None if asked is None else known.made(result.chunk_id, asked),
    )


def _fused(
    searched: Searched, located: Mapping[str, Section], limit: Callable[[str], float]
) -> list[Fused]:
    return [
        Fused(
            rank=rank,
            score=item.score,
            dense=searched.parts[item.chunk_id].dense,
            bm25=searched.parts[item.chunk_id].bm25,
            confidence=item.confidence,
            confident=item.confidence >= limit(located[item.chunk_id].site),
            section=located[item.chunk_id],
            question=_question_of(item.question),
        )
        for rank, item in enumerate(searched.ranked, start=1)
        if item.chunk_id in located
    ]


def _candidates(searched: Searched, located: Mapping[str, Section], leg: Leg) -> list[Candidate]:
    hits = sorted(searched.hits[leg].items(), key=lambda pair: (-pair[1].score, pair[0]))
    return [
        Candidate(rank, hit.score, located[chunk], _question_of(hit.payload))
        for rank, (chunk, hit) in enumerate(hits, start=1)
        if chunk in located
    ]


def _question_of(payload: Mapping[str, Any] | None) -> str | None:
    return None if payload is None else payload.get("question")


def _page(
    searched: Searched,
    located: Mapping[str, Section],
    records: RecordsOfSites,
    request: Request,
    top_k: int,
) -> Page | None:
    if request.page is None:
        return None
    settings, index = records.settings, searched.index
    site = request.site or site_of(request.page, index, records)
    threshold = explained_threshold(settings, index, request.threshold, site)
    wanted = Wanted(
        request.page, site, records.options.get(site), records.of(site), threshold, top_k
    )
    return explained_page(searched, located, wanted)

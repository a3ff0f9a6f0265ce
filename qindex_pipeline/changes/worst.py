"""The pages that give too few questions: where a person should look first."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from qindex_pipeline.changes.pages import PublishedPage, Row
from qindex_pipeline.chunking.duplicates import kept
from qindex_pipeline.questions.filters.navigation import is_navigation

WORST = 10
"""Pages that a report names."""


@dataclass(frozen=True)
class WorstPage:
    """A page most of whose questions were rejected, or that has none.

    `chunks` counts those that are asked about: no repetition and no navigation. `reason` names
    the filter that rejected most; None where nothing was proposed.
    """

    url: str
    title: str
    chunks: int
    proposed: int
    accepted: int
    reason: str | None


def worst_pages(
    pages: Sequence[PublishedPage], chunks: Sequence[Row], questions: Sequence[Row]
) -> list[WorstPage]:
    """The ten pages with the fewest accepted questions a chunk, the longest first among equals.

    Only pages without an accepted question, and those of whose questions less than half were
    accepted. A page of links or of repetitions is not asked about, so it has nothing to answer for.
    """
    asked = Counter(chunk["page_id"] for chunk in kept(chunks) if not is_navigation(chunk))
    page_of = {chunk["chunk_id"]: chunk["page_id"] for chunk in chunks}
    reasons: defaultdict[str | None, Counter[str]] = defaultdict(Counter)
    for question in questions:
        if question["reject_reason"] is not None:
            reasons[page_of.get(question["chunk_id"])][question["reject_reason"]] += 1
    found = [
        WorstPage(
            url=page.url,
            title=page.title,
            chunks=asked[page.page_id],
            proposed=len(page.proposed),
            accepted=len(page.accepted),
            reason=_most(reasons[page.page_id]),
        )
        for page in pages
        if asked[page.page_id] and (not page.accepted or len(page.accepted) < len(page.rejected))
    ]
    found.sort(key=lambda page: (page.accepted / page.chunks, -page.chunks, page.url))
    return found[:WORST]


def _most(reasons: Counter[str]) -> str | None:
    return min(reasons, key=lambda name: (-reasons[name], name), default=None)

"""The verdict on a page of which nothing is in the collection."""

from collections.abc import Sequence

from qindex_pipeline.explaining.model.facts import Crawled, PageChunk, Section, Verdict
from qindex_pipeline.explaining.verdicts.advice import advice_for_outcome
from qindex_pipeline.explaining.verdicts.wording import listed

_DUPLICATES = ("duplicate_url", "duplicate_content")
_OUTSIDE = ("out_of_scope", "out_of_scope_redirect")


def unfound(
    crawled: Crawled | None, chunks: Sequence[PageChunk], originals: Sequence[Section]
) -> Verdict:
    """Why a page has nothing that could be found.

    Args:
        crawled: What the crawl says of it; None where its table is not at hand.
        chunks: The page's chunks, by the tables.
        originals: What its chunks repeat.
    """
    if chunks and all(chunk.duplicate_of for chunk in chunks):
        pages = listed(list(dict.fromkeys(section.citation for section in originals)))
        text = f"All its text stands on other pages too, which are found in its place: {pages}."
        return Verdict("duplicate_chunk", None, text)
    if chunks:
        text = "It has text and questions in the tables, but nothing of it is in the collection."
        advice = ["Run `qindex rebuild`, or look at the evaluation that held the site's last run."]
        return Verdict("not_published", None, text, advice)
    if crawled is None:
        text = "Nothing of it is in the collection, and the crawl's table is not at hand."
        return Verdict("no_chunk", None, text)
    return _by_crawl(crawled)


def _by_crawl(crawled: Crawled) -> Verdict:
    detail = f" ({crawled.detail})" if crawled.detail else ""
    outcome = crawled.outcome or ""
    if outcome in _OUTSIDE:
        text = f"It does not belong to the site{detail}."
        return Verdict("out_of_scope", None, text, advice_for_outcome(outcome))
    if crawled.state is None:
        text = f"It was never crawled: {crawled.detail}."
        advice = ["Link to the page, list it in the sitemap, or raise `max_pages`; ingest again."]
        return Verdict("not_crawled", None, text, advice)
    if outcome in _DUPLICATES:
        what = "address" if outcome == "duplicate_url" else "content"
        text = f"It is the {what} of another page of the site, which is found in its place{detail}."
        return Verdict("duplicate_page", None, text)
    if crawled.state == "gone":
        text = f"It is no page of the site any more: its outcome was {outcome}{detail}."
        return Verdict("gone", None, text, advice_for_outcome(outcome))
    if crawled.state == "unknown":
        text = f"It could not be read: its outcome was {outcome}{detail}."
        return Verdict("unknown", None, text, advice_for_outcome(outcome))
    text = "It was read, but has no text that became a chunk."
    return Verdict("no_chunk", None, text, advice_for_outcome("empty_content"))

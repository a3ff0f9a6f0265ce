"""A page that should have won, as people read it: verdict, crawl, chunks, questions."""

from collections.abc import Iterator

from qindex_pipeline.explaining.model.facts import Asked, Crawled, OnLeg, Page, PageChunk, Standing
from qindex_pipeline.explaining.text.lines import address, cut, grid, wrapped

MOST_CHUNKS = 10
"""Chunks of a page that are listed; the JSON output has them all."""

MOST_QUESTIONS = 8
"""Questions of its best chunk that are listed; likewise."""


def page_lines(page: Page) -> Iterator[str]:
    """The page, the verdict on it first."""
    yield from wrapped(f"{page.asked} ({page.site})", " " * 10, "Page      ")
    yield from wrapped(f"{page.verdict.text} [{page.verdict.kind}]", " " * 10, "Verdict   ")
    for number, advice in enumerate(page.verdict.advice):
        yield from wrapped(advice, " " * 10, "To do     " if number == 0 else None)
    if page.crawled is not None:
        yield from wrapped(crawl_line(page.crawled), " " * 10, "Crawl     ")
    if page.rank is not None:
        yield f"Rank      {page.rank} of the chunks, {page.page_rank} of the pages"
    if not page.chunks:
        return
    chunks = sorted(page.chunks, key=_best_first)
    yield f"Chunks    {len(page.chunks)}, the best first; * = the leg returned it"
    yield from grid(
        ("fused", "passage", "question", "bm25", "questions", "section"),
        (_chunk_row(chunk) for chunk in chunks[:MOST_CHUNKS]),
    )
    yield from _left_out(len(chunks) - MOST_CHUNKS, "chunks")
    if chunks[0].questions:
        yield "Questions of the best chunk, nearest first"
        yield from _question_lines(chunks[0])


def crawl_line(crawled: Crawled) -> str:
    """What the crawl says of a page: outcome, state, and what is known beside them."""
    state = f", {crawled.state}" if crawled.state else ""
    detail = f" ({crawled.detail})" if crawled.detail else ""
    return f"{crawled.outcome or 'never asked'}{state}{detail}: {crawled.url}"


def _best_first(chunk: PageChunk) -> tuple[float, float]:
    standing = chunk.standing
    if standing is None:
        return float("inf"), 1.0
    dense = [
        on.score for leg, on in standing.legs.items() if leg != "bm25" and on.score is not None
    ]
    rank = float("inf") if standing.fused_rank is None else standing.fused_rank
    return rank, -max(dense, default=-1.0)


def _chunk_row(chunk: PageChunk) -> tuple[str, ...]:
    accepted = sum(asked.accepted for asked in chunk.questions)
    rejected = len(chunk.questions) - accepted
    counts = f"{accepted}" + (f" of {accepted + rejected}" if rejected else "")
    where = address(chunk.section.url, chunk.section.anchor)
    if chunk.standing is None:
        why = f"repeats {chunk.duplicate_of[:8]}" if chunk.duplicate_of else "not in the index"
        return ("-", "-", "-", "-", counts, f"{where}  {why}")
    return (*_ranks(chunk.standing), counts, where)


def _ranks(standing: Standing) -> tuple[str, ...]:
    rank = "-" if standing.fused_rank is None else str(standing.fused_rank)
    return (rank, *(_on_leg(standing.legs[leg]) for leg in ("passage", "question", "bm25")))


def _on_leg(on_leg: OnLeg) -> str:
    if on_leg.score is None:
        return "-"
    rank = "far" if on_leg.rank is None else str(on_leg.rank)
    return f"{rank}{'*' if on_leg.returned else ''} {on_leg.score:.2f}"


def _question_lines(chunk: PageChunk) -> Iterator[str]:
    shown = sorted(chunk.questions, key=_nearest_first)[:MOST_QUESTIONS]
    yield from grid(
        ("cosine", "verdict", "question"),
        (
            ("" if one.cosine is None else f"{one.cosine:.2f}", verdict_of(one), one.question)
            for one in shown
        ),
    )
    yield from _left_out(len(chunk.questions) - MOST_QUESTIONS, "questions")


def verdict_of(asked: Asked) -> str:
    """`accepted`, `kept`, `human`, or the filters that reject it."""
    if not asked.accepted:
        return cut(f"rejected: {', '.join(asked.objections)}", 40)
    if asked.made is None or asked.made.origin == "generated":
        return "accepted"
    return asked.made.origin


def _nearest_first(asked: Asked) -> float:
    return 2.0 if asked.cosine is None else -asked.cosine


def _left_out(count: int, what: str) -> Iterator[str]:
    if count > 0:
        yield f"  … {count} more {what}; --json lists all"

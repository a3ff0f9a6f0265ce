"""Answers and rows made by hand."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from qindex_pipeline.retrieval.result import Answer, Result

MONDAY = datetime(2026, 3, 2, 12, tzinfo=UTC)


def result(url: str, confidence: float = 0.7, limit: float = 0.4) -> Result:
    return Result(
        rank=1,
        chunk_id=url,
        site="docs",
        url=url,
        anchor="part",
        title="Guide",
        heading_path=[],
        text="A text.",
        matched_question=None,
        evidence=None,
        confidence=confidence,
        confident=confidence >= limit,
        score=confidence,
        legs={},
    )


def answer(question: str, *results: Result, site: str | None = None) -> Answer:
    refused = not any(item.confident for item in results)
    return Answer(
        question=question,
        normalized_query=question,
        site=site,
        threshold=0.4,
        refused=refused,
        reason="nothing was found" if refused else None,
        answer=None,
        citations=[],
        results=list(results),
        fingerprint="f",
        seconds=0.0,
    )


def log_row(question: str = "How?", at: datetime = MONDAY, **values: Any) -> dict[str, Any]:
    """A row of the query log: answered well by one page, unless `values` say otherwise."""
    row: dict[str, Any] = {
        "ask_id": str(uuid4()),
        "asked_at": at,
        "site": "docs",
        "question": question,
        "confidence": 0.8,
        "threshold": 0.4,
        "refused": False,
        "pages": ["http://docs/guide"],
        "nearest": "http://docs/guide",
    }
    return row | values

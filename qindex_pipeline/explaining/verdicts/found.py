"""A page that is in the collection, looked at from all sides, and the contest that it lost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from qindex_pipeline.embedding.places import places
from qindex_pipeline.embedding.windows import place
from qindex_pipeline.explaining.gathering.records import Records
from qindex_pipeline.explaining.gathering.searched import Searched, sections
from qindex_pipeline.explaining.model.facts import Asked, Section
from qindex_pipeline.explaining.verdicts.contest import Contest, Side, best_side, best_sides
from qindex_pipeline.explaining.verdicts.questions import (
    embedded_questions,
    fused_rank_with,
    questions_of,
)
from qindex_pipeline.explaining.verdicts.standings import DeepLegs, deep_legs, standing
from qindex_pipeline.explaining.verdicts.words import words_in


@dataclass(frozen=True)
class Found:
    """A page's chunks in a search.

    Attributes:
        searched: The search.
        sides: The page's chunks, by id.
        winner: The first chunk that is not the page's; None where there is no other.
        questions: The page's questions by chunk.
        where: The place of each of its chunks, which is embedded before its texts.
        total: All chunks that were asked.
    """

    searched: Searched
    sides: Mapping[str, Side]
    winner: Side | None
    questions: Mapping[str, Sequence[Asked]]
    where: Mapping[str, str]
    total: int


def found_page(searched: Searched, records: Records, chunks: Mapping[str, Section]) -> Found:
    """Look at the chunks of a page, all of them in the collection.

    Args:
        searched: The search.
        records: What the tables know of the page's site.
        chunks: Where each of its chunks stands.
    """
    winner = next((item.chunk_id for item in searched.ranked if item.chunk_id not in chunks), None)
    others = [] if winner is None else [winner]
    deep = deep_legs(searched, [*chunks, *others])
    best = sections(searched.index.collection, others)
    where = _places(records, chunks)
    return Found(
        searched=searched,
        sides={chunk: _side(searched, deep, section) for chunk, section in chunks.items()},
        winner=_side(searched, deep, best[winner]) if winner in best else None,
        questions=questions_of(searched, deep, records, list(chunks), where),
        where=where,
        total=len(deep.scores["passage"]),
    )


def contest_of(found: Found, top_k: int) -> Contest:
    """The contest of a page's best chunk against the winner.

    Args:
        found: The page.
        top_k: Results that a reader gets.
    """
    searched, sides = found.searched, list(found.sides.values())
    own = best_side(sides)
    winner = found.winner or own
    ids = [own.section.chunk_id, winner.section.chunk_id]
    words = words_in(searched, ids, found.total)
    return Contest(
        own=own,
        winner=found.winner,
        top_k=top_k,
        best=best_sides(sides),
        ahead=(
            sum(part.dense > own.standing.dense for part in searched.parts.values()),
            sum(part.bm25 > own.standing.bm25 for part in searched.parts.values()),
        ),
        missing=words.missing(ids[0]),
        decisive=words.decisive(*ids),
        questions=found.questions[own.section.chunk_id],
        rejected=_rejected(found),
        as_human=_as_human(found, own.section.chunk_id),
    )


def _side(searched: Searched, deep: DeepLegs, section: Section) -> Side:
    chunk = section.chunk_id
    asked = deep.own["question"].get(chunk)
    question = None if asked is None else str(asked.payload["question"])
    return Side(section, standing(searched, deep, chunk), question)


def _places(records: Records, chunks: Mapping[str, Section]) -> dict[str, str]:
    known = {} if records.chunks is None else places(records.chunks)
    return {
        chunk: known.get(chunk) or place(section.title, section.heading_path)
        for chunk, section in chunks.items()
    }


def _rejected(found: Found) -> tuple[Section, Asked] | None:
    """The rejected question that would have lifted its chunk most."""
    lifted = [
        (asked.fused_rank, found.sides[chunk].section, asked)
        for chunk, questions in found.questions.items()
        for asked in questions
        if asked.fused_rank is not None
    ]
    best = min(lifted, key=lambda each: each[0], default=None)
    return None if best is None else best[1:]


def _as_human(found: Found, chunk: str) -> int | None:
    """The rank of a chunk if what was asked were one of its questions."""
    row = {"chunk_id": chunk, "question": found.searched.forms[0], "evidence": ""}
    near = embedded_questions(found.searched, [row], found.where)
    return next((fused_rank_with(found.searched, chunk, hit) for hit in near.values()), None)

"""Stage grounded_questions: the verdict on every candidate.

The filters stand in one order. Each is asked about every candidate that it can judge, the first
that objects names the reason. What looks at vectors is asked only about what the others leave.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from qindex_pipeline.questions.filters.duplicates import (
    MOST_TARGETS,
    nearly_repeated,
    repeated,
    targets,
)
from qindex_pipeline.questions.filters.form import is_malformed
from qindex_pipeline.questions.filters.grounding import (
    MIN_SHARED_WORDS,
    shared_terms,
    shared_words,
)
from qindex_pipeline.questions.filters.language import is_other_language, language_of
from qindex_pipeline.questions.filters.stand_alone import points_elsewhere
from qindex_pipeline.questions.filters.terms import Text, terms

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Row = Mapping[str, Any]

FORM, LANGUAGE, STAND_ALONE = "form", "language", "stand_alone"
EVIDENCE, GROUNDING, DUPLICATE = "evidence", "grounding", "duplicate"
BANNED, ROUND_TRIP = "banned", "round_trip"

FILTERS = (
    FORM, LANGUAGE, STAND_ALONE, EVIDENCE, GROUNDING, DUPLICATE, BANNED, ROUND_TRIP
)  # fmt: skip
"""Every filter by name, in the order in which they are asked."""

HUMAN = "human"
"""Origin of what people ask for: only its evidence is judged."""


@dataclass(frozen=True)
class Tools:
    """What the filters cannot do themselves.

    Attributes:
        embed: Unit vectors of questions, one a row; None: what needs them is left out.
        rank: The rank of each question's own chunk among all of its site, from 1; is given rows
            that `embed` was given before.
        is_banned: Whether people ban a question from the page at a URL.
    """

    embed: "Callable[[Sequence[Row]], npt.NDArray[np.float32]] | None" = None
    rank: Callable[[Sequence[Row]], Sequence[int]] | None = None
    is_banned: Callable[[str, str], bool] = lambda _url, _question: False


def judge_questions(
    candidates: Sequence[Row],
    chunks: Sequence[Row],
    tools: Tools = Tools(),
    round_trip_k: int | None = None,
) -> list[dict[str, Any]]:
    """Every candidate with its verdict.

    Args:
        candidates: Rows of the candidate_questions table.
        chunks: Rows of the chunks table they were made from.
        tools: Vectors, ranks, and what people ban.
        round_trip_k: A question must find its chunk among so many; None: it need not.

    Returns:
        Rows of the grounded_questions table, in the order of `candidates`.
    """
    passages = {chunk["chunk_id"]: _Passage(chunk) for chunk in chunks}
    rows = [
        _judged_by_text(candidate, passages.get(candidate["chunk_id"]), tools.is_banned)
        for candidate in candidates
    ]
    _reject_repeated(rows, repeated(_standing(rows)))
    _judge_by_vectors(rows, tools, round_trip_k)
    for row in rows:
        row["objections"].sort(key=FILTERS.index)
        row["reject_reason"] = next(iter(row["objections"]), None)
        row["accepted"] = not row["objections"]
    return rows


@dataclass(frozen=True)
class _Passage:
    """A chunk as the filters read it."""

    chunk: Row

    @cached_property
    def whole(self) -> str:
        chunk = self.chunk
        return "\n".join([chunk["title"], *chunk["heading_path"], chunk["text"]])

    @cached_property
    def language(self) -> str | None:
        return language_of(self.chunk["lang"], self.whole)

    @cached_property
    def own(self) -> Text:
        return Text(self.chunk["text"], self.language)

    @cached_property
    def place(self) -> Text:
        return Text("\n".join([self.chunk["title"], *self.chunk["heading_path"]]), self.language)

    @cached_property
    def in_one_line(self) -> str:
        return _in_one_line(self.chunk["text"])


def _judged_by_text(
    candidate: Row, passage: _Passage | None, is_banned: Callable[[str, str], bool]
) -> dict[str, Any]:
    """The candidate with what can be said of it alone; a chunk that is gone holds no evidence."""
    question = candidate["question"]
    row: dict[str, Any] = dict(candidate) | {
        "accepted": False,
        "reject_reason": None,
        "objections": [EVIDENCE],
        "shared_words": [],
        "seed_grounded": False,
        "shared_terms": [],
        "round_trip_rank": None,
        "duplicate_of": None,
        "targets": [],
        "ambiguous": False,
    }
    if passage is None:
        return row
    shared = shared_terms(terms(question, passage.language), passage.own, passage.place)
    words = shared_words(question, passage.chunk["text"])
    objects = {EVIDENCE: not _is_verbatim(candidate["evidence"], passage.in_one_line)}
    if candidate["origin"] != HUMAN:
        objects |= {
            FORM: is_malformed(question),
            LANGUAGE: is_other_language(question, passage.language, passage.whole),
            STAND_ALONE: points_elsewhere(question),
            GROUNDING: not shared.is_grounded,
            BANNED: is_banned(passage.chunk["url"], question),
        }
    return row | {
        "objections": [name for name, does in objects.items() if does],
        "shared_words": words,
        "seed_grounded": len(words) >= MIN_SHARED_WORDS,
        "shared_terms": [*shared.own, *shared.context],
    }


def _standing(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if not row["objections"]]


def _reject_repeated(rows: Sequence[dict[str, Any]], repeats: Mapping[str, str]) -> None:
    for row in _standing(rows):
        stays = repeats.get(row["question_id"])
        if stays is not None and row["origin"] != HUMAN:
            row["objections"].append(DUPLICATE)
            row["duplicate_of"] = stays


def _judge_by_vectors(
    rows: Sequence[dict[str, Any]], tools: Tools, round_trip_k: int | None
) -> None:
    """Near repetitions, ranks and targets of what stands; each question is embedded once."""
    asked = _standing(rows)
    vectors = tools.embed(asked) if tools.embed is not None and asked else None
    if vectors is not None:
        _reject_repeated(asked, nearly_repeated(asked, vectors))
    if tools.rank is not None:
        _judge_ranks(_standing(asked), tools.rank, round_trip_k)
    left = [number for number, row in enumerate(asked) if not row["objections"]]
    standing = [asked[number] for number in left]
    led = targets(standing, None if vectors is None else vectors[left])
    for row, others in zip(standing, led, strict=True):
        row["targets"] = others
        row["ambiguous"] = len(others) + 1 > MOST_TARGETS


def _judge_ranks(
    rows: Sequence[dict[str, Any]],
    rank: Callable[[Sequence[Row]], Sequence[int]],
    round_trip_k: int | None,
) -> None:
    for row, found in zip(rows, rank(rows), strict=True):
        row["round_trip_rank"] = found
        if round_trip_k is not None and found > round_trip_k and row["origin"] != HUMAN:
            row["objections"].append(ROUND_TRIP)


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _is_verbatim(evidence: str, in_one_line: str) -> bool:
    """Whether the evidence stands in a text; line breaks count as spaces."""
    wanted = _in_one_line(evidence)
    return bool(wanted) and wanted in in_one_line

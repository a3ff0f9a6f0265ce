"""An explanation as people read it: what was searched and decided, then the page, then the legs."""

from collections.abc import Iterator, Mapping

from qindex_pipeline.explaining.model.explanation import Candidate, Explanation, Fused, Shown
from qindex_pipeline.explaining.model.facts import Made, Section
from qindex_pipeline.explaining.text.lines import address, cut, grid, wrapped
from qindex_pipeline.explaining.text.page_text import page_lines
from qindex_pipeline.retrieval.legs import Leg

LONGEST_EVIDENCE = 300
"""Characters of evidence that are printed; the JSON output has it all."""

_LONGEST_PLACE = 50

_LEGS: Mapping[Leg, str] = {
    "passage": "Passage leg: texts, by cosine",
    "question": "Question leg: accepted questions, by cosine",
    "bm25": "BM25 leg: words of the text, the headings and the questions",
}


def explanation_lines(found: Explanation) -> Iterator[str]:
    """All lines of `qindex explain`."""
    many = len({row.section.site for row in found.fused}) > 1
    yield from wrapped(found.question, " " * 10, "Question  ")
    for number, form in enumerate(found.forms, start=1):
        label = "Searched  " if number == 1 else " " * 10
        yield from wrapped(f"{form.text}  ({form.made_by})", " " * 10, label)
    threshold = found.threshold
    yield from wrapped(f"{threshold.value:.2f}, {threshold.detail}", " " * 10, "Threshold ")
    yield from wrapped(found.decision, " " * 10, "Decision  ")
    yield ""
    yield "Results"
    for result in found.results:
        yield from _result_lines(result, many)
    if found.page is not None:
        yield ""
        yield from page_lines(found.page)
    yield ""
    yield from _fused_lines(found, many)
    for leg, candidates in found.legs.items():
        yield ""
        yield f"{_LEGS[leg]} ({found.candidates[leg]} chunks)"
        yield from grid(
            ("rank", "score", "section", "question" if leg == "question" else "title"),
            (_candidate_row(candidate, leg, many) for candidate in candidates),
        )
    for note in found.notes:
        yield ""
        yield from wrapped(note, " " * 6, "Note: ")


def _result_lines(result: Shown, many: bool) -> Iterator[str]:
    mark = "" if result.confident else "  below the threshold"
    yield f"  {result.rank}. {result.confidence:.2f}{mark}  {_place(result.section, many)}"
    if result.question is None:
        yield "     the question leg did not return it: found by its text or its words"
        return
    yield from wrapped(f"{result.question}{made_by(result.made)}", " " * 5)
    yield from wrapped(f"evidence: {cut(result.evidence or '', LONGEST_EVIDENCE)}", " " * 5)


def made_by(made: Made | None) -> str:
    """How a question came to be, behind it; "" where nothing says so."""
    if made is None:
        return ""
    if made.origin == made.generator:
        return f"  ({made.origin})"
    return f"  ({made.origin}, {made.generator}, prompt {made.prompt_version})"


def _fused_lines(found: Explanation, many: bool) -> Iterator[str]:
    weights = found.weights
    yield (
        f"Fused: score = {weights['dense']} · dense + {weights['bm25']} · BM25, both scaled to 0-1 "
        f"over {found.candidates['fused']} candidates"
    )
    yield from grid(
        ("rank", "score", "dense", "bm25", "confidence", "section"),
        (_fused_row(row, many) for row in found.fused),
    )


def _fused_row(row: Fused, many: bool) -> tuple[str, ...]:
    mark = "" if row.confident else " below"
    return (
        str(row.rank),
        f"{row.score:.3f}",
        f"{row.dense:.2f}",
        f"{row.bm25:.2f}",
        f"{row.confidence:.2f}{mark}",
        _place(row.section, many),
    )


def _candidate_row(candidate: Candidate, leg: Leg, many: bool) -> tuple[str, ...]:
    section = candidate.section
    heading = section.heading_path[-1] if section.heading_path else section.title
    said = candidate.question if leg == "question" else heading
    score = f"{candidate.score:.2f}"
    place = cut(_place(section, many), _LONGEST_PLACE)
    return (str(candidate.rank), score, place, said or "")


def _place(section: Section, many: bool) -> str:
    where = address(section.url, section.anchor)
    return f"{section.site} {where}" if many else where

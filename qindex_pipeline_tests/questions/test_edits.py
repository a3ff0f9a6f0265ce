"""A night after an edit: what is asked, what is kept, through a real SDK and a loopback server."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from qindex_pipeline.chunking import ChunkConfig, PageText, chunk_page
from qindex_pipeline.questions.asking.ledger import Ledger
from qindex_pipeline.questions.evidence import find_evidence
from qindex_pipeline.questions.generators.generator import Generator
from qindex_pipeline_tests.conftest import MakeSettings, Row, chunk_row
from qindex_pipeline_tests.fakes.openai_server import OpenAIServer
from qindex_pipeline_tests.questions.asked import MINI, chunks_of, opened, proposed

PAGES, SECTIONS, PARAGRAPHS = 50, 4, 4

SUBJECTS = "lantern burner wick tank valve mantle reservoir chimney handle filter".split()
VERBS = "adjusts replaces inspects cleans refills tightens measures protects".split()
OBJECTS = "pressure temperature brightness consumption alignment ventilation durability".split()


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def generator(settings: MakeSettings, server: OpenAIServer) -> Generator:
    return opened(settings, MINI, server.url)


def sentence(chance: random.Random) -> str:
    subject, verb, measured = (chance.choice(words) for words in (SUBJECTS, VERBS, OBJECTS))
    number = chance.randint(100, 999)
    return (
        f"The {subject} command number{number} {verb} the {measured} of every "
        f"{chance.choice(SUBJECTS)} in workshop{chance.randint(100, 999)}."
    )


def site() -> list[list[list[list[str]]]]:
    """Pages of sections of paragraphs of sentences."""
    chance = random.Random(3)
    return [
        [[[sentence(chance) for _ in range(2)] for _ in range(PARAGRAPHS)] for _ in range(SECTIONS)]
        for _ in range(PAGES)
    ]


def chunked(pages: Sequence[Sequence[Sequence[Sequence[str]]]]) -> list[Row]:
    rows: list[Row] = []
    for number, sections in enumerate(pages):
        lines = [f"# Page {number}"]
        for place, paragraphs in enumerate(sections):
            lines += [f"## Section {place}", *(" ".join(paragraph) for paragraph in paragraphs)]
        page = PageText(
            site="docs",
            page_id=str(number),
            url=f"http://docs/{number}",
            label=f"Page {number}",
            summary="",
            markdown="\n\n".join(lines),
            headings=[],
            lang="en",
        )
        chunks = chunk_page(page, ChunkConfig(full_page_words=100))
        rows += [asdict(chunk) | {"heading_path": list(chunk.heading_path)} for chunk in chunks]
    return rows


def changed(before: Sequence[Row], after: Sequence[Row]) -> list[Row]:
    known = {chunk["text"] for chunk in before}
    return [chunk for chunk in after if chunk["text"] not in known]


def surviving(rows: Sequence[Row], texts: Sequence[str]) -> set[str]:
    return {
        row["question"]
        for row in rows
        if any(find_evidence(row["evidence"], text) is not None for text in texts)
    }


def test_one_edited_paragraph_of_fifty_pages_costs_its_chunk_and_keeps_the_rest(
    generator: Generator, server: OpenAIServer, tmp_path: Path
) -> None:
    pages = site()
    before = chunked(pages)
    first = proposed(before, generator, Ledger(tmp_path), concurrency=8)
    assert first.calls == len(before) >= PAGES * SECTIONS

    server.requests.clear()
    night = proposed(chunked(pages), generator, Ledger(tmp_path))
    assert (night.calls, night.revalidated, server.requests) == (0, 0, [])
    assert night.rows == first.rows

    pages[20][2][1] = ["Since release nine the reservoir refuses paraffin of another colour."]
    after = chunked(pages)
    edited = changed(before, after)
    gone = {chunk["chunk_id"] for chunk in changed(after, before)}
    assert 1 <= len(edited) <= 2
    second = proposed(after, generator, Ledger(tmp_path))
    assert 1 <= second.calls == len(server.requests) <= len(edited)

    old = [row for row in first.rows if row["chunk_id"] in gone]
    new = [row for row in second.rows if row["chunk_id"] in {c["chunk_id"] for c in edited}]
    survivors = surviving(old, [chunk["text"] for chunk in edited])
    assert survivors
    kept = {row["question"] for row in new if row["origin"] == "kept"}
    assert len(survivors & kept) >= 0.8 * len(survivors)
    assert {row["origin"] for row in new} == {"kept", "generated"}
    ids = {row["question_id"] for row in second.rows}
    assert len(ids) == len(second.rows)

    server.requests.clear()
    third = proposed(after, generator, Ledger(tmp_path))
    assert (third.rows, third.calls, server.requests) == (second.rows, 0, [])


def test_the_model_is_told_which_questions_are_kept(
    generator: Generator, server: OpenAIServer, tmp_path: Path
) -> None:
    (chunk,) = chunks_of(1)
    first = proposed([chunk], generator, Ledger(tmp_path))
    server.requests.clear()
    added = "Removing the signature database requires administrator permissions afterwards."
    proposed([chunk_row(f"{chunk['text']} {added}")], generator, Ledger(tmp_path))
    (request,) = server.requests
    assert all(row["question"] in str(request.body) for row in first.rows)


@pytest.mark.parametrize(
    ("edit", "calls", "origins"),
    [
        (lambda text: text.replace(" ", "\n"), 0, {"kept"}),
        (lambda text: ". ".join(reversed(text.rstrip(".").split(". "))) + ".", 0, {"kept"}),
        (lambda text: text.partition(". ")[0] + ".", 0, {"kept"}),
        (lambda text: text + " Deleting obsolete packages liberates storage immediately.", 1, None),
        (lambda text: text.replace("Installing", "Removing"), 1, None),
    ],
    ids=["line breaks", "moved", "deleted", "added", "another word"],
)
def test_only_new_words_ask(
    edit: Any, calls: int, origins: set[str] | None, generator: Generator, tmp_path: Path
) -> None:
    chunks = chunks_of(3)
    first = proposed(chunks, generator, Ledger(tmp_path))
    edited = chunk_row(edit(chunks[1]["text"]))
    result = proposed([chunks[0], edited, chunks[2]], generator, Ledger(tmp_path))
    assert (result.calls, result.revalidated) == (calls, 1 - calls)
    rows = [row for row in result.rows if row["chunk_id"] == edited["chunk_id"]]
    assert {row["origin"] for row in rows} == (origins or {"kept", "generated"})
    names = [row["question"] for row in rows]
    assert len(names) == len(set(names))
    assert set(names) & {row["question"] for row in first.rows}
    assert result.failed == {}


def test_a_text_that_still_stands_is_no_earlier_state_of_another(
    generator: Generator, tmp_path: Path
) -> None:
    chunk = chunks_of(1)[0]
    proposed([chunk], generator, Ledger(tmp_path))
    twin = chunk_row(chunk["text"] + " Deleting obsolete packages liberates storage immediately.")
    result = proposed([chunk, twin], generator, Ledger(tmp_path))
    assert {row["origin"] for row in result.rows} == {"generated"}


def test_a_moved_page_asks_nothing(generator: Generator, tmp_path: Path) -> None:
    proposed(chunks_of(3), generator, Ledger(tmp_path))
    moved = chunks_of(3, site="elsewhere", url="http://elsewhere/", anchor=None)
    assert proposed(moved, generator, Ledger(tmp_path)).calls == 0


@pytest.mark.parametrize("attribute", ["spec", "prompt_version"])
def test_another_model_or_prompt_asks_everything_anew_and_keeps_nothing(
    attribute: str, generator: Generator, tmp_path: Path
) -> None:
    first = proposed(chunks_of(3), generator, Ledger(tmp_path))
    setattr(generator, attribute, "openai:gpt-other")
    second = proposed(chunks_of(3), generator, Ledger(tmp_path))
    assert first.calls == second.calls == 3
    assert {row["origin"] for row in second.rows} == {"generated"}


def test_no_chunk_has_more_questions_than_it_may(generator: Generator, tmp_path: Path) -> None:
    (chunk,) = chunks_of(1)
    first = proposed([chunk], generator, Ledger(tmp_path), max_questions=2)
    assert len(first.rows) == 2
    added = chunk_row(chunk["text"] + " Deleting obsolete packages liberates storage immediately.")
    full = proposed([added], generator, Ledger(tmp_path), max_questions=2)
    assert (full.calls, full.revalidated) == (0, 1)
    assert [row["question"] for row in full.rows] == [row["question"] for row in first.rows]

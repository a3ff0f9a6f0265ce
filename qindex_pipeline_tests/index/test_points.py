"""Points: where a chunk's text stands, what the sparse vector holds, when a point is rewritten."""

from collections.abc import Callable

import pytest

from qindex_pipeline.ids import derived_point_id, point_id
from qindex_pipeline.index.points import HASH_KEY, Point, build_points, site_point_id
from qindex_pipeline.index.sparse import Bm25Model
from qindex_pipeline_tests.conftest import Row, chunk_row, embedding_row, question_row

CHUNK = chunk_row("Run make to build everything.", title="Manual", heading_path=["Manual", "Build"])
ASKED = question_row(CHUNK, "How do I compile the sources?", evidence="Run make")
REJECTED = question_row(CHUNK, "Where is the zebra?", accepted=False)
LATER_WINDOW = embedding_row(CHUNK) | {
    "point_id": derived_point_id(CHUNK["chunk_id"], 1),
    "window": 1,
}
ROWS = [embedding_row(CHUNK), LATER_WINDOW, embedding_row(CHUNK, ASKED)]


def built(
    chunk: Row = CHUNK, questions: tuple[Row, ...] = (ASKED, REJECTED), rows: list[Row] = ROWS
) -> list[Point]:
    return build_points([chunk], questions, rows)


def test_there_is_a_point_for_each_vector_in_its_order() -> None:
    points = built()
    assert [point.id for point in points] == [row["point_id"] for row in ROWS]
    assert [point.vector for point in points] == [row["vector"] for row in ROWS]
    assert [point.payload["kind"] for point in points] == ["passage", "passage", "question"]


def test_the_chunks_text_stands_once_on_the_passage_with_the_chunks_id() -> None:
    points = built()
    (carrier,) = [point for point in points if CHUNK["text"] in point.payload.values()]
    assert carrier.id == point_id(CHUNK["chunk_id"])
    assert {key: value for key, value in carrier.payload.items() if key != HASH_KEY} == {
        "kind": "passage",
        "site": "docs",
        "chunk_id": CHUNK["chunk_id"],
        "url": CHUNK["url"],
        "anchor": "setup",
        "title": "Manual",
        "heading_path": ["Manual", "Build"],
        "text": CHUNK["text"],
        "lang": CHUNK["lang"],
    }


def test_every_point_says_its_kind_site_and_chunk() -> None:
    for point in built():
        assert point.payload["site"] == "docs"
        assert point.payload["chunk_id"] == CHUNK["chunk_id"]


def test_a_question_carries_its_words_and_its_evidence() -> None:
    payload = built()[2].payload
    assert (payload["question"], payload["evidence"]) == (ASKED["question"], "Run make")


def test_only_the_first_passage_is_sparse() -> None:
    assert [point.sparse is not None for point in built()] == [True, False, False]


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("manual", True),
        ("build", True),
        ("everything", True),
        ("compile", True),
        ("zebra", False),
        ("example.com", False),
    ],
    ids=["title", "heading", "text", "accepted question", "rejected question", "address"],
)
def test_the_sparse_vector_holds_place_text_and_accepted_questions(word: str, found: bool) -> None:
    sparse = built()[0].sparse
    assert sparse is not None
    assert (set(Bm25Model().query(word).indices) <= set(sparse.indices)) is found


def hashes(points: list[Point]) -> list[str]:
    return [point.content_hash for point in points]


def test_what_did_not_change_has_the_same_hash() -> None:
    assert hashes(built()) == hashes(built(dict(CHUNK), (dict(ASKED),), [dict(r) for r in ROWS]))
    assert len(set(hashes(built()))) == len(ROWS)


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        (lambda: built(CHUNK | {"anchor": "make"}), [True, False, False]),
        (lambda: built(CHUNK | {"url": "http://moved/"}), [True, False, False]),
        (lambda: built(CHUNK | {"text": "Run make install."}), [True, False, False]),
        (lambda: built(questions=(ASKED | {"evidence": "make"},)), [False, False, True]),
        (lambda: built(questions=(ASKED, REJECTED | {"accepted": True})), [True, False, False]),
        (lambda: built(rows=[r | {"fingerprint": "1" * 8} for r in ROWS]), [True, True, True]),
        (
            lambda: built(rows=[ROWS[0], LATER_WINDOW | {"text_hash": "other"}, ROWS[2]]),
            [False, True, False],
        ),
    ],
    ids=["anchor", "url", "text", "evidence", "a question more", "fingerprint", "window's text"],
)
def test_the_hash_changes_with_all_that_a_point_holds(
    change: Callable[[], list[Point]], changed: list[bool]
) -> None:
    pairs = zip(hashes(built()), hashes(change()), strict=True)
    assert [before != after for before, after in pairs] == changed


def test_no_vector_no_point() -> None:
    assert build_points([CHUNK], [ASKED], []) == []


def test_a_calibrated_site_has_a_point_of_its_own_that_no_leg_asks_for() -> None:
    row = {"site": "docs", "threshold": 0.4, "fingerprint": "f"}
    *others, point = build_points([CHUNK], [ASKED], ROWS, [row])
    assert others == build_points([CHUNK], [ASKED], ROWS)
    assert point.id == site_point_id("docs")
    facts = {key: value for key, value in point.payload.items() if key != HASH_KEY}
    assert facts == {"kind": "site"} | row
    assert sum(value * value for value in point.vector) == pytest.approx(1)
    *_, changed = build_points([CHUNK], [ASKED], ROWS, [row | {"threshold": 0.5}])
    assert changed.id == point.id
    assert changed.content_hash != point.content_hash

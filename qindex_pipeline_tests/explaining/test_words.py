"""Words: those that BM25 looks for, and those that a chunk lacks."""

from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.explaining.verdicts.words import FEW, Words, words_of
from qindex_pipeline.index.sparse import Bm25Model

BM25 = Bm25Model()


@given(st.lists(st.text(max_size=60), min_size=1, max_size=3))
def test_the_words_of_a_question_are_those_that_the_bm25_leg_looks_for(forms: list[str]) -> None:
    asked = {token for form in forms for token in BM25.query(form).indices}
    assert set(words_of(forms)) == asked


def test_a_word_is_named_as_it_was_typed_first_and_once_for_all_its_inflections() -> None:
    assert sorted(words_of(["Renamed the files", "rename a file --force"]).values()) == [
        "files", "force", "renamed"
    ]  # fmt: skip


def words(weights: dict[str, dict[str, float]], **frequency: int) -> Words:
    return Words(weights, frequency, chunks=1000)


def test_a_word_that_much_of_the_site_has_is_not_called_missing_and_the_rarest_comes_first() -> (
    None
):
    found = words({"own": {"git": 0.1}}, git=900, get=101, move=100, unstaged=0)
    assert found.missing("own") == ["unstaged", "move"]


def test_on_a_small_site_no_word_is_too_common() -> None:
    found = Words({"own": {}}, {"mirror": FEW}, chunks=12)
    assert found.missing("own") == ["mirror"]


def test_the_words_that_decide_are_those_that_the_winner_alone_has() -> None:
    weights = {"own": {"file": 1.0}, "winner": {"file": 1.0, "move": 2.0, "rename": 3.0}}
    found = words(weights, file=50, move=9, rename=5, hash=1)
    assert found.decisive("own", "winner") == ["rename", "move"]


def test_no_word_decides_where_the_shared_ones_make_the_distance() -> None:
    weights = {"own": {"file": 1.0}, "winner": {"file": 9.0, "move": 0.5}}
    assert words(weights, file=50, move=9).decisive("own", "winner") == []

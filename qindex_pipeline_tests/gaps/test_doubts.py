"""Which asks are doubtful, and why."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.gaps.bands import Bands, bands
from qindex_pipeline.gaps.doubts import LOW, REFUSED, UNKNOWN, doubt
from qindex_pipeline.gaps.vocabulary import Vocabulary
from qindex_pipeline_tests.conftest import chunk_row
from qindex_pipeline_tests.query_log.asked import log_row

GUIDE, OTHER, THIRD = (f"http://docs/{name}" for name in ("guide", "other", "third"))
TEXTS = {
    GUIDE: "The lamp shines when its wick is trimmed. Trim the wick with scissors.",
    OTHER: "The mirror of the lamp is polished with chalk, which Visual Studio mentions.",
    THIRD: "The lamp is filled with oil and polished.",
}
WORDS = Vocabulary(
    [
        chunk_row(text, url=url, title="Lamp", heading_path=[], chunk_id=url)
        for url, text in TEXTS.items()
    ]
)
BANDS = Bands(even=0.6, strange=0.2)


@pytest.mark.parametrize(
    ("question", "values", "reasons", "words"),
    [
        ("How is the wick trimmed?", {}, (), ()),
        # Its word stands on pages that were not found; the confidence says that it was.
        ("How is it polished?", {}, (), ()),
        ("How is it polished?", {"confidence": 0.5}, (LOW,), ()),
        # A low confidence alone: all that it says is on the page.
        ("trim wick", {"confidence": 0.5}, (), ()),
        ("Does it work with Dropbox?", {}, (UNKNOWN,), ("work", "Dropbox")),
        ("Lamp in Visual Studio", {}, (UNKNOWN,), ("Visual", "Studio")),
        # The page that mentions it was found.
        ("Lamp in Visual Studio", {"pages": [OTHER]}, (), ()),
        ("How is the wick trimmd?", {}, (), ()),
        ("How is the wick trimmed?", {"refused": True, "pages": []}, (REFUSED,), ()),
        ("Dropbox?", {"refused": True, "pages": []}, (REFUSED, UNKNOWN), ("Dropbox",)),
        # Found on a page that is gone: nothing is known of what stands there.
        ("Dropbox?", {"pages": ["http://docs/old"], "nearest": "http://docs/old"}, (), ()),
        ("?", {}, (), ()),
    ],
)
def test_an_ask_is_doubtful_for_a_reason(
    question: str, values: dict[str, Any], reasons: tuple[str, ...], words: tuple[str, ...]
) -> None:
    row = log_row(question, pages=[GUIDE], nearest=GUIDE) | values
    found = doubt(row, WORDS, BANDS)
    assert (found.reasons if found else ()) == reasons
    assert (found.words if found else ()) == words


@pytest.mark.parametrize(
    ("question", "confidence", "off_topic"),
    [
        ("How do I boil an egg?", 0.3, True),
        ("How is the mirror polished?", 0.3, False),
        ("How is the mirror polished?", 0.1, True),
        ("How is the mirror polished?", None, True),
        ("Trim the wick of a heron lamp", 0.3, False),
    ],
)
def test_a_refused_question_of_another_subject_is_off_topic(
    question: str, confidence: float | None, off_topic: bool
) -> None:
    row = log_row(question, refused=True, pages=[], nearest=GUIDE, confidence=confidence)
    found = doubt(row, WORDS, BANDS)
    assert found is not None
    assert found.off_topic is off_topic


def test_what_was_answered_is_never_off_topic() -> None:
    found = doubt(log_row("Dropbox?", pages=[GUIDE]), WORDS, BANDS)
    assert found is not None
    assert not found.off_topic


def test_a_site_without_bands_goes_by_words_and_refusals() -> None:
    low = log_row("How is it polished?", pages=[GUIDE], nearest=GUIDE, confidence=0.41)
    assert doubt(low, WORDS, None) is None
    assert doubt(low | {"refused": True}, WORDS, None) is not None


def test_the_even_point_stands_where_as_many_pass_as_fail() -> None:
    found = bands([0.5, 0.7, 0.8, 0.9], [0.1, 0.2, 0.3, 0.6])
    assert found is not None
    assert found.even == pytest.approx(0.6)
    assert found.strange == pytest.approx(0.25)
    assert bands([], [0.1]) is bands([0.1], []) is None


CONFIDENCES = st.lists(st.integers(0, 100).map(lambda number: number / 100), min_size=1)


@given(CONFIDENCES, CONFIDENCES)
def test_at_the_even_point_no_more_strangers_pass_than_own_questions_fail(
    own: list[float], foreign: list[float]
) -> None:
    found = bands(own, foreign)
    assert found is not None
    below = sum(value < found.even for value in own) / len(own)
    above = sum(value > found.even for value in foreign) / len(foreign)
    assert above <= below or found.even >= max(foreign)

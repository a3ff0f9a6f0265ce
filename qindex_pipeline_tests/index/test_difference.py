"""What has to be written and deleted, and in which order."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from qindex_pipeline.index.difference import BY_HASH, BY_PAYLOAD, diff, verify
from qindex_pipeline.index.points import HASH_KEY, Point

PAYLOADS = st.fixed_dictionaries(
    {
        HASH_KEY: st.sampled_from(["one", "two"]),
        "kind": st.sampled_from(["passage", "question"]),
        "text": st.sampled_from(["a", "b"]),
    }
)
STORED = st.dictionaries(st.sampled_from("abcdefgh"), PAYLOADS)


def points(payloads: dict[str, dict[str, Any]]) -> list[Point]:
    return [Point(identity, [1.0], None, payload) for identity, payload in payloads.items()]


@given(STORED, STORED)
def test_applying_the_difference_gives_the_wanted_points(stored: Any, wanted: Any) -> None:
    change = diff(stored, points(wanted), BY_PAYLOAD)
    applied = {**stored, **{point.id: point.payload for point in change.upsert}}
    for identity in change.delete:
        del applied[identity]
    assert applied == wanted
    assert len(change.upsert) + change.unchanged == len(wanted)
    assert verify(applied, points(wanted)).passed
    assert verify(stored, points(wanted)).passed == (stored == wanted)


@given(STORED, STORED)
def test_text_is_written_before_the_questions_that_lead_to_it_and_deleted_after_them(
    stored: Any, wanted: Any
) -> None:
    change = diff(stored, points(wanted))
    written = [point.payload["kind"] for point in change.upsert]
    deleted = [stored[identity]["kind"] for identity in change.delete]
    assert written == sorted(written)
    assert deleted == sorted(deleted, reverse=True)


@given(STORED, STORED)
def test_each_id_is_named_once_by_what_is_wrong_with_it(stored: Any, wanted: Any) -> None:
    found = verify(stored, points(wanted))
    assert set(found.missing) == wanted.keys() - stored.keys()
    assert set(found.foreign) == stored.keys() - wanted.keys()
    both = wanted.keys() & stored.keys()
    assert set(found.stale) == {
        identity for identity in both if stored[identity] != wanted[identity]
    }


def test_a_hash_is_believed_only_where_it_is_asked_for() -> None:
    wanted = points({"a": {HASH_KEY: "one", "kind": "passage", "text": "a"}})
    edited = {"a": {HASH_KEY: "one", "kind": "passage", "text": "edited by hand"}}
    assert diff(edited, wanted, BY_HASH).upsert == []
    assert diff(edited, wanted, BY_PAYLOAD).upsert == wanted

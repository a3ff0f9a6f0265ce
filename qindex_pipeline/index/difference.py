"""How a site's stored points differ from the wanted ones, and what has to be written for it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qindex_pipeline.index.points import HASH_KEY, Point

Payload = Mapping[str, Any]


@dataclass(frozen=True)
class Verification:
    """Ids of a site's points that are not there, not wanted, or hold something else."""

    missing: list[str]
    foreign: list[str]
    stale: list[str]

    @property
    def passed(self) -> bool:
        """Whether the collection holds the wanted points and no other."""
        return not (self.missing or self.foreign or self.stale)


@dataclass(frozen=True)
class Diff:
    """What has to be written and deleted, in order: a question's passage is never missing.

    Passages, which carry the text, are written before questions and deleted after them.
    """

    upsert: list[Point]
    delete: list[str]
    unchanged: int


@dataclass(frozen=True)
class Comparison:
    """When a stored point is a wanted one, and which payload keys (none: all) tell."""

    keys: tuple[str, ...]
    same: Callable[[Payload, Point], bool]


BY_HASH = Comparison(
    (HASH_KEY, "kind"), lambda stored, point: stored.get(HASH_KEY) == point.content_hash
)
"""What the point says of itself: quick, and right as long as nobody else writes."""

BY_PAYLOAD = Comparison((), lambda stored, point: dict(stored) == point.payload)
"""All that the point carries."""


def verify(
    stored: Mapping[str, Payload], wanted: Sequence[Point], comparison: Comparison = BY_PAYLOAD
) -> Verification:
    """Compare a site's stored payloads, by id, with its wanted points."""
    ids = {point.id for point in wanted}
    known = [point for point in wanted if point.id in stored]
    return Verification(
        missing=[point.id for point in wanted if point.id not in stored],
        foreign=[identity for identity in stored if identity not in ids],
        stale=[point.id for point in known if not comparison.same(stored[point.id], point)],
    )


def diff(
    stored: Mapping[str, Payload], wanted: Sequence[Point], comparison: Comparison = BY_HASH
) -> Diff:
    """What makes the stored points of a site the wanted ones."""
    found = verify(stored, wanted, comparison)
    written = {*found.missing, *found.stale}
    upsert = [point for point in wanted if point.id in written]
    return Diff(
        upsert=sorted(upsert, key=lambda point: _is_question(point.payload)),
        delete=sorted(found.foreign, key=lambda identity: not _is_question(stored[identity])),
        unchanged=len(wanted) - len(upsert),
    )


def _is_question(payload: Payload) -> bool:
    return payload.get("kind") == "question"

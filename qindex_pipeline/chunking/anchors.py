"""Finding the anchor of each markdown heading among the headings of the page's HTML.

The two lists differ where the conversion dropped or changed a heading, so that position alone
does not do: headings are matched by level and text, and repeated ones by order.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

HeadingKey = tuple[int, str]


def heading_key(level: int, text: str) -> HeadingKey:
    """Level and letters of a heading: what survives the conversion from HTML to markdown."""
    letters = "".join(filter(str.isalnum, text.casefold()))
    return level, letters or text.strip()


def align_anchors(
    keys: Sequence[HeadingKey], page_headings: Sequence[Mapping[str, Any]]
) -> list[str | None]:
    """The anchor of each markdown heading, None where it has no partner or its partner none.

    A heading that stands equally often on both sides pairs in order. Of those that do not, a
    partner must stand between the partners of the headings before and after.

    Args:
        keys: the headings of the markdown, in document order.
        page_headings: level, text and anchor of the headings of the HTML, in document order.
    """
    page_keys = [heading_key(heading["level"], heading["text"]) for heading in page_headings]
    positions: defaultdict[HeadingKey, list[int]] = defaultdict(list)
    for position, key in enumerate(page_keys):
        positions[key].append(position)
    partners = _certain_partners(keys, positions)
    upper_bounds = _next_partners(partners, len(page_keys))
    anchors: list[str | None] = []
    previous = -1
    for key, partner, upper in zip(keys, partners, upper_bounds, strict=True):
        found = partner
        if found is None:
            candidates = positions.get(key, [])
            index = bisect_right(candidates, previous)
            if index < len(candidates) and candidates[index] < upper:
                found = candidates[index]
        if found is not None:
            previous = max(previous, found)
        anchors.append(None if found is None else page_headings[found]["anchor"])
    return anchors


def _certain_partners(
    keys: Sequence[HeadingKey], positions: Mapping[HeadingKey, list[int]]
) -> list[int | None]:
    """Partners of the headings that stand equally often on both sides, the k-th to the k-th."""
    counts = Counter(keys)
    seen: Counter[HeadingKey] = Counter()
    partners: list[int | None] = []
    for key in keys:
        candidates = positions.get(key, [])
        partners.append(candidates[seen[key]] if len(candidates) == counts[key] else None)
        seen[key] += 1
    return partners


def _next_partners(partners: Sequence[int | None], end: int) -> list[int]:
    """For each heading, the partner of the next heading that has a certain one."""
    bounds: list[int] = []
    bound = end
    for partner in reversed(partners):
        bounds.append(bound)
        bound = bound if partner is None else partner
    return bounds[::-1]

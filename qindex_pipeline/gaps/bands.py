"""Which confidence is low for a site: where its own questions and strangers' are hard to tell."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Bands:
    """What a confidence says on one site.

    Attributes:
        even: Below it a larger share of strangers' questions lies above than of the site's own
            lies below: the equal-error point of the two.
        strange: What half of the strangers' questions do not reach.
    """

    even: float
    strange: float


def bands(own: Sequence[float], foreign: Sequence[float]) -> Bands | None:
    """The bands of a site; None without questions of both kinds.

    Args:
        own: Confidence of questions of the site's own, each held out of the index.
        foreign: Confidence of questions about other subjects.
    """
    import numpy as np

    if not own or not foreign:
        return None
    ours, theirs = np.sort(own), np.sort(foreign)
    values = np.unique(np.concatenate([ours, theirs]))
    below = np.searchsorted(ours, values) / len(ours)
    above = 1 - np.searchsorted(theirs, values) / len(theirs)
    # The first value at which no more strangers pass than own questions fail.
    even = values[int(np.argmax(below >= above))] if (below >= above).any() else values[-1]
    return Bands(round(float(even), 3), round(float(np.median(theirs)), 3))

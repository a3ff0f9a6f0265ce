"""One thing that was looked at, and what comes of a look that fails."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from qindex_pipeline.errors import QIndexError


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    good: bool
    what: str
    detail: str


def looked_at(looks: Mapping[str, Callable[[], str]]) -> Iterator[Finding]:
    """A finding for each look: what it says, or the trouble that it met."""
    for what, look in looks.items():
        try:
            yield Finding(True, what, look())
        except (QIndexError, OSError) as error:
            yield Finding(False, what, str(error))

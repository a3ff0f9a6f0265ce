"""Smoke queries: before readers see a collection, a vector of each site has to find itself."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from qindex_pipeline.errors import WorkError
from qindex_pipeline.index.engine import Collection, Kind, QueryRequest

PROBES_A_BATCH = 100

ITSELF = 0.999
"""Cosine of a vector with itself, less what rounding and a quantised index may take from it. A
text that stands twice is found as its twin, which is as good."""


@dataclass(frozen=True)
class Probe:
    """A stored point, as a question to its own collection."""

    site: str
    kind: Kind
    vector: list[float]


def smoke(collection: Collection, probes: Iterable[Probe]) -> None:
    """Ask for each probe as a reader would. Raises WorkError naming the sites that fail."""
    lost = [probe.site for batch in _batches(probes) for probe in _lost(collection, batch)]
    if lost:
        raise WorkError(
            f"{collection.name} does not find its own vectors of {', '.join(lost)}; readers keep "
            "what they see now, `qindex rebuild` writes the collection again"
        )


def _lost(collection: Collection, probes: Sequence[Probe]) -> Iterator[Probe]:
    requests = [QueryRequest(probe.vector, probe.kind, 1, probe.site) for probe in probes]
    for probe, hits in zip(probes, collection.query_batch(requests), strict=True):
        if not hits or hits[0].score < ITSELF:
            yield probe


def _batches(probes: Iterable[Probe]) -> Iterator[list[Probe]]:
    rest = iter(probes)
    while batch := list(islice(rest, PROBES_A_BATCH)):
        yield batch

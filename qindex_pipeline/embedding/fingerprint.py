"""What makes vectors comparable: vectors of different fingerprints never meet."""

import json
from dataclasses import asdict, dataclass

from qindex_pipeline.embedding.embedder import Embedder
from qindex_pipeline.embedding.prefixes import Prefixes
from qindex_pipeline.ids import content_hash

TEXT_PREPARATION = "place-3"
"""Version of how texts are prepared: `readable` passages behind one of `places`. A model's prefixes
are added to it."""


@dataclass(frozen=True)
class Fingerprint:
    """Embedder, its revision, dimension, distance, text preparation, and the sparse model."""

    embedder: str
    revision: str
    dimension: int
    distance: str
    text_preparation: str
    sparse: str

    @property
    def digest(self) -> str:
        """Eight hex digits that name the physical collection."""
        return content_hash(json.dumps(asdict(self), sort_keys=True))[:8]


def fingerprint(embedder: Embedder, sparse: str) -> Fingerprint:
    """The fingerprint of what `embedder` makes; `sparse` names the sparse model's parameters."""
    return Fingerprint(
        embedder=embedder.spec,
        revision=embedder.revision,
        dimension=embedder.dimension,
        distance="Cosine",
        text_preparation=_preparation(embedder.prefixes),
        sparse=sparse,
    )


def _preparation(prefixes: Prefixes) -> str:
    if prefixes == Prefixes():
        return TEXT_PREPARATION
    return f"{TEXT_PREPARATION} query={prefixes.query!r} document={prefixes.document!r}"

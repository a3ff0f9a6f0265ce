"""What a generation of the embedded engine says of itself, in one file beside its shard.

Qdrant Edge has no collection metadata. The file is written whenever a generation is built and
never after, so that it also tells two generations apart that bear one number.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from qindex_pipeline.embedding.fingerprint import Fingerprint
from qindex_pipeline.index.engine import Manifest

FILE = "manifest.json"


def write_manifest(generation: Path, manifest: Manifest, unindexed: int) -> None:
    """Say what a generation holds, and how many of its points were written since it was indexed."""
    values = asdict(manifest) | {"unindexed": unindexed}
    (generation / FILE).write_text(json.dumps(values, indent=2))


def read_manifest(generation: Path) -> Manifest:
    """What the generation holds."""
    values = _values(generation)
    return Manifest(values["schema_version"], Fingerprint(**values["fingerprint"]))


def read_unindexed(generation: Path) -> int:
    """Points written since a vector index was built last; one that was written twice counts twice.

    The engine's own count does not tell: it goes on counting points that were replaced.
    """
    return _values(generation).get("unindexed", 0)


def stamp(generation: Path) -> int:
    """When the generation was built, in nanoseconds: numbers of generations can come again."""
    return (generation / FILE).stat().st_mtime_ns


def _values(generation: Path) -> dict[str, Any]:
    return json.loads((generation / FILE).read_text())

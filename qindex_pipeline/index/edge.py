"""The embedded engine: Qdrant Edge shards, published copy-on-write.

The holder of the lock copies the latest generation of a collection, applies the difference,
closes, renames and flips the pointer. Any number of processes read a published generation
meanwhile. What was live before stays for a rollback. When many points of what is now live are in
no vector index, the next generation holds the same with an index, and takes its place.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from qindex_pipeline.errors import WorkError
from qindex_pipeline.index.difference import (
    BY_HASH,
    BY_PAYLOAD,
    Comparison,
    Diff,
    Payload,
    Verification,
    diff,
    verify,
)
from qindex_pipeline.index.edge_collection import EdgeCollection, state_of
from qindex_pipeline.index.edge_shard import build, load, payloads
from qindex_pipeline.index.engine import Manifest, Rollback, SyncReport, physical_name
from qindex_pipeline.index.generations import Generations, Published
from qindex_pipeline.index.manifest_file import read_manifest
from qindex_pipeline.index.optimising import OPTIMISE_ABOVE, optimise_live
from qindex_pipeline.index.points import Point
from qindex_pipeline.index.smoke import smoke

OPENINGS = 5
"""A publication between reading the pointer and opening what it names may remove it; the next
reading finds its successor."""


class EdgeEngine:
    """Collections under a local folder."""

    def __init__(self, root: Path, optimise_above: int = OPTIMISE_ABOVE) -> None:
        """Keep collections under `root`; nothing is created before the first sync."""
        self._root, self._optimise_above = root, optimise_above

    def open(self, alias: str) -> EdgeCollection | None:
        """The published generation behind `alias`, or None."""
        files = Generations(self._root, alias)
        if not files.pointer.exists():
            return None
        for _ in range(OPENINGS):
            live = files.live
            if live is None:
                continue
            try:
                return EdgeCollection(live, files.folder(live))
            except (WorkError, FileNotFoundError):
                if files.live == live:
                    raise
        raise WorkError(
            f"{files.pointer} names a collection that is not there: run `qindex rebuild`"
        )

    def live(self, alias: str) -> str | None:
        """The generation that the pointer names, or None."""
        files = Generations(self._root, alias)
        live = files.live
        try:
            return None if live is None else state_of(live, files.folder(live))
        except FileNotFoundError:  # it fell between the two looks
            return None

    def sync(
        self, alias: str, manifest: Manifest, site: str, points: Sequence[Point]
    ) -> SyncReport:
        """Publish `points` as the points of `site`, in a new generation if anything changed."""
        return self._publish(alias, manifest, site, points, BY_HASH)

    def verify(
        self, alias: str, manifest: Manifest, site: str, points: Sequence[Point]
    ) -> Verification:
        """Compare every payload of `site` with `points`."""
        files = Generations(self._root, alias)
        with files.lock():
            latest = files.latest(physical_name(alias, manifest))
            return verify(_stored(files, latest, site, BY_PAYLOAD), points)

    def repair(
        self, alias: str, manifest: Manifest, site: str, points: Sequence[Point]
    ) -> SyncReport:
        """Publish what `verify` finds."""
        return self._publish(alias, manifest, site, points, BY_PAYLOAD)

    def rollback(self, alias: str) -> Rollback:
        """Exchange the live generation and the one that was live before."""
        files = Generations(self._root, alias)
        with files.lock():
            live, previous = files.live, files.previous
            if previous is None:
                raise WorkError(
                    f"nothing was kept behind {alias}: there is no earlier generation to go back to"
                )
            files.publish(previous, live)
        return Rollback(before=str(live or "nothing"), now=str(previous))

    def remove(self, alias: str, site: str) -> int:
        """Delete the points of `site` from every collection; what was kept is given up for it."""
        files = Generations(self._root, alias)
        deleted = 0
        with files.lock():
            live = files.live
            if live is not None and files.previous is not None:
                files.publish(live, None)
            for name in files.collections():
                latest = files.latest(name)
                assert latest is not None
                manifest = read_manifest(files.folder(latest))
                new, change = _build_next(files, manifest, site, [], BY_HASH)
                deleted += len(change.delete)
                if live is not None and live.collection == name:
                    files.publish(new, None)
        return deleted

    def _publish(
        self,
        alias: str,
        manifest: Manifest,
        site: str,
        points: Sequence[Point],
        comparison: Comparison,
    ) -> SyncReport:
        files = Generations(self._root, alias)
        with files.lock():
            new, change = _build_next(files, manifest, site, points, comparison)
            waiting_for = _go_live(files, new)
            optimise_live(files, self._optimise_above)
            files.sweep(new.collection)  # what a run left that was killed behind its publication
        return SyncReport(
            written=len(change.upsert),
            unchanged=change.unchanged,
            deleted=len(change.delete),
            count=len(points),
            collection=new.collection,
            live=not waiting_for,
            waiting_for=waiting_for,
        )


def _build_next(
    files: Generations,
    manifest: Manifest,
    site: str,
    points: Sequence[Point],
    comparison: Comparison,
) -> tuple[Published, Diff]:
    """The generation that holds `points`, a new one unless nothing changed."""
    name = physical_name(files.alias, manifest)
    base = files.latest(name)
    change = diff(_stored(files, base, site, comparison), points, comparison)
    if base is not None and not change.upsert and not change.delete:
        return base, change
    new = files.next(name)
    base_folder = None if base is None else files.folder(base)
    build(files.building(new), base_folder, manifest, site, change)
    files.complete(new)
    return new, change


def _go_live(files: Generations, new: Published) -> tuple[str, ...]:
    """Publish `new`, or name the sites that readers see and it lacks."""
    live = files.live
    if live == new:
        return ()
    if live is None or live.collection != new.collection:
        with closing(EdgeCollection(new, files.folder(new))) as collection:
            missing = _sites(files, live) - set(collection.sites())
            if missing:
                return tuple(sorted(missing))
            smoke(collection, collection.probes())
    files.publish(new, live)
    return ()


def _sites(files: Generations, generation: Published | None) -> set[str]:
    if generation is None:
        return set()
    with closing(EdgeCollection(generation, files.folder(generation))) as collection:
        return set(collection.sites())


def _stored(
    files: Generations, generation: Published | None, site: str, comparison: Comparison
) -> Mapping[str, Payload]:
    if generation is None:
        return {}
    with closing(load(files.folder(generation))) as shard:
        return payloads(shard, site, comparison.keys)

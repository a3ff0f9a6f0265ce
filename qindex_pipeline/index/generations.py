"""The embedded engine's folders, and the one file that says which of them readers see.

    <root>/<alias>.json            the live generation, and the one that was live before it
    <root>/<collection>/gen-N/     a complete generation: nobody writes it any more
    <root>/<collection>/gen-N.tmp  one that is being built, or that a killed run left

A generation is complete when it has its name: it gets it by a rename. It is live when the
pointer file names it: the file is replaced in one step.
"""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

PREFIX, BUILDING = "gen-", ".tmp"


@dataclass(frozen=True)
class Published:
    """A complete generation of a collection."""

    collection: str
    generation: str

    @property
    def number(self) -> int:
        """Position in the order of building, from 1."""
        return int(self.generation.removeprefix(PREFIX))

    def __str__(self) -> str:
        """Both names, for people."""
        return f"{self.collection}/{self.generation}"


class Generations:
    """The generations of one alias. Whoever changes anything holds `lock`."""

    def __init__(self, root: Path, alias: str) -> None:
        """Look under `root`; nothing is created before the first generation."""
        self.pointer = root / f"{alias}.json"
        self._root, self.alias = root, alias

    def lock(self) -> FileLock:
        """One writer an alias; a killed holder's lock is free."""
        self._root.mkdir(parents=True, exist_ok=True)
        return FileLock(self._root / f"{self.alias}.lock")

    def folder(self, generation: Published) -> Path:
        """Where the generation lies."""
        return self._root / generation.collection / generation.generation

    @property
    def live(self) -> Published | None:
        """What readers see, where it is there."""
        return self._named("live")

    @property
    def previous(self) -> Published | None:
        """What readers saw before, where it is there."""
        return self._named("previous")

    def newest(self, collection: str) -> Published | None:
        """The last complete generation of a collection, live or not."""
        return max(self._complete(collection), key=lambda found: found.number, default=None)

    def latest(self, collection: str) -> Published | None:
        """What the next generation of a collection is made from: the live one, else the newest."""
        live = self.live
        return live if live and live.collection == collection else self.newest(collection)

    def collections(self) -> list[str]:
        """Collections that have a complete generation."""
        names = [path.name for path in self._root.glob(f"{self.alias}__*") if path.is_dir()]
        return sorted(name for name in names if self.newest(name))

    def next(self, collection: str) -> Published:
        """The generation to build next; what stands in its way is removed."""
        self.sweep(collection)
        newest = self.newest(collection)
        return Published(collection, f"{PREFIX}{newest.number + 1 if newest else 1}")

    def building(self, generation: Published) -> Path:
        """Where a generation is built until it is complete."""
        folder = self.folder(generation)
        return folder.with_name(folder.name + BUILDING)

    def complete(self, generation: Published) -> None:
        """Give a built generation its name."""
        self.building(generation).replace(self.folder(generation))

    def publish(self, live: Published, previous: Published | None) -> None:
        """Let readers see `live`; remove what neither they nor a rollback can reach any more."""
        fallen = self.previous
        named = {"live": live, "previous": previous}
        text = json.dumps({key: asdict(value) for key, value in named.items() if value}, indent=2)
        _write_atomically(self.pointer, text)
        self.sweep(live.collection)
        kept = {value.collection for value in named.values() if value}
        if fallen is not None and fallen.collection not in kept:
            shutil.rmtree(self._root / fallen.collection, ignore_errors=True)

    def sweep(self, collection: str) -> None:
        """Remove what a killed run left of a collection, and generations that are out of use.

        A collection that readers do not see yet keeps its newest one, which is being filled.
        """
        live, newest = self.live, self.newest(collection)
        in_use = {live, self.previous}
        if live is None or live.collection != collection:
            in_use.add(newest)
        kept = {self.folder(found) for found in in_use if found}
        for path in (self._root / collection).glob(f"{PREFIX}*"):
            if path not in kept:
                shutil.rmtree(path, ignore_errors=True)

    def _complete(self, collection: str) -> Iterator[Published]:
        for path in (self._root / collection).glob(f"{PREFIX}*"):
            if path.name.removeprefix(PREFIX).isdigit():
                yield Published(collection, path.name)

    def _named(self, key: str) -> Published | None:
        try:
            values: Any = json.loads(self.pointer.read_text()).get(key)
        except FileNotFoundError:
            return None
        found = Published(**values) if values else None
        return found if found and self.folder(found).is_dir() else None


def _write_atomically(file: Path, text: str) -> None:
    temporary = file.with_name(file.name + BUILDING)
    with temporary.open("w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(file)

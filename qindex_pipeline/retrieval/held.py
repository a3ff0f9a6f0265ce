"""An index that is held open while others publish: which collection a question goes to.

A question sees one published state from beginning to end, whatever is published meanwhile.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from qindex_pipeline.embedding.embedder import Embedder
from qindex_pipeline.errors import QIndexError, UsageError
from qindex_pipeline.index.engine import Collection, Engine
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.index.points import site_point_id
from qindex_pipeline.profiles import Models, confidence_threshold
from qindex_pipeline.retrieval.opening import index_embedder, open_collection

if TYPE_CHECKING:
    from qindex_pipeline.settings import Settings

_LOG = logging.getLogger(__name__)

REFRESH_SECONDS = 30.0
"""An index is published once a night: looking twice a minute is often enough to be soon. A look
reads one name; only what has another one is opened, which takes up to a second."""


@dataclass(frozen=True)
class Published:
    """One published state of the index, and the embedder that it was built with."""

    collection: Collection
    models: Models
    embedder: Embedder
    sites: frozenset[str]
    thresholds: Mapping[str, float]
    subjects: Mapping[str, str]

    def subject(self, site: str | None) -> str | None:
        """What is asked about: the subject of `site`, or of the only site that there is."""
        keys = [site] if site is not None else list(self.sites)
        return self.subjects.get(keys[0]) if len(keys) == 1 else None


def require_site(index: Published, site: str | None) -> None:
    """Raise UsageError naming the sites of the index when it has no `site`; None means all."""
    if site is not None and site not in index.sites:
        raise UsageError(f"the index has no site {site!r}; it has {', '.join(sorted(index.sites))}")


class HeldIndex:
    """The published state, looked up again when a question comes and the last look is old.

    Threads may ask at once. While one looks, the others go on with what they have.
    """

    def __init__(
        self,
        settings: "Settings",
        refresh_seconds: float = REFRESH_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open nothing yet; the first `current` does."""
        self._settings, self._refresh, self._clock = settings, refresh_seconds, clock
        self._looking = threading.Lock()
        self._engine: Engine | None = None
        self._held: Published | None = None
        self._looked_at = 0.0

    def current(self) -> Published:
        """What is published now, or was at most `refresh_seconds` ago.

        Raises WorkError when nothing was ever published, or was built with another embedder than
        the settings name. Once something is held, trouble with a newer state is logged and the
        held one answers on.
        """
        held = self._held
        if held is not None and self._clock() - self._looked_at < self._refresh:
            return held
        if not self._looking.acquire(blocking=held is None):
            assert held is not None, "a lock that was waited for was acquired"
            return held
        try:
            self._held = self._look(self._held)
            self._looked_at = self._clock()
            return self._held
        finally:
            self._looking.release()

    def close(self) -> None:
        """Release the collection; the next question opens it again."""
        with self._looking:
            if self._held is not None:
                self._held.collection.close()
            self._held = self._engine = None

    def _look(self, held: Published | None) -> Published:
        if held is None or self._engine is None:
            return self._first()
        if self._clock() - self._looked_at < self._refresh:
            return held  # another thread opened it while this one waited
        alias = held.models.collection_name
        try:
            if self._engine.live(alias) == held.collection.state:
                # On a server, points change under one name.
                return self._published(held.collection, held.models, held)
            collection = self._engine.open(alias)
            if collection is not None:
                # The old one is not closed: another thread may be asking it. It is released with
                # its last user.
                return self._published(collection, held.models, held)
            _LOG.warning("%s is gone; the last state answers on", alias)
        except QIndexError as error:
            _LOG.warning("a new state of the index cannot be used, the last answers on: %s", error)
        return held

    def _first(self) -> Published:
        self._engine = open_engine(self._settings)
        return self._published(*open_collection(self._settings, self._engine), None)

    def _published(
        self, collection: Collection, models: Models, before: Published | None
    ) -> Published:
        if before is not None and before.collection.manifest == collection.manifest:
            embedder = before.embedder
        else:
            embedder = index_embedder(collection.manifest, models, self._settings)
        sites = frozenset(collection.sites())
        facts = _site_facts(collection, sites)
        thresholds = {fact["site"]: fact["threshold"] for fact in facts}
        subjects = {fact["site"]: fact["subject"] for fact in facts if fact.get("subject")}
        return Published(collection, models, embedder, sites, thresholds, subjects)


def _site_facts(collection: Collection, sites: Iterable[str]) -> list[Mapping[str, Any]]:
    """What the point of each calibrated site says of it."""
    return list(collection.retrieve([site_point_id(site) for site in sites]).values())


def limits(
    settings: "Settings", index: Published, threshold: float | None = None
) -> Callable[[str | None], float]:
    """The confidence that a result of a site needs, by the site's key.

    What the caller or the settings name, else what the site was calibrated to, else the
    embedder's.
    """
    default = confidence_threshold(settings, index.collection.manifest.fingerprint.embedder)
    if threshold is not None or settings.confidence_threshold is not None:
        named = default if threshold is None else threshold
        return lambda _: named
    return lambda site: index.thresholds.get(site or "", default)

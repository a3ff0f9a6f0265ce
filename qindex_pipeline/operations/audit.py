"""What may have gone wrong between two runs: points that differ, sites that were left behind.

The collection is a projection of the tables; this holds the one against the other. No Dagster
in here, and no lock: whoever calls `audit_site` keeps other runs of the site away.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from qindex_pipeline.cron import Cron
from qindex_pipeline.index.engine import SyncReport
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.profiles import collection_names
from qindex_pipeline.rebuild import projection
from qindex_pipeline.settings import Settings
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import EMBEDDINGS

GRACE = timedelta(hours=6)
"""How long after its time a site may be published: its run may wait for others, and be slow."""


@dataclass(frozen=True)
class Audit:
    """How a site's stored points differed from its tables, and what was written to mend it."""

    points: int
    missing: int = 0
    foreign: int = 0
    stale: int = 0
    repaired: SyncReport | None = None

    @property
    def in_step(self) -> bool:
        """Whether nothing differed."""
        return self.repaired is None

    @property
    def line(self) -> str:
        """One line for people."""
        if self.repaired is None:
            return f"{self.points} points, all as the tables have them"
        return (
            f"of {self.points} points {self.missing} were missing and {self.stale} stale, "
            f"{self.foreign} were foreign; mended: {self.repaired.written} written, "
            f"{self.repaired.deleted} deleted. Who else writes to {self.repaired.collection}?"
        )


def audit_site(settings: Settings, site: str) -> Audit | None:
    """Compare every payload of `site` with its tables, and repair what differs.

    Returns:
        What was found; None when the site has not been embedded yet.

    Raises:
        WorkError: The tables are not those of the index (another release or embedder made them,
            or the evaluation held them), or the engine does not answer.
    """
    store = ParquetStore(settings.data)
    if not store.exists(EMBEDDINGS, site):
        return None
    wanted = projection(settings, store, site)
    engine = open_engine(settings)
    found = engine.verify(wanted.alias, wanted.manifest, site, wanted.points)
    if found.passed:
        return Audit(len(wanted.points))
    return Audit(
        points=len(wanted.points),
        missing=len(found.missing),
        foreign=len(found.foreign),
        stale=len(found.stale),
        repaired=engine.repair(wanted.alias, wanted.manifest, site, wanted.points),
    )


def orphans(settings: Settings, sites: Collection[str]) -> dict[str, int]:
    """Points by site of the sites that questions find and that the sites file does not have.

    Raises WorkError when the engine does not answer.
    """
    engine, found = open_engine(settings), dict[str, int]()
    for alias in sorted(collection_names(settings)):
        collection = engine.open(alias)
        if collection is None:
            continue
        for site, count in collection.sites().items():
            if site not in sites:
                found[site] = found.get(site, 0) + count
        collection.close()
    return found


def overdue(
    crons: Mapping[str, str], published: Mapping[str, datetime], now: datetime
) -> dict[str, datetime]:
    """Sites that were due more than `GRACE` ago and have not been published since.

    A time of the site's own schedule is held against the last publication, so that a site of
    weekdays is not missed on a Sunday, nor one of every hour found fresh the next day.

    Args:
        crons: When each site is refreshed.
        published: When each was last published; a site that never was is left out.
        now: The moment of the question.

    Returns:
        When each of them was due, by site.
    """
    found: dict[str, datetime] = {}
    for site, cron in crons.items():
        due = Cron.parse(cron).last(now - GRACE)
        last = published.get(site)
        if due is not None and (last is None or last < due):
            found[site] = due
    return found

"""Taking a site out of the tables and the index, for good."""

from collections.abc import Callable

from qindex_pipeline.gaps.kept import forget, gap_folder
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.locks import site_lock
from qindex_pipeline.profiles import collection_names
from qindex_pipeline.retrieval.evaluation.gate import evaluation_report
from qindex_pipeline.settings import Settings
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import TABLES


def purge_site(settings: Settings, key: str, say: Callable[[str], None]) -> int:
    """Delete the points and then the tables of a site, under its lock.

    The points go from the collection of every profile that the site may have been built with,
    and from what is kept for a rollback. Answers that were paid for stay in the ledger: the same
    text asked again costs nothing.

    Args:
        settings: Where tables and index are.
        key: The site.
        say: Told when a run of the site has to end first.

    Returns:
        The number of points deleted.
    """
    store = ParquetStore(settings.data)
    with site_lock(settings.state_dir, key, say):
        engine = open_engine(settings)
        deleted = sum(engine.remove(alias, key) for alias in sorted(collection_names(settings)))
        for table in TABLES.values():
            store.delete(table, key)
        evaluation_report(settings.state_dir, key).unlink(missing_ok=True)
        forget(gap_folder(settings.state_dir), key)
    return deleted

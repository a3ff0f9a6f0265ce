"""Taking a site out of the tables and the index, for good."""

from collections.abc import Callable

from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.locks import site_lock
from qindex_pipeline.profiles import resolve_models
from qindex_pipeline.settings import Settings
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import TABLES


def purge_site(settings: Settings, key: str, say: Callable[[str], None]) -> int:
    """Delete the points and then the tables of a site, under its lock.

    Answers that were paid for stay in the ledger: the same text asked again costs nothing.

    Args:
        settings: Where tables and index are.
        key: The site.
        say: Told when a run of the site has to end first.

    Returns:
        The number of points deleted.
    """
    store = ParquetStore(settings.data)
    with site_lock(settings.state_dir, key, say):
        deleted = open_engine(settings).remove(resolve_models(settings).collection_name, key)
        for table in TABLES.values():
            store.delete(table, key)
    return deleted

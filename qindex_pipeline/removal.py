"""Taking a site out of the tables and the index, for good."""

from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.profiles import resolve_models
from qindex_pipeline.settings import Settings
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import TABLES


def purge_site(settings: Settings, key: str) -> int:
    """Delete the points and then the tables of a site; the number of points deleted.

    Answers that were paid for stay in the ledger: the same text asked again costs nothing.
    """
    deleted = open_engine(settings).remove(resolve_models(settings).collection_name, key)
    store = ParquetStore(settings.data)
    for table in TABLES.values():
        store.delete(table, key)
    return deleted

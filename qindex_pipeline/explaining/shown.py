"""A page's chunks with their questions and verdicts, or one chunk with its text."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from qindex_pipeline.errors import UsageError, WorkError
from qindex_pipeline.explaining.gathering.crawled import is_page, nearest, urls_of
from qindex_pipeline.explaining.gathering.known import rows_of_page
from qindex_pipeline.explaining.gathering.records import RecordsOfSites
from qindex_pipeline.explaining.site_chunks import ShownPage, SiteChunks
from qindex_pipeline.index.engine import Collection
from qindex_pipeline.retrieval.opening import open_collection

if TYPE_CHECKING:
    from qindex_pipeline.settings import Settings

_CHUNK_ID = re.compile(r"[0-9a-f]{4,32}")


def show(settings: "Settings", asked: str, site: str | None) -> list[ShownPage]:
    """The page that a URL or a path names, of every site that has it; or the chunk of an id.

    Args:
        settings: Where the tables and the index are.
        asked: A URL or a path, with or without an anchor, or the first digits of a chunk's id.
        site: Only this site; None looks in all.

    Raises:
        UsageError: No such site, page, section or chunk, or the digits begin several ids.
        WorkError: There are neither tables nor an index.
    """
    records = RecordsOfSites(settings)
    collection: Collection | None = None
    trouble: WorkError | None = None
    try:
        collection = open_collection(settings)[0]
    except WorkError as error:
        trouble = error  # the tables alone will do, where there are any
    try:
        indexed = set() if collection is None else set(collection.sites())
        known = sorted(indexed | records.options.keys())
        sites = [
            SiteChunks(key, records.of(key), collection)
            for key in ([site] if site is not None else known)
            if key in indexed or records.of(key).chunks is not None
        ]
        if not sites:
            names = ", ".join(known) or "none"
            raise trouble or UsageError(f"there is no site {site!r}; there are {names}")
        by_id = _chunk(asked, sites) if _CHUNK_ID.fullmatch(asked) else []
        return by_id or _pages(asked, sites, records)
    finally:
        if collection is not None:
            collection.close()


def _chunk(prefix: str, sites: Sequence[SiteChunks]) -> list[ShownPage]:
    found = [
        (site, row) for site in sites for row in site.rows if row["chunk_id"].startswith(prefix)
    ]
    if len(found) > 1:
        ids = ", ".join(row["chunk_id"][: len(prefix) + 4] for _, row in found[:5])
        raise UsageError(f"{prefix} begins {len(found)} chunks: give more digits, as of {ids}")
    return [site.chunk(row) for site, row in found]


def _pages(asked: str, sites: Sequence[SiteChunks], records: RecordsOfSites) -> list[ShownPage]:
    having = [
        site
        for site in sites
        if any(is_page(asked, row["url"]) for row in site.rows)
        or any(is_page(asked, url) for row in site.records.pages or () for url in urls_of(row))
    ]
    if not having:
        raise UsageError(_unknown(asked, sites))
    return [
        site.page(
            asked, records.options.get(site.key), rows_of_page(asked, site.records, site.rows)
        )
        for site in having
    ]


def _unknown(asked: str, sites: Sequence[SiteChunks]) -> str:
    where = ", ".join(site.key for site in sites)
    if _CHUNK_ID.fullmatch(asked):
        return f"no chunk and no page {asked!r} in {where}"
    by_url = {row["url"]: site.key for site in sites for row in site.rows}
    close = nearest(asked, by_url)
    hint = f"; did you mean {close} of {by_url[close]}?" if close else ""
    return f"no page {asked!r} in {where}{hint}"

"""The chunks of a site's pages: from the tables, or without them from the collection."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from qindex_pipeline.errors import UsageError
from qindex_pipeline.explaining.gathering.crawled import is_page, urls_of
from qindex_pipeline.explaining.gathering.depth import DEEP_LIMIT
from qindex_pipeline.explaining.gathering.records import Records, Row
from qindex_pipeline.index.engine import Collection, QueryRequest
from qindex_pipeline.retrieval.legs import QUESTION_KEYS

_KEYS = ("site", "chunk_id", "url", "anchor", "title", "heading_path")


def chunk_rows(records: Records, collection: Collection | None, site: str) -> Sequence[Row]:
    """The chunks of a site in the order of its pages.

    Args:
        records: What the tables know of the site.
        collection: Where the chunks are found that no table names; None where there is none.
        site: Key of the site.

    Returns:
        Rows of the chunks table, or rows of what the collection knows of its chunks: where they
        stand. Of a site with more passages than DEEP_LIMIT some are left out then.
    """
    if records.chunks is not None:
        return records.chunks
    return [] if collection is None else indexed_chunks(collection, site)


def indexed_chunks(collection: Collection, site: str) -> list[dict[str, Any]]:
    """Where the chunks of a site stand that the collection has, ordered by page and anchor."""
    request = QueryRequest(_anywhere(collection), "passage", DEEP_LIMIT, site, _KEYS, exact=True)
    (points,) = collection.query_batch([request])
    # Further windows of a chunk say no more than its id.
    rows = [point.payload for point in points if "url" in point.payload]
    return sorted(rows, key=lambda row: (row["url"], row["anchor"] or "", row["chunk_id"]))


def asked_rows(records: Records, collection: Collection | None, chunk: str) -> Sequence[Row]:
    """The questions of a chunk: rows of the tables, or what the collection knows of them."""
    if records.questions is not None:
        return records.questions.get(chunk, ())
    if collection is None:
        return ()
    request = QueryRequest(
        _anywhere(collection), "question", DEEP_LIMIT, None, QUESTION_KEYS, (chunk,), exact=True
    )
    (points,) = collection.query_batch([request])
    return sorted((point.payload for point in points), key=lambda row: row["question"])


def _anywhere(collection: Collection) -> list[float]:
    """Any vector: it gives all points, when as many are wanted as there are."""
    return [1.0, *[0.0] * (collection.manifest.fingerprint.dimension - 1)]


def rows_of_page(asked: str, records: Records, chunks: Sequence[Row]) -> list[Row]:
    """The chunks of a page, in order; of its section where an anchor is given.

    Args:
        asked: A URL or a path, with or without an anchor.
        records: The tables, which know the addresses that redirect to a page.
        chunks: All chunks of the site.

    Raises:
        UsageError: The page has no such section.
    """
    aliases = {
        url
        for row in records.pages or ()
        if any(is_page(asked, url) for url in urls_of(row))
        for url in urls_of(row)
    }
    page = [row for row in chunks if row["url"] in aliases or is_page(asked, row["url"])]
    anchor = asked.partition("#")[2]
    if not anchor or not page:
        return page
    section = [row for row in page if row["anchor"] == anchor]
    if not section:
        raise UsageError(_no_section(page, anchor))
    return section


def _no_section(page: Sequence[Mapping[str, Any]], anchor: str) -> str:
    known = list(dict.fromkeys(row["anchor"] for row in page if row["anchor"]))
    close = difflib.get_close_matches(anchor, known, n=1)
    hint = f"did you mean #{close[0]}?" if close else f"it has {', '.join(known) or 'none'}"
    return f"{page[0]['url']} has no section #{anchor} with a text of its own: {hint}"

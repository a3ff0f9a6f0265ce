"""The HTML behind the pages, kept beside their table: table page_bodies."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from qindex_pipeline.crawl.last_run import Row
from qindex_pipeline.crawl.pages import Page
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import PAGE_BODIES


class Bodies:
    """The stored HTML of one site, by its hash; read from disk when first asked for."""

    def __init__(self, store: ParquetStore, site: str) -> None:
        """Open the table of `site`; a first run has none."""
        self._store, self._site = store, site

    def get(self, raw_html_hash: str) -> str | None:
        """The HTML with this hash, None when it is not stored."""
        return self._stored.get(raw_html_hash)

    def save(self, pages: Sequence[Page], last: Sequence[Row], new: Mapping[str, str]) -> None:
        """Make the table hold the bodies of these pages; an unchanged one is not written.

        Args:
            pages: Rows of the new raw_pages table, which is written after this one.
            last: Rows of the old one. Their bodies stay for one more night, so that the old
                table stands whole should the new one not be written.
            new: HTML that was fetched in this run, by its hash.
        """
        digests = [page.raw_html_hash for page in pages] + [row["raw_html_hash"] for row in last]
        hashes = {digest for digest in digests if digest is not None}
        if hashes == self._stored.keys():
            return
        bodies = {**self._stored, **new}
        self._store.write(
            PAGE_BODIES,
            self._site,
            [
                {"site": self._site, "raw_html_hash": digest, "html": bodies[digest]}
                for digest in sorted(hashes & bodies.keys())
            ],
        )

    @cached_property
    def _stored(self) -> dict[str, str]:
        if not self._store.exists(PAGE_BODIES, self._site):
            return {}
        rows = self._store.read(PAGE_BODIES, self._site)
        return dict(zip(rows["raw_html_hash"].to_pylist(), rows["html"].to_pylist(), strict=True))

"""What the last run of a site left: its rows, and the HTML behind them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from qindex_pipeline.crawl.result import Known, Validators

Row = Mapping[str, Any]
"""A row of table raw_pages."""


class LastRun:
    """The pages of the last run that have content, by the URL that was asked."""

    def __init__(
        self,
        rows: Sequence[Row] = (),
        html: Callable[[str], str | None] = lambda _: None,
        extractor_version: str = "",
    ) -> None:
        """Take the rows of the table; `html` gives a stored body by its hash."""
        self._rows = {row["url"]: row for row in rows if row["markdown"] is not None}
        self._html, self._version = html, extractor_version

    @property
    def rows(self) -> Sequence[Row]:
        """The rows with content, in the order in which they were asked."""
        return list(self._rows.values())

    def row(self, url: str) -> Row | None:
        """The stored row of a URL, if it has content."""
        return self._rows.get(url)

    def known(self, url: str) -> Known | None:
        """What an engine may use of the stored page."""
        row = self._rows.get(url)
        if row is None:
            return None
        digest = row["raw_html_hash"]
        return Known(
            Validators(row["etag"], row["last_modified"]),
            digest,
            row["extractor_version"] == self._version,
            lambda: self._html(digest) if digest else None,
            row["final_url"],
        )

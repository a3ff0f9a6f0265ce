"""Takes a page's markdown twin in the place of what was extracted from its HTML."""

from dataclasses import replace
from typing import TYPE_CHECKING

from qindex_pipeline.crawl.discovery.twins import TwinFinder, fetch_twin
from qindex_pipeline.crawl.outcomes import FetchOutcome

if TYPE_CHECKING:
    from qindex_pipeline.crawl.extract.extraction import Extraction
    from qindex_pipeline.crawl.fetch.http import Gate, HttpFetcher


class TwinReader:
    """Asks for the twins that a site names; a page without one stays as it is."""

    def __init__(self, fetcher: "HttpFetcher", finder: TwinFinder, gate: "Gate") -> None:
        """Ask with `fetcher` for what `finder` knows and `gate` lets through."""
        self._fetcher, self._finder, self._gate = fetcher, finder, gate

    async def better(self, fetch: FetchOutcome, extraction: "Extraction") -> "Extraction":
        """The extraction with the twin's markdown, which its authors wrote, where there is one.

        Title, links, headings and their anchors stay those of the HTML: a citation leads there.
        """
        url = self._finder.twin_of(fetch.final_url, extraction.head.markdown_url)
        markdown = await fetch_twin(self._fetcher, url, self._gate) if url is not None else None
        if markdown is None:
            return extraction
        return replace(
            extraction,
            markdown=markdown,
            main_markdown=extraction.markdown,
            chosen="twin",
            chosen_reason=f"markdown twin {url}",
            main_words=len(markdown.split()),
        )

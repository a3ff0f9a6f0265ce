"""Stage raw_pages: from a site's address to pages with their main content as markdown.

`crawl(site)` gives one `Page` for every URL that was asked and settles what became of the pages
of the last run; `why_unusable` says in one line why a crawl cannot be used. crawl4ai, aiohttp
and the HTML parsers load when a crawl begins.
"""

from qindex_pipeline.crawl.bodies import Bodies
from qindex_pipeline.crawl.outcomes import Outcome, State
from qindex_pipeline.crawl.pages import Page
from qindex_pipeline.crawl.site import Crawled, CrawlSettings, crawl
from qindex_pipeline.crawl.verdict import why_unusable

__all__ = [
    "Bodies",
    "CrawlSettings",
    "Crawled",
    "Outcome",
    "Page",
    "State",
    "crawl",
    "why_unusable",
]

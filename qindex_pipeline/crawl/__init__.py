"""Stage raw_pages: from a site's address to pages with their main content as markdown.

`crawl(site)` gives one `Page` for every URL that was asked, `why_unusable` says in one line
why they cannot be used. crawl4ai, aiohttp and the HTML parsers load when a crawl begins.
"""

from qindex_pipeline.crawl.last_good import keep_last_good
from qindex_pipeline.crawl.outcomes import Outcome
from qindex_pipeline.crawl.pages import Page
from qindex_pipeline.crawl.site import crawl, crawl_site
from qindex_pipeline.crawl.verdict import why_unusable

__all__ = ["Outcome", "Page", "crawl", "crawl_site", "keep_last_good", "why_unusable"]

"""What a crawl leaves: a row for each requested URL, and the HTML behind it."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from qindex_pipeline.tables.fields import TEXTS, TIME, column, optional
from qindex_pipeline.tables.table import Table

_HEADINGS = pa.list_(
    pa.struct([("level", pa.int8()), ("text", pa.string()), ("anchor", pa.string())])
)
_REDIRECTS = pa.list_(pa.struct([("url", pa.string()), ("status", pa.int16())]))

RAW_PAGES = Table(
    "raw_pages",
    2,
    pa.schema(
        [
            column("site", pa.string(), "site key"),
            column("url", pa.string(), "normalised URL that was requested"),
            optional("final_url", pa.string(), "where the redirects ended"),
            optional("canonical_url", pa.string(), "in-scope rel=canonical, else final_url"),
            column("page_id", pa.string(), "hash of site and canonical URL"),
            optional("parent_url", pa.string(), "the page whose link led here"),
            column("depth", pa.int16(), "links from the start page"),
            column("discovered_by", pa.string(), "start, known, sitemap, llms.txt or link"),
            column("outcome", pa.string(), "ok, not_modified, or why the page was not stored"),
            column("state", pa.string(), "present, gone or unknown"),
            optional("retries", pa.int8(), "requests that were repeated"),
            optional("status", pa.int16(), "HTTP status of the last response"),
            optional("redirect_chain", _REDIRECTS, "redirects on the way, in order"),
            optional("content_type", pa.string(), "media type"),
            optional("charset", pa.string(), "encoding that was used"),
            optional("charset_source", pa.string(), "bom, header, meta, xml, utf8 or fallback"),
            optional("etag", pa.string(), "validator for the next conditional request"),
            optional("last_modified", pa.string(), "validator for the next conditional request"),
            optional("sitemap_lastmod", TIME, "lastmod of the page in the sitemap"),
            optional("response_bytes", pa.int64(), "size of the body"),
            column("elapsed_ms", pa.int32(), "from request to the whole body, in ms"),
            column("fetched_at", TIME, "when the page was requested"),
            optional("fetch_mode", pa.string(), "http or browser"),
            optional("raw_html_hash", pa.string(), "hash of the decoded HTML; key of page_bodies"),
            optional("content_hash", pa.string(), "hash of the chosen markdown"),
            optional("lang", pa.string(), "html lang attribute"),
            optional("title", pa.string(), "page title without the site's suffix"),
            optional("title_raw", pa.string(), "page title as the page has it"),
            optional("h1", pa.string(), "first H1 of the main content, unless the site's name"),
            optional("meta_description", pa.string(), "what the page's head says it is about"),
            optional("meta_robots", pa.string(), "directives of meta robots and X-Robots-Tag"),
            optional("page_summary", pa.string(), "first real paragraph, at most 300 chars"),
            optional("markdown", pa.large_string(), "the chosen markdown"),
            optional("raw_markdown", pa.large_string(), "markdown of the whole page"),
            optional("main_markdown", pa.large_string(), "of the main content, unless chosen"),
            optional("fit_markdown", pa.large_string(), "of the pruned page, unless chosen"),
            optional("chosen", pa.string(), "main, fit, raw or twin"),
            optional("chosen_reason", pa.string(), "why that markdown was chosen"),
            optional("selector", pa.string(), "selector that found the main content"),
            optional("raw_words", pa.int32(), "words of the whole page"),
            optional("main_words", pa.int32(), "words of the chosen content"),
            optional("fit_words", pa.int32(), "words of the pruned page, where computed"),
            optional("nav_ratio", pa.float32(), "raw words / fit words, where computed"),
            optional("link_density", pa.float32(), "share of the content's words in links"),
            optional("code_blocks", pa.int16(), "code blocks of the chosen content"),
            optional("code_blocks_lost", pa.int16(), "code blocks of the page that are not in it"),
            optional("n_links_internal", pa.int32(), "links in scope"),
            optional("n_links_external", pa.int32(), "links out of scope"),
            optional("headings", _HEADINGS, "headings of the main content with their anchors"),
            optional("links", TEXTS, "in-scope links in document order"),
            optional("error", pa.string(), "one line, at most 300 chars"),
            optional("extractor_version", pa.string(), "of the code and options that read it"),
        ]
    ),
)

PAGE_BODIES = Table(
    "page_bodies",
    1,
    pa.schema(
        [
            column("site", pa.string(), "site key"),
            column("raw_html_hash", pa.string(), "hash of the decoded HTML"),
            column("html", pa.large_string(), "the HTML, decoded"),
        ]
    ),
)
"""The HTML behind raw_pages: a new extractor reads it again without a new download."""


def rows_without_texts(raw_pages: pa.Table, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Some columns of raw_pages as rows; the texts, most of the table, stay in Arrow.

    `has_content` stands in their place.
    """
    has_content = raw_pages.column("markdown").is_valid().to_pylist()
    rows = raw_pages.select(list(columns)).to_pylist()
    return [row | {"has_content": has} for row, has in zip(rows, has_content, strict=True)]

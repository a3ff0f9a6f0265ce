"""What can be said about crawling one site: the options below its key in the sites file."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


def _regex(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is not a regular expression: {error}") from None
    return text


Regex = Annotated[str, AfterValidator(_regex)]

DEFAULT_EXCLUDE = (
    r"/(genindex(-\w+)?|py-modindex|search|404)(\.html?)?/?([?]|$)",
    r"/(_modules|_sources|blog/tags)(/|$)",
    r"[?&](print|lang|theme)=",
)
"""Generated indexes, search pages, source listings and variants of a page, as the common
documentation generators name them."""


class CrawlOptions(BaseModel):
    """How a site is crawled; every option has a default that suits most docs sites.

    The limits are those of polite crawlers: two requests in flight, half a second between
    the requests to a public host (none on loopback, where the host is one's own).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_pages: int = Field(default=30, ge=1, description="pages stored at most")
    max_depth: int = Field(default=10, ge=0, description="clicks from the start page, at most")
    path_prefixes: tuple[str, ...] = Field(default=(), description="() = the whole host")
    allowed_hosts: tuple[str, ...] = Field(
        default=(), description="further host[:port] whose pages belong to the site"
    )
    include: tuple[Regex, ...] = Field(
        default=(), description="regular expressions; a page's URL must match one, () = every URL"
    )
    exclude: tuple[Regex, ...] = Field(
        default=DEFAULT_EXCLUDE, description="regular expressions; a URL that matches is left out"
    )
    languages: tuple[str, ...] = Field(
        default=(), description="html lang of the pages to keep (en, pt-br); () = every language"
    )
    sitemap: Literal["auto", "only", "off"] = Field(
        default="auto", description="auto: links and the sitemap; only: the sitemap alone"
    )
    follow_nofollow: bool = Field(default=False, description="follow links marked nofollow")
    prefer_markdown: bool = Field(
        default=False, description="take a page's own markdown twin where the site offers one"
    )
    accept_text: bool = Field(
        default=False, description="store text/plain and text/markdown pages too"
    )

    render: Literal["http", "browser", "auto"] = Field(
        default="http",
        description="auto: over HTTP, and in the browser what only JavaScript fills",
    )
    resource_hosts: tuple[str, ...] = Field(
        default=(), description="hosts from which the browser may load scripts and styles too"
    )
    content_selector: str | None = Field(
        default=None, description="CSS selector of the main content, instead of the cascade"
    )
    drop_selectors: tuple[str, ...] = Field(
        default=(), description="CSS selectors of what is no content"
    )

    concurrency: int = Field(default=2, ge=1, le=16, description="requests in flight")
    min_interval: float | None = Field(
        default=None, ge=0, description="seconds between requests; default 0.5, on loopback 0"
    )
    timeout: float = Field(default=45.0, gt=0, description="seconds a request may take in all")
    retries: int = Field(default=3, ge=0, le=10, description="of what may pass: 429, 5xx, network")
    max_html_bytes: int = Field(
        default=5 * 1024 * 1024, ge=1024, description="of a decoded page; larger ones are left out"
    )

    headers_from_env: Mapping[str, str] = Field(
        default_factory=dict[str, str],
        description="request header: name of the variable that holds its value",
    )
    basic_auth_from_env: str | None = Field(
        default=None, description="name of the variable that holds user:password"
    )
    cookies_from_env: str | None = Field(
        default=None, description="name of the variable that holds a Cookie header (a=1; b=2)"
    )
    verify_tls: bool = Field(
        default=True, description="refuse certificates that nobody vouches for"
    )
    ca_file: Path | None = Field(default=None, description="PEM file of a certificate authority")

    @property
    def request_budget(self) -> int:
        """Requests for pages in one crawl, at most: a site of failures must end too."""
        return 3 * self.max_pages + 50

"""What a crawl asks of an engine, and what the engine hands back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qindex_pipeline.crawl.outcomes import FetchOutcome

if TYPE_CHECKING:
    from qindex_pipeline.crawl.extract.extraction import Extraction


@dataclass(frozen=True)
class Validators:
    """What a server gave with a page to ask later whether it has changed."""

    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True)
class Known:
    """What is stored of a page that is asked again.

    `is_current` says that the code and options which read the stored content are those of now;
    `html` gives the stored HTML, or None when there is none. `final_url` is where it was read.
    """

    validators: Validators
    raw_html_hash: str | None
    is_current: bool
    html: Callable[[], str | None]
    final_url: str | None = None

    def holds_at(self, url: str) -> bool:
        """Whether the stored content is what the same HTML would give at `url` now.

        Links are relative to the address, and so is the page's identity.
        """
        return self.is_current and self.final_url in {None, url}


@dataclass(frozen=True)
class Request:
    """One page that a crawl asks for; `known` when the last run stored it."""

    url: str
    known: Known | None = None


@dataclass(frozen=True)
class Result:
    """A fetch and, when a body arrived and could be read, its extraction and its HTML.

    A fetch that is `not_modified` has neither: what is stored stands.
    """

    fetch: FetchOutcome
    extraction: "Extraction | None" = None
    html: str | None = None

"""What an engine hands to a crawl for one URL."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qindex_pipeline.crawl.outcomes import FetchOutcome

if TYPE_CHECKING:
    from qindex_pipeline.crawl.extraction import Extraction


@dataclass(frozen=True)
class Result:
    """A fetch and, when an HTML body arrived and could be read, its extraction."""

    fetch: FetchOutcome
    extraction: "Extraction | None" = None

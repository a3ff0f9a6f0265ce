"""The gaps of a site, from the log and the tables that lie there: nothing is written."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from qindex_pipeline.errors import UsageError
from qindex_pipeline.gaps.bands import Bands, bands
from qindex_pipeline.gaps.doubts import doubt
from qindex_pipeline.gaps.gap import Gap, GapReport, Unreached
from qindex_pipeline.gaps.grouping import Asked, Window, doubtful_questions, grouped, most_asked
from qindex_pipeline.gaps.vocabulary import Vocabulary
from qindex_pipeline.query_log.folders import open_folder
from qindex_pipeline.query_log.segments import days_before, last_day, read
from qindex_pipeline.retrieval.calibrating import site_confidences
from qindex_pipeline.retrieval.calibration import MIN_QUESTIONS
from qindex_pipeline.settings import Settings
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import CHUNKS, EMBEDDINGS, GROUNDED_QUESTIONS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Row = Mapping[str, Any]
Embed = Callable[[Sequence[str]], "Vectors"]

DAYS = 28
"""Days that a report looks at where nobody says otherwise: four weeks, the same days of each."""


@dataclass(frozen=True)
class Embedding:
    """How texts become vectors.

    Attributes:
        embed: Unit vectors of what users ask; each is made once ever.
        fingerprint: Digest of what makes them comparable.
        confidence: The cosine that counts as alike on a site that was not calibrated.
    """

    embed: Embed
    fingerprint: str
    confidence: float


@dataclass(frozen=True)
class Docs:
    """What is known of a site's docs.

    Attributes:
        vocabulary: What they say.
        levels: What a confidence says on this site, None where it was not calibrated.
        likeness: The average cosine at which two groups of questions ask the same.
    """

    vocabulary: Vocabulary
    levels: Bands | None
    likeness: float


def require_log(settings: Settings) -> str:
    """Where the log is. Raises UsageError where it is off."""
    if settings.query_log is None:
        raise UsageError(
            "nothing is known of what was asked: set QINDEX_QUERY_LOG to a folder or an address, "
            "here and where the index is asked"
        )
    return settings.query_log


def read_asks(
    settings: Settings, site: str, days: int, today: date | None = None
) -> tuple[list[Row], Window | None]:
    """What was asked of a site in the `days` that end with the last day of the log.

    The window hangs on the log and not on the clock: unchanged, it gives the same report.

    Returns:
        The asks in their order, and the window; no window for an empty log.
    """
    folder = open_folder(require_log(settings))
    last = last_day(folder, today or datetime.now(UTC).date())
    if last is None:
        return [], None
    rows = read(folder, days_before(last, days), last)
    return [row for row in rows if row["site"] == site], Window(last, days)


def find_gaps(settings: Settings, site: str, embedding: Embedding, days: int = DAYS) -> GapReport:
    """What the docs of a site do not answer of what was asked.

    Args:
        settings: Where log and tables are.
        site: The site's key; its chunks must have been made.
        embedding: The one that the site was built with.
        days: Length of the window.

    Raises:
        UsageError: The log is off.
        WorkError: The log cannot be read, or the site has no chunks.
    """
    asks, window = read_asks(settings, site, days)
    store = ParquetStore(settings.data)
    chunks = store.read(CHUNKS, site).select(["url", "title", "heading_path", "text", "lang"])
    levels = site_bands(store, site, embedding) if asks else None
    # Two questions ask the same when each would pass as an answer to the other.
    likeness = levels.even if levels else embedding.confidence
    docs = Docs(Vocabulary(chunks.to_pylist()), levels, likeness)
    return gap_report(site, asks, window, docs, embedding.embed)


def gap_report(
    site: str, asks: Sequence[Row], window: Window | None, docs: Docs, embed: Embed
) -> GapReport:
    """The report on what was asked.

    Args:
        site: The site's key.
        asks: Rows of the log in the order of asking, of this site and window.
        window: The days that are looked at, None for an empty log.
        docs: What is known of the docs.
        embed: Unit vectors of what users ask.
    """
    words, titles = docs.vocabulary, docs.vocabulary.titles
    doubtful = doubtful_questions(Asked(row, doubt(row, words, docs.levels)) for row in asks)
    kept = most_asked(doubtful)
    found: dict[bool, list[Gap]] = {}
    for off_topic in (False, True):
        of_kind = [question for question in kept if question.is_off_topic is off_topic]
        found[off_topic] = (
            grouped(of_kind, embed, docs.likeness, window, titles) if window is not None else []
        )
    reached = {page for row in asks for page in (*row["pages"], row["nearest"])}
    return GapReport(
        site=site,
        first_day=window and days_before(window.last_day, window.days),
        last_day=window and window.last_day,
        asks=len(asks),
        doubtful=sum(len(question.asks) for question in kept),
        gaps=tuple(found[False]),
        off_topic=tuple(found[True]),
        pages=len(titles),
        unreached=tuple(
            Unreached(url, title) for url, title in titles.items() if url not in reached
        ),
        left_out=len(doubtful) - len(kept),
        even=docs.levels and docs.levels.even,
    )


def site_bands(store: ParquetStore, site: str, embedding: Embedding) -> Bands | None:
    """What a confidence says on a site; None for one with too few questions to tell.

    Also None where its vectors are of another fingerprint.
    """
    if store.first(EMBEDDINGS, site, "fingerprint") != embedding.fingerprint:
        return None
    columns = ["question_id", "chunk_id", "question", "accepted"]
    questions = store.read(GROUNDED_QUESTIONS, site).select(columns).to_pylist()
    if sum(row["accepted"] for row in questions) < MIN_QUESTIONS:
        return None
    table = store.read(EMBEDDINGS, site).select(["chunk_id", "kind", "vector"])
    rows = table.drop_columns(["vector"]).to_pylist()
    # Not as Python numbers, of which a large site has tens of millions.
    vectors = table.column("vector").combine_chunks().flatten().to_numpy()
    made = vectors.reshape(len(rows), -1)
    embeddings = [{**row, "vector": vector} for row, vector in zip(rows, made, strict=True)]
    return bands(*site_confidences(questions, embeddings, embedding.embed))

"""Evaluating an index: a file of questions in, the outcome of every arm out.

The same work serves a published index, as `qindex eval` asks it, and one that is not published
yet, as a gate asks it.
"""

import logging
from collections.abc import Callable, Sequence
from collections.abc import Collection as Items
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from qindex_pipeline.index.engine import Collection
from qindex_pipeline.retrieval.evaluation.evaluation import (
    Evaluation,
    judge_rows,
    judge_unanswerable,
)
from qindex_pipeline.retrieval.evaluation.rows import (
    EvalRow,
    UnanswerableRow,
    not_indexed,
    read_rows,
    read_unanswerable,
)
from qindex_pipeline.retrieval.evaluation.search import Forms, search
from qindex_pipeline.retrieval.held import HeldIndex, limits, require_site
from qindex_pipeline.retrieval.normalizing.forms import search_forms
from qindex_pipeline.retrieval.normalizing.model import open_normalizer
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import CHUNKS

if TYPE_CHECKING:
    from qindex_pipeline.embedding.embedder import Vectors
    from qindex_pipeline.settings import Settings

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Evaluated:
    """What is evaluated.

    Attributes:
        collection: The index.
        embed_queries: Vectors of queries, by the embedder that it was built with.
        site: The site whose questions are asked.
        urls: The site's indexed pages; None where they are not known, and not compared.
        forms: What is searched for a question; by rules, without a model, where not given.
    """

    collection: Collection
    embed_queries: "Callable[[Sequence[str]], Vectors]"
    site: str
    urls: Items[str] | None = None
    forms: Forms = search_forms


def evaluate(
    index: Evaluated,
    rows: Sequence[EvalRow],
    unanswerable: Sequence[UnanswerableRow],
    threshold: float,
    top_k: int,
) -> Evaluation:
    """Ask all questions in one go and judge every arm.

    Args:
        index: What is evaluated.
        rows: Questions that the site answers.
        unanswerable: Questions that it doesn't; may be none.
        threshold: The confidence below which an answer is refused.
        top_k: Results of an answer.
    """
    asked = [row.question for row in (*rows, *unanswerable)]
    found = search(index.collection, index.embed_queries, asked, index.site, index.forms)
    answerable, foreign = found.split(len(rows))
    return Evaluation(
        site=index.site,
        threshold=threshold,
        rows=judge_rows(rows, answerable, top_k),
        unanswerable=judge_unanswerable(unanswerable, foreign, top_k),
        not_indexed=[] if index.urls is None else not_indexed(rows, index.urls),
    )


def evaluate_published(
    settings: "Settings", site: str, questions: Path, unanswerable: Path | None = None
) -> Evaluation:
    """Evaluate what is published of `site`, asked as `ask` asks it, with the questions of a file.

    Raises:
        UsageError: A file is malformed, or the index has no such site.
        WorkError: There is no index, or one of another fingerprint.
    """
    rows = read_rows(questions)
    foreign = read_unanswerable(unanswerable) if unanswerable is not None else []
    with closing(HeldIndex(settings)) as held:
        index = held.current()
        require_site(index, site)
        threshold = limits(settings, index)(site)
        urls = indexed_urls(ParquetStore(settings.data), site)
        normalize = open_normalizer(settings, index.models.answerer, _LOG.warning)
        evaluated = Evaluated(
            index.collection,
            index.embedder.embed_queries,
            site,
            urls,
            lambda question: search_forms(question, normalize, index.subject(site)),
        )
        return evaluate(evaluated, rows, foreign, threshold, settings.top_k)


def indexed_urls(store: ParquetStore, site: str) -> set[str] | None:
    """The pages of a site that have a chunk in the index; None where its table is elsewhere."""
    if not store.exists(CHUNKS, site):
        return None
    chunks = store.read(CHUNKS, site).select(["url", "duplicate_of"]).to_pylist()
    return {chunk["url"] for chunk in chunks if chunk["duplicate_of"] is None}

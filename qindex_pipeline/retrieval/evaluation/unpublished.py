"""Evaluating a site's tables before they are published, in an index of their own.

The index is embedded whatever engine publishes: both rank alike, and a server would have to hold
a collection that nobody may ask. It holds one site, so BM25 weighs words by this site alone, and
figures may differ a little from those that `qindex eval` finds in a collection of many sites.
"""

import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from qindex_pipeline.index.engine import Manifest
from qindex_pipeline.index.points import Point
from qindex_pipeline.retrieval.evaluation.evaluating import Evaluated, evaluate
from qindex_pipeline.retrieval.evaluation.evaluation import Evaluation
from qindex_pipeline.retrieval.evaluation.site_questions import SiteQuestions
from qindex_pipeline.retrieval.normalizing.forms import search_forms

if TYPE_CHECKING:
    from qindex_pipeline.embedding.embedder import Vectors

_ALIAS = "evaluation"


@dataclass(frozen=True)
class Unpublished:
    """The state of a site that may be published.

    Attributes:
        site: Its key.
        points: Its points.
        manifest: What their collection would say of itself.
        urls: The site's pages that have a point.
        embed_queries: Vectors of queries, by the embedder of the points.
        subject: What the site is about.
    """

    site: str
    points: Sequence[Point]
    manifest: Manifest
    urls: Collection[str]
    embed_queries: "Callable[[Sequence[str]], Vectors]"
    subject: str | None = None


def evaluate_unpublished(
    state: Unpublished, asked: SiteQuestions, threshold: float, top_k: int
) -> Evaluation:
    """Evaluate `state` with a site's questions; the index is gone when this returns.

    Args:
        state: What is evaluated.
        asked: The questions.
        threshold: The confidence below which an answer is refused.
        top_k: Results of an answer.
    """
    from qindex_pipeline.index.edge import EdgeEngine

    with TemporaryDirectory(prefix="qindex-evaluation-") as folder:
        # Without a vector index the ranks are exact, the same every night, and it is not paid for.
        engine = EdgeEngine(Path(folder), optimise_above=sys.maxsize)
        engine.sync(_ALIAS, state.manifest, state.site, state.points)
        collection = engine.open(_ALIAS)
        assert collection is not None, "it was just published"
        with closing(collection):
            forms = partial(search_forms, subject=state.subject)
            index = Evaluated(collection, state.embed_queries, state.site, state.urls, forms)
            return evaluate(index, asked.rows, asked.unanswerable, threshold, top_k)

"""A site of a finished offline index, searched as `ask` searches it."""

from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from qindex_pipeline.retrieval.evaluation.arms import confidence
from qindex_pipeline.retrieval.evaluation.search import Searched, search
from qindex_pipeline.retrieval.held import HeldIndex, Published, limits
from qindex_pipeline.retrieval.normalizing.forms import Normalizer, search_forms
from qindex_pipeline.retrieval.normalizing.normalize import normalize_query
from qindex_pipeline.settings import Settings


@dataclass(frozen=True)
class Index:
    """An open index.

    Attributes:
        published: What is asked.
        site: The site that is asked.
        threshold: The confidence that the site was calibrated to.
        top_k: Results of an answer.
    """

    published: Published
    site: str
    threshold: float
    top_k: int

    def search(self, questions: Sequence[str], normalize: Normalizer = normalize_query) -> Searched:
        """All legs' hits of each question, in the forms that `normalize` gives."""
        return search(
            self.published.collection,
            self.published.embedder.embed_queries,
            questions,
            self.site,
            lambda question: search_forms(question, normalize, self.published.subject(self.site)),
        )

    def confidences(self, found: Searched) -> list[float]:
        """What decides on a refusal: each question's best confidence among its results."""
        return [confidence(hits, self.top_k) for hits in found.hits]


@contextmanager
def opened(data: Path, site: str) -> Generator[Index]:
    """The `site` of the offline index in the data root `data`."""
    settings = Settings(profile="offline", data=str(data))
    with closing(HeldIndex(settings)) as held:
        published = held.current()
        yield Index(published, site, limits(settings, published)(site), settings.top_k)

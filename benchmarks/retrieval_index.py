"""A site of a finished offline index, searched as `ask` searches it."""

import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from qindex_pipeline.index.edge import EdgeEngine
from qindex_pipeline.index.engine import Collection, Manifest
from qindex_pipeline.index.points import build_points
from qindex_pipeline.retrieval.evaluation.arms import confidence
from qindex_pipeline.retrieval.evaluation.search import Searched, search
from qindex_pipeline.retrieval.held import HeldIndex, Published, limits
from qindex_pipeline.retrieval.normalizing.forms import Normalizer, search_forms
from qindex_pipeline.retrieval.normalizing.normalize import normalize_query
from qindex_pipeline.settings import Settings
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import CHUNKS, EMBEDDINGS

Row = Mapping[str, Any]


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


@contextmanager
def without_questions(index: Index, data: Path) -> Generator[Index]:
    """The same site in an index that no question was written for, while the context lasts."""
    store = ParquetStore(str(data))
    chunks, rows = (store.read(table, index.site).to_pylist() for table in (CHUNKS, EMBEDDINGS))
    manifest = index.published.collection.manifest
    with passages_only(manifest, index.site, chunks, rows) as collection:
        yield replace(index, published=replace(index.published, collection=collection))


@contextmanager
def passages_only(
    manifest: Manifest, site: str, chunks: Sequence[Row], embeddings: Sequence[Row]
) -> Generator[Collection]:
    """The passages of a site without its questions: neither their vectors nor their words.

    Args:
        manifest: What the collection says of itself.
        site: Its key.
        chunks: Rows of the chunks table.
        embeddings: Rows of the embeddings table; those of questions are left out.
    """
    passages = [row for row in embeddings if row["kind"] == "passage"]
    with TemporaryDirectory(prefix="qindex-passages-") as folder:
        # Without a vector index the ranks are exact.
        engine = EdgeEngine(Path(folder), optimise_above=sys.maxsize)
        engine.sync("passages", manifest, site, build_points(chunks, [], passages))
        collection = engine.open("passages")
        assert collection is not None, "it was just published"
        with closing(collection):
            yield collection

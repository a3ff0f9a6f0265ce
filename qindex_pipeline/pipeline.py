"""What a run works with: settings, sites, and the stages' tools, each opened when first used."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from qindex_pipeline.crawl import CrawlSettings
from qindex_pipeline.embedding.cache import VectorCache
from qindex_pipeline.embedding.embedder import Embedder
from qindex_pipeline.embedding.fingerprint import Fingerprint, fingerprint
from qindex_pipeline.embedding.opening import open_embedder
from qindex_pipeline.errors import UsageError
from qindex_pipeline.ids import content_hash
from qindex_pipeline.index.engine import SCHEMA_VERSION, Engine, Manifest
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.index.sparse import SPARSE_MODEL
from qindex_pipeline.profiles import Models, resolve_models
from qindex_pipeline.progress import Progress, silent
from qindex_pipeline.questions.generator import Generator
from qindex_pipeline.questions.ledger import Ledger
from qindex_pipeline.questions.opening import open_generator
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import Site
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import EMBEDDINGS, RAW_PAGES

if TYPE_CHECKING:
    from qindex_pipeline.embedding.embedder import Vectors


@dataclass
class Pipeline:
    """The tools of one run; models are chosen when a stage first needs one, never at import."""

    settings: Settings
    sites: Mapping[str, Site]
    progress: Progress = silent

    @cached_property
    def models(self) -> Models:
        """Which models this run uses, and why."""
        return resolve_models(self.settings)

    @cached_property
    def store(self) -> ParquetStore:
        """The Parquet tables."""
        return ParquetStore(self.settings.data)

    @cached_property
    def generator(self) -> Generator:
        """Who proposes questions."""
        return open_generator(self.models.generator, self.settings)

    @cached_property
    def ledger(self) -> Ledger:
        """Every answer that was paid for."""
        return Ledger(self.settings.state_dir / "ledger")

    @cached_property
    def embedder(self) -> Embedder:
        """Who makes vectors."""
        return open_embedder(self.models.embedder, self.settings, self.models.embed_dim)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """What makes this run's vectors comparable."""
        return fingerprint(self.embedder, SPARSE_MODEL)

    @cached_property
    def vector_cache(self) -> VectorCache:
        """Every vector that was made."""
        return VectorCache(self.settings.state_dir / "vectors.sqlite")

    @cached_property
    def engine(self) -> Engine:
        """Where the collection lives."""
        return open_engine(self.settings)

    def query_vectors(self, texts: Sequence[str]) -> "Vectors":
        """Unit vectors of what users ask; like any text, each is embedded once ever."""
        import numpy as np

        keys = [content_hash("query", text) for text in texts]
        found, _ = self.vector_cache.embed(
            self.fingerprint.digest,
            dict(zip(keys, texts, strict=True)),
            self.embedder.embed_queries,
            lambda done, total: self.progress("calibration", done, total, "questions"),
        )
        return np.array([found[key] for key in keys], dtype=np.float32)

    @property
    def crawl_settings(self) -> CrawlSettings:
        """What holds for the crawl of every site."""
        return CrawlSettings(self.settings.chromium, self.settings.suspect_share)

    @property
    def manifest(self) -> Manifest:
        """What this run's collection says of itself."""
        return Manifest(SCHEMA_VERSION, self.fingerprint)

    def last_pages(self, site: str) -> list[dict[str, Any]]:
        """Rows of the raw_pages table of the last run; [] on the first."""
        if not self.store.exists(RAW_PAGES, site):
            return []
        return self.store.read(RAW_PAGES, site).to_pylist()

    def preflight(self, site: str) -> None:
        """Find what is wrong with the models before a run of `site` costs anything.

        `auto` may pick another embedder than the one that the site was built with (a key was
        set since); a profile or an embedder that is named is taken as the wish to rebuild.

        Raises:
            UsageError: Unknown model, missing key, wrong EMBED_DIM, or a pick that differs.
        """
        built = None if self.models.named else self.store.first(EMBEDDINGS, site, "embedder")
        if built is not None and built != self.models.embedder:
            raise UsageError(
                f"site {site!r} was built with {built}, but QINDEX_PROFILE=auto now picks "
                f"{self.models.profile} ({self.models.reason}), which uses "
                f"{self.models.embedder}: name the profile that you mean"
            )
        _ = self.generator, self.embedder

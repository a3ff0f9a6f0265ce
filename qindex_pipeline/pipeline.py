"""What a run works with: settings, sites, and the stages' tools, each opened when first used."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

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
from qindex_pipeline.object_store import Objects
from qindex_pipeline.profiles import Models, resolve_models
from qindex_pipeline.progress import Progress, silent
from qindex_pipeline.questions.asking.budget import check_cap
from qindex_pipeline.questions.asking.ledger import Ledger
from qindex_pipeline.questions.asking.prices import Prices
from qindex_pipeline.questions.generators.generator import Generator
from qindex_pipeline.questions.generators.opening import open_generator
from qindex_pipeline.questions.human import load_human
from qindex_pipeline.retrieval.evaluation.site_questions import read_site_questions
from qindex_pipeline.retrieval.normalizing.subject import subject_of
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
    site: str | None = None

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
        folder = self.settings.state_dir / "ledger"
        return Ledger(folder, self.progress.warn, self._durable("ledger"))

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
        file = self.settings.state_dir / "vectors.sqlite"
        return VectorCache(file, self._durable("vectors"), self.site or "")

    def _durable(self, name: str) -> Objects | None:
        """Where state is kept that was paid for, when the state folder is another disk's."""
        if not self.settings.is_on_object_store:
            return None
        return Objects.under(self.settings.data, f"state/{name}")

    @cached_property
    def engine(self) -> Engine:
        """Where the collection lives."""
        return open_engine(self.settings)

    def query_vectors(self, texts: Sequence[str], stage: str = "calibration") -> "Vectors":
        """Unit vectors of what users ask; like any text, each is embedded once ever.

        Args:
            texts: What is asked.
            stage: Whose questions they are, for the progress.
        """
        import numpy as np

        keys = [content_hash("query", text) for text in texts]
        found, _ = self.vector_cache.embed(
            self.fingerprint.digest,
            dict(zip(keys, texts, strict=True)),
            self.embedder.embed_queries,
            lambda done, total: self.progress(stage, done, total, "questions"),
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

    def subject(self, site: Site) -> str | None:
        """What `site` documents: its option, else what its start or root page is titled."""
        if site.subject is not None:
            return site.subject
        if not self.store.exists(RAW_PAGES, site.key):
            return None
        # Not the pages' texts: they are most of the table.
        columns = ["url", "depth", "title", "title_raw"]
        pages = self.store.read(RAW_PAGES, site.key).select(columns).to_pylist()
        starts = [page for page in pages if page["depth"] == 0]
        roots = [page for page in pages if not urlsplit(page["url"]).path.strip("/")]
        titles = [page["title_raw"] or page["title"] or "" for page in (*starts, *roots)]
        return next((name for title in titles if (name := subject_of(title))), None)

    def last_pages(self, site: str) -> list[dict[str, Any]]:
        """Rows of the raw_pages table of the last run; [] on the first."""
        if not self.store.exists(RAW_PAGES, site):
            return []
        return self.store.read(RAW_PAGES, site).to_pylist()

    def preflight(self, site: str) -> None:
        """Find what is wrong with models and question files before a run costs anything.

        `auto` may pick another embedder than the one that the site was built with (a key was
        set since); a profile or an embedder that is named is taken as the wish to rebuild.

        Raises:
            UsageError: Unknown model, missing key, wrong EMBED_DIM, a pick that differs,
                malformed prices, a cap on the costs of a model without a price, or a question
                file of the site that is missing or malformed.
        """
        if site in self.sites:
            read_site_questions(self.sites[site])
        load_human(self.settings.questions, site)
        built = None if self.models.named else self.store.first(EMBEDDINGS, site, "embedder")
        if built is not None and built != self.models.embedder:
            raise UsageError(
                f"site {site!r} was built with {built}, but QINDEX_PROFILE=auto now picks "
                f"{self.models.profile} ({self.models.reason}), which uses "
                f"{self.models.embedder}: name the profile that you mean"
            )
        _ = self.embedder
        prices = Prices.from_settings(self.settings)
        check_cap(self.generator.spec, prices, self.settings.max_cost_usd)

"""The collection from the tables again, and readers back on what they saw before.

The tables are the truth: chunks, grounded_questions and embeddings make every point, without a
call to a language model and without an embedding.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from qindex_pipeline.embedding.fingerprint import fingerprint
from qindex_pipeline.embedding.opening import open_embedder
from qindex_pipeline.errors import WorkError
from qindex_pipeline.index.engine import SCHEMA_VERSION, Manifest, Rollback, SyncReport
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.index.points import Point, build_points
from qindex_pipeline.index.sparse import SPARSE_MODEL
from qindex_pipeline.locks import site_lock
from qindex_pipeline.profiles import PROFILES, Models, models_of, resolve_models
from qindex_pipeline.retrieval.evaluation.gate import not_accepted
from qindex_pipeline.retrieval.opening import open_collection
from qindex_pipeline.settings import Settings
from qindex_pipeline.sites import load_sites, require_known
from qindex_pipeline.store import ParquetStore
from qindex_pipeline.tables import (
    CALIBRATIONS,
    CHUNKS,
    EMBEDDINGS,
    EVALUATION,
    GROUNDED_QUESTIONS,
    to_rows,
)

Say = Callable[[str], None]


@dataclass(frozen=True)
class Projection:
    """What the collection must hold of a site, and which collection."""

    alias: str
    manifest: Manifest
    points: list[Point]


@dataclass(frozen=True)
class Rebuilt:
    """What was written to make the collection hold a site's tables."""

    site: str
    report: SyncReport

    @property
    def line(self) -> str:
        """One line for people."""
        done = self.report
        text = (
            f"{self.site}: {done.written} points written, {done.unchanged} unchanged, "
            f"{done.deleted} deleted, {done.count} now in {done.collection}"
        )
        if not done.live:
            text += f"; readers see it once it also holds {', '.join(done.waiting_for)}"
        return text


def rebuild(settings: Settings, site: str | None, say: Say) -> Iterator[Rebuilt]:
    """Make the collection equal to the tables of one site, or of all; each under its lock.

    Every stored payload is compared, so that what somebody else changed is mended too.

    Args:
        settings: Where tables and index are.
        site: A site's key; None means every site that has been embedded.
        say: Told when a run of a site has to end first.

    Raises:
        UsageError: The site is unknown.
        WorkError: There are no tables, an earlier release or another embedder made them, or they
            have not passed the site's evaluation.
    """
    store = ParquetStore(settings.data)
    for key in _sites(settings, store, site):
        with site_lock(settings.state_dir, key, say):
            wanted = projection(settings, store, key)
            report = open_engine(settings).repair(wanted.alias, wanted.manifest, key, wanted.points)
        yield Rebuilt(key, report)


def rollback(settings: Settings, say: Say) -> Rollback:
    """Let readers see what was live before; no run of any site goes on meanwhile.

    Raises WorkError when nothing was kept.
    """
    with ExitStack() as locks:
        for key in sorted(load_sites(settings.sites)):  # in one order: two of these never wait
            locks.enter_context(site_lock(settings.state_dir, key, say))  # for each other
        return open_engine(settings).rollback(_published_alias(settings))


def projection(settings: Settings, store: ParquetStore, site: str) -> Projection:
    """What the tables of `site` stand for. Raises WorkError where they are not the index's."""
    models, manifest = _made_with(settings, store, site)
    _refuse_held(settings, store, site)
    return Projection(models.collection_name, manifest, table_points(store, site))


def table_points(store: ParquetStore, site: str) -> list[Point]:
    """The points that the tables of a site stand for."""
    chunks, questions, embeddings = (
        to_rows(table, store.read(table, site))
        for table in (CHUNKS, GROUNDED_QUESTIONS, EMBEDDINGS)
    )
    calibrated = store.exists(CALIBRATIONS, site)
    calibrations = to_rows(CALIBRATIONS, store.read(CALIBRATIONS, site)) if calibrated else []
    return build_points(chunks, questions, embeddings, calibrations)


def _sites(settings: Settings, store: ParquetStore, site: str | None) -> Sequence[str]:
    known = load_sites(settings.sites)
    if site is not None:
        if not store.exists(EMBEDDINGS, site):
            require_known(settings.sites, known, site)
        return [site]
    embedded = [key for key in known if store.exists(EMBEDDINGS, key)]
    if not embedded:
        raise WorkError(
            f"no site of {settings.sites} has tables in {settings.data} to rebuild from: "
            "run `qindex ingest`"
        )
    return embedded


def _refuse_held(settings: Settings, store: ParquetStore, site: str) -> None:
    """Raise WorkError when the tables of a site are those of a run that its evaluation held."""
    known = load_sites(settings.sites).get(site)
    if known is None or known.eval_questions is None:
        return
    accepted = store.read(EVALUATION, site).to_pylist() if store.exists(EVALUATION, site) else []
    columns = ["point_id", "text_hash", "fingerprint"]
    embeddings = store.read(EMBEDDINGS, site).select(columns).to_pylist()
    problem = not_accepted(known, accepted, embeddings)
    if problem is not None:
        raise WorkError(problem)


def _made_with(settings: Settings, store: ParquetStore, site: str) -> tuple[Models, Manifest]:
    """The models that made a site's vectors, and what their collection says of itself."""
    built = store.first(EMBEDDINGS, site, "embedder")
    models = _models(settings, site, built)
    vector = store.first(EMBEDDINGS, site, "vector")
    dimension = None if vector is None else len(vector)
    made = fingerprint(open_embedder(models.embedder, settings, dimension), SPARSE_MODEL)
    digest = store.first(EMBEDDINGS, site, "fingerprint")
    if digest not in {None, made.digest}:
        raise WorkError(
            f"the vectors of site {site!r} have fingerprint {digest}, this release makes "
            f"{made.digest}: run `qindex ingest` for it"
        )
    return models, Manifest(SCHEMA_VERSION, made)


def _models(settings: Settings, site: str, built: str | None) -> Models:
    """The settings' models; where `auto` picks others, those of the profile that built the site."""
    models = resolve_models(settings)
    if built in {None, models.embedder}:
        return models
    if not models.named:
        for profile in PROFILES.values():
            other = models_of(profile, "the tables were built with it", settings)
            if other.embedder == built:
                return other
    raise WorkError(
        f"site {site!r} was embedded with {built}, the settings name {models.embedder}: set "
        f"QINDEX_EMBEDDER={built}, or run `qindex ingest` for it"
    )


def _published_alias(settings: Settings) -> str:
    """The alias that questions go to; the settings' where what it names cannot be opened."""
    try:
        collection, models = open_collection(settings)
    except WorkError:
        return resolve_models(settings).collection_name
    collection.close()
    return models.collection_name

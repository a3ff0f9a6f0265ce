"""Finding the collection that questions go to, and the embedder that it was built with."""

from typing import TYPE_CHECKING

from qindex_pipeline.embedding.embedder import Embedder
from qindex_pipeline.embedding.fingerprint import fingerprint
from qindex_pipeline.embedding.opening import open_embedder
from qindex_pipeline.errors import WorkError
from qindex_pipeline.index.engine import SCHEMA_VERSION, Collection, Engine, Manifest
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.index.sparse import SPARSE_MODEL
from qindex_pipeline.profiles import PROFILES, Models, models_of, resolve_models

if TYPE_CHECKING:
    from qindex_pipeline.settings import Settings


def open_collection(
    settings: "Settings", engine: Engine | None = None
) -> tuple[Collection, Models]:
    """The collection to ask, through `engine` where given, and the models it is asked with.

    Where `auto` decides and its pick has no index, an index that another profile built is used.
    Raises WorkError when nothing was built yet.
    """
    models = resolve_models(settings)
    engine = engine or open_engine(settings)
    choices = [models]
    if settings.profile == "auto" and settings.collection_name is None:
        others = (profile for name, profile in PROFILES.items() if name != models.profile)
        choices += [models_of(other, "the index was built with it", settings) for other in others]
    for choice in choices:
        collection = engine.open(choice.collection_name)
        if collection is not None:
            return collection, choice
    raise WorkError(
        f"there is no index {models.collection_name!r} yet: build it with `qindex ingest URL`"
    )


def index_embedder(manifest: Manifest, models: Models, settings: "Settings") -> Embedder:
    """The embedder that the index was built with.

    Raises WorkError when the settings name another one, or this release prepares texts
    differently; the text says what differs.
    """
    built = manifest.fingerprint
    if manifest.schema_version != SCHEMA_VERSION:
        raise WorkError(
            f"the index has layout {manifest.schema_version}, this release reads {SCHEMA_VERSION}: "
            "run `qindex ingest` for its sites again"
        )
    if models.named and models.embedder != built.embedder:
        raise WorkError(
            f"the index {models.collection_name} was built with {built.embedder}, the settings "
            f"name {models.embedder}: unset QINDEX_EMBEDDER or QINDEX_PROFILE, or ingest again"
        )
    embedder = open_embedder(built.embedder, settings, settings.embed_dim or built.dimension)
    now = fingerprint(embedder, SPARSE_MODEL)
    if now != built:
        differing = [name for name in vars(now) if getattr(now, name) != getattr(built, name)]
        raise WorkError(
            f"the index {models.collection_name} has another fingerprint ({', '.join(differing)} "
            "differ): run `qindex ingest` for its sites again"
        )
    return embedder

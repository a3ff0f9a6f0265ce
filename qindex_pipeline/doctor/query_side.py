"""What asking needs: the state folder, the embedder, the answerer, and an index."""

import os
from collections.abc import Iterator

from qindex_pipeline.doctor.finding import Finding, looked_at
from qindex_pipeline.embedding.opening import open_embedder
from qindex_pipeline.errors import UsageError
from qindex_pipeline.index.opening import open_engine
from qindex_pipeline.profiles import Models
from qindex_pipeline.retrieval.answering.opening import open_answerer
from qindex_pipeline.settings import Settings


def looked_at_query_side(settings: Settings, models: Models) -> Iterator[Finding]:
    """What stands in the way of a question."""
    return looked_at(
        {
            "state folder": lambda: _state(settings),
            "embedder": lambda: _embedder(settings, models),
            "answerer": lambda: _answerer(settings, models),
            "index": lambda: _index(settings, models),
        }
    )


def _state(settings: Settings) -> str:
    settings.state_dir.mkdir(parents=True, exist_ok=True)
    if not os.access(settings.state_dir, os.W_OK):
        raise UsageError(f"{settings.state_dir} cannot be written: set QINDEX_STATE")
    return f"{settings.state_dir} can be written"


def _embedder(settings: Settings, models: Models) -> str:
    embedder = open_embedder(models.embedder, settings, models.embed_dim)
    dimension = embedder.embed(["How do I know that it works?"]).shape[1]
    return f"{embedder.spec} gives vectors of {dimension}"


def _answerer(settings: Settings, models: Models) -> str:
    open_answerer(models.answerer, settings)
    return models.answerer


def _index(settings: Settings, models: Models) -> str:
    where = settings.qdrant_url or f"embedded in {settings.state_dir / 'index'}"
    collection = open_engine(settings).open(models.collection_name)
    if collection is None:
        return f"{models.collection_name} ({where}): not built yet, `qindex ingest URL` builds it"
    sites = ", ".join(f"{site} ({count} points)" for site, count in collection.sites().items())
    collection.close()
    return f"{models.collection_name} ({where}): {sites}"

"""How a collection is created on a server: vectors, payload indexes, and what a cluster adds."""

from dataclasses import asdict, dataclass
from typing import Any

from qdrant_client import QdrantClient, models

from qindex_pipeline.index.engine import (
    DENSE,
    PAYLOAD_INDEXES,
    SITES_LISTED,
    SPARSE,
    Manifest,
)
from qindex_pipeline.index.server_calls import SERVER_ERRORS, Retry, is_conflict
from qindex_pipeline.settings import Settings

OVERSAMPLING = 2.0
"""Candidates that int8 vectors preselect for each hit, before the whole vectors score them."""

WHOLE = "qindex_site/"
"""Metadata keys `qindex_site/<key>`: true once a publication of that site ended."""

INT8 = models.ScalarQuantization(
    scalar=models.ScalarQuantizationConfig(
        # The rarest 1 % of values would stretch the scale that all others are rounded on.
        type=models.ScalarType.INT8,
        quantile=0.99,
        always_ram=True,
    )
)

STRICT = models.StrictModeConfig(
    enabled=True,
    # A filter without a payload index reads every point.
    unindexed_filtering_retrieve=False,
    unindexed_filtering_update=False,
    # Qdrant holds scroll and facet against it too: our list of sites is the largest reading.
    max_query_limit=SITES_LISTED,
    upsert_max_batchsize=1000,
    search_max_hnsw_ef=512,
    search_max_oversampling=2 * OVERSAMPLING,
)


@dataclass(frozen=True)
class ServerOptions:
    """What a new collection gets beside its vectors; None leaves the server's default."""

    strict_mode: bool = False
    int8: bool = False
    replication_factor: int | None = None
    shard_number: int | None = None

    @classmethod
    def from_settings(cls, settings: Settings) -> "ServerOptions":
        """The options that the settings name."""
        return cls(
            strict_mode=settings.qdrant_strict_mode,
            int8=settings.qdrant_quantization == "int8",
            replication_factor=settings.qdrant_replication_factor,
            shard_number=settings.qdrant_shard_number,
        )


def ensure_collection(
    client: QdrantClient, retry: Retry, name: str, manifest: Manifest, options: ServerOptions
) -> set[str]:
    """Create the collection and its payload indexes where they are not there, before any data.

    Returns:
        The sites that it holds as a whole.
    """
    if not retry(client.collection_exists, name):
        try:
            _create(client, name, manifest, options)
        except SERVER_ERRORS as error:
            if not is_conflict(error):
                raise
    info = retry(client.get_collection, name)
    for key in PAYLOAD_INDEXES:
        if key not in info.payload_schema:
            schema = models.KeywordIndexParams(
                type=models.KeywordIndexType.KEYWORD, is_tenant=key == "site"
            )
            retry(client.create_payload_index, name, key, field_schema=schema, wait=True)
    return whole_sites(info)


def _create(client: QdrantClient, name: str, manifest: Manifest, options: ServerOptions) -> None:
    size = manifest.fingerprint.dimension
    client.create_collection(
        name,
        vectors_config={DENSE: models.VectorParams(size=size, distance=models.Distance.COSINE)},
        sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
        quantization_config=INT8 if options.int8 else None,
        strict_mode_config=STRICT if options.strict_mode else None,
        replication_factor=options.replication_factor,
        shard_number=options.shard_number,
        metadata={"qindex": asdict(manifest)},
    )


def whole_sites(info: models.CollectionInfo) -> set[str]:
    """Sites whose last publication ended: what a killed one left of a site does not count."""
    metadata = info.config.metadata or {}
    return {
        key.removeprefix(WHOLE)
        for key, whole in metadata.items()
        if whole and key.startswith(WHOLE)
    }


def mark_site(client: QdrantClient, retry: Retry, name: str, site: str, *, whole: bool) -> None:
    """Note in the collection's metadata whether it holds `site` as a whole."""
    # Qdrant merges the metadata key by key, so that runs of two sites do not undo each other.
    retry(client.update_collection, name, metadata={WHOLE + site: whole})


def search_params(info: models.CollectionInfo) -> models.SearchParams | None:
    """How to search a collection: with int8 vectors, rescored, as thresholds need true cosines."""
    if info.config.quantization_config is None:
        return None
    quantization = models.QuantizationSearchParams(rescore=True, oversampling=OVERSAMPLING)
    return models.SearchParams(quantization=quantization)


def matching(**values: str | tuple[str, ...] | None) -> models.Filter:
    """A filter on payload keys, by a value or by any of several; without one it does not filter."""
    conditions: list[Any] = [
        models.FieldCondition(
            key=key,
            match=models.MatchValue(value=value)
            if isinstance(value, str)
            else models.MatchAny(any=list(value)),
        )
        for key, value in values.items()
        if value
    ]
    return models.Filter(must=conditions)

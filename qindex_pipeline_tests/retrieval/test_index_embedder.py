"""Questions are embedded with the embedder that the index was built with, or not at all."""

import pytest

from qindex_pipeline.embedding.fingerprint import TEXT_PREPARATION, fingerprint
from qindex_pipeline.embedding.opening import open_embedder
from qindex_pipeline.errors import WorkError
from qindex_pipeline.index.engine import SCHEMA_VERSION, Manifest
from qindex_pipeline.index.sparse import SPARSE_MODEL
from qindex_pipeline.profiles import resolve_models
from qindex_pipeline.retrieval.opening import index_embedder
from qindex_pipeline_tests.conftest import CLOSED, MakeSettings

SMALL = "openai:text-embedding-3-small"
SERVER = {"QINDEX_OPENAI_BASE_URL": f"{CLOSED}/v1", "OPENAI_API_KEY": "key"}


def built_with(spec: str, dimension: int, settings: MakeSettings) -> Manifest:
    embedder = open_embedder(spec, settings(**SERVER), dimension)
    return Manifest(SCHEMA_VERSION, fingerprint(embedder, SPARSE_MODEL))


def test_the_dimension_that_the_index_was_built_with_needs_no_setting(
    settings: MakeSettings,
) -> None:
    asking = settings(QINDEX_EMBEDDER=SMALL, QINDEX_PROFILE="offline", **SERVER)
    manifest = built_with(SMALL, 512, settings)
    assert index_embedder(manifest, resolve_models(asking), asking).dimension == 512


def test_another_dimension_than_the_indexs_is_refused(settings: MakeSettings) -> None:
    asking = settings(
        QINDEX_EMBEDDER=SMALL, QINDEX_PROFILE="offline", QINDEX_EMBED_DIM="256", **SERVER
    )
    manifest = built_with(SMALL, 512, settings)
    with pytest.raises(WorkError, match=r"another fingerprint \(dimension differ\)"):
        index_embedder(manifest, resolve_models(asking), asking)


def test_an_index_whose_documents_had_no_prefix_is_refused(settings: MakeSettings) -> None:
    asking = settings(QINDEX_PROFILE="local")
    made = fingerprint(open_embedder("ollama:nomic-embed-text", asking, 768), SPARSE_MODEL)
    before = type(made)(**(vars(made) | {"text_preparation": TEXT_PREPARATION}))
    with pytest.raises(WorkError, match=r"another fingerprint \(text_preparation differ\)"):
        index_embedder(Manifest(SCHEMA_VERSION, before), resolve_models(asking), asking)

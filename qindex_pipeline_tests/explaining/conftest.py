"""Settings of a small index, embedded or on a server, with a model server that is not there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from qindex_pipeline.settings import Settings
from qindex_pipeline_tests.conftest import MakeSettings
from qindex_pipeline_tests.explaining.lantern import ALIAS
from qindex_pipeline_tests.fakes.ollama_server import OllamaServer
from qindex_pipeline_tests.fakes.qdrant_server import QdrantServer


@pytest.fixture(params=["edge"])
def settings_of(
    request: pytest.FixtureRequest, settings: MakeSettings, tmp_path: Path
) -> Iterator[Settings]:
    """The embedded engine, or a server where a test asks for it; one result, threshold 0.5."""
    with OllamaServer() as ollama, QdrantServer() as qdrant:
        yield settings(
            QINDEX_PROFILE="local",
            QINDEX_SITES=tmp_path / "sites.yaml",
            QINDEX_OLLAMA_URL=ollama.url,
            QINDEX_COLLECTION_NAME=ALIAS,
            QINDEX_CONFIDENCE_THRESHOLD=0.5,
            QINDEX_TOP_K=1,
            **({"QDRANT_URL": qdrant.url} if request.param == "server" else {}),
        )

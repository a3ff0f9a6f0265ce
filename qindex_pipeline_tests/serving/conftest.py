"""An index for the tests of a module."""

from collections.abc import Iterator

import pytest

from qindex_pipeline_tests.serving.lantern import BEACON, FOG, OIL, WICK, Lantern, lantern


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lantern]:
    """Two sites, docs and fog, of a few sections."""
    with lantern(tmp_path_factory.mktemp("lantern")) as made:
        made.publish("docs", WICK, OIL, BEACON)
        made.publish("fog", FOG)
        yield made
